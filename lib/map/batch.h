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

/* The shape without its dimension `axis`; and with one of `size` in front of what is there. */
spmd_shape spmd__batch_without(spmd_shape shape, int axis);
spmd_shape spmd__batch_with(spmd_shape shape, int axis, int64_t size);

#endif
