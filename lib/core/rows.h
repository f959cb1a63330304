/* core/rows.h - the one loop over the elements of a box, in runs of neighbours. */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include <stdbool.h>

#include <spmd/types.h>

/* Where the loop is:
 *
 *     struct rows rows = spmd__rows_begin(shape, &box);
 *     while (spmd__rows_next(&rows))
 *         ... elements first, first + 1, ... of the array are elements at, at + 1, ... of the box
 *
 * each being a row-major index, and `count` the length of the run. */
struct rows {
    int64_t first;
    int64_t at;
    int64_t count;
    spmd_shape whole;
    spmd_box box;
    int64_t index[SPMD_MAX_DIMS]; /* of the run's first element in the array */
};

/* `box` lies inside of the array of shape `whole`. */
struct rows spmd__rows_begin(spmd_shape whole, const spmd_box *box);
bool spmd__rows_next(struct rows *rows);

#endif
