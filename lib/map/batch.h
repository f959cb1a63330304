/* map/batch.h - blocks with a batch dimension, and their slices without it. */
#ifndef MAP_BATCH_H
#define MAP_BATCH_H

#include <spmd/map.h>

#include "map/argument.h"

/* `axis` in [-ndim, ndim) as a dimension, -1 for SPMD_NOT_MAPPED. The message calls it what
 * `names`, `kind` and `index` say. */
spmd_status spmd__batch_axis(const struct names *names, enum argument_kind kind, int index,
                             int axis, int ndim, int *dim);

/* The slice at `index` of a block along its dimension `axis`, where it lies. */
spmd_block spmd__batch_slice(const spmd_block *whole, int axis, int64_t index);

#endif
