/* picture.h - the blocks of an array, drawn in the terminal. */
#ifndef APPS_PICTURE_H
#define APPS_PICTURE_H

#include "blocks.h"

/* What the terminal can show. */
struct pen {
    bool unicode; /* box-drawing characters */
    bool colour;
};

/* Prints to standard output, in at most 80 columns: for each range of the leading dimensions a grid
 * of the last two, each block in its place with the ranks that hold it. What does not fit is
 * elided. The array has elements. */
void picture_print(const struct blocks *blocks, struct pen pen);

#endif
