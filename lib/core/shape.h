/* core/shape.h - what can be wrong with shapes and types; shapes of a dimension more or less. */
#ifndef CORE_SHAPE_H
#define CORE_SHAPE_H

#include <spmd/types.h>

/* Whether there is such a shape: 0 to SPMD_MAX_DIMS dimensions, none negative. Fails with
 * SPMD_ERR_SHAPE. */
spmd_status spmd__shape_check(spmd_shape shape);

/* Whether there are such arrays; *bytes is what one takes. Fails with SPMD_ERR_DTYPE, or
 * SPMD_ERR_SHAPE, also for more than 2^63 bytes. */
spmd_status spmd__type_check(spmd_dtype dtype, spmd_shape shape, int64_t *bytes);

/* The shape without its dimension `dim`; and with one more, of `extent`, that is dimension `dim`.
 */
spmd_shape spmd__shape_without(spmd_shape shape, int dim);
spmd_shape spmd__shape_with(spmd_shape shape, int dim, int64_t extent);

#endif
