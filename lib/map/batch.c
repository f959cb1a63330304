/* map/batch.c - blocks with a batch dimension, and their slices without it. */
#include "map/batch.h"

#include "core/absent.h"
#include "core/error.h"

spmd_status spmd__batch_axis(const struct names *names, enum argument_kind kind, int index,
                             int axis, int ndim, int *dim)
{
    *dim = axis == SPMD_NOT_MAPPED ? -1 : axis < 0 ? axis + ndim : axis;
    if (axis != SPMD_NOT_MAPPED && (*dim < 0 || *dim >= ndim))
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: %s", spmd__argument(names, kind, index).text,
                         spmd__absent("dim", axis, -ndim, ndim).text);
    return SPMD_OK;
}

spmd_block spmd__batch_slice(const spmd_block *whole, int axis, int64_t index)
{
    spmd_block slice = *whole;
    slice.ndim = whole->ndim - 1;
    slice.data =
        (char *)whole->data + index * whole->stride[axis] * (int64_t)spmd_dtype_size(whole->dtype);
    for (int d = axis; d < slice.ndim; d++) {
        slice.shape[d] = whole->shape[d + 1];
        slice.stride[d] = whole->stride[d + 1];
        slice.offset[d] = whole->offset[d + 1];
        slice.global[d] = whole->global[d + 1];
    }
    return slice;
}
