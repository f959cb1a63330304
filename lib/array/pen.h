/* array/pen.h - where to draw with characters, and what can be shown there. */
#ifndef ARRAY_PEN_H
#define ARRAY_PEN_H

#include <stdbool.h>
#include <stdio.h>

struct pen {
    FILE *stream;
    bool unicode; /* box-drawing characters */
    bool colour;
};

/* What the environment says of a stream: characters by LC_ALL, LC_CTYPE or LANG, colours for a
 * terminal without NO_COLOR. */
struct pen spmd__pen_for(FILE *stream);

#endif
