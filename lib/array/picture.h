/* array/picture.h - the blocks of an array, drawn with characters. */
#ifndef ARRAY_PICTURE_H
#define ARRAY_PICTURE_H

#include <stdio.h>

#include "core/blocks.h"

enum { PICTURE_WIDTH = 80 };

/* Where to draw, and what can be shown there. */
struct pen {
    FILE *stream;
    bool unicode; /* box-drawing characters */
    bool colour;
};

/* What the environment says of a stream: characters by LC_ALL, LC_CTYPE or LANG, colours for a
 * terminal without NO_COLOR. */
struct pen spmd__pen_for(FILE *stream);

/* Draws in at most PICTURE_WIDTH columns: for each range of the leading dimensions a grid of the
 * last two, each block in its place with the ranks that hold it. What does not fit is elided.
 * The array has elements. */
void spmd__picture_draw(struct pen pen, const struct blocks *blocks);

/* Draws two, side by side under their titles if they fit, else below each other. Fails with
 * SPMD_ERR_MEMORY. */
spmd_status spmd__picture_draw_two(struct pen pen, const struct blocks *from,
                                   const char *from_title, const struct blocks *to,
                                   const char *to_title);

#endif
