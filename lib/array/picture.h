/* array/picture.h - the blocks of an array, drawn with characters. */
#ifndef ARRAY_PICTURE_H
#define ARRAY_PICTURE_H

#include "array/pen.h"
#include "core/blocks.h"

enum { PICTURE_WIDTH = 80 };

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
