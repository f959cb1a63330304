/* core/excerpt.h - what is shown of the values of an array or a block: all, or of many its corners.
 */
#ifndef CORE_EXCERPT_H
#define CORE_EXCERPT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/view.h"

struct excerpt {
    spmd_shape shape; /* of the whole */
    spmd_shape shown; /* of the excerpt */
    bool elided[SPMD_MAX_DIMS];
    int corners; /* boxes of the whole that make up the excerpt */
    spmd_dtype dtype;
    void *data; /* [shown], dense; the caller's to make and to free */
};

struct excerpt spmd__excerpt_of(spmd_dtype dtype, spmd_shape shape);

/* Corner `number` of the whole, and where its elements go in `data`. */
struct view spmd__excerpt_corner(const struct excerpt *excerpt, int number, spmd_box *box);

/* Prints the values as rows in brackets, and ends the line. */
void spmd__excerpt_print(FILE *stream, const struct excerpt *excerpt);

#endif
