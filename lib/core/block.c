/* core/block.c - parts of arrays as bodies see them. */
#include "core/block.h"

#include "core/shape.h"

spmd_shape spmd_block_shape(const spmd_block *block)
{
    return spmd_shape_make(block->ndim, block->shape);
}

int64_t spmd_block_size(const spmd_block *block)
{
    return spmd_shape_size(spmd_block_shape(block));
}

spmd_status spmd__block_check(const spmd_block *block, const char *name)
{
    int64_t bytes;
    spmd_status status = spmd__type_check(block->dtype, spmd_block_shape(block), &bytes);
    if (status != SPMD_OK)
        return spmd_fail(status, "%s: %s", name, spmd_error_message());
    if (bytes > 0 && !block->data)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s has no memory", name);
    return SPMD_OK;
}

size_t spmd__block_bytes(const spmd_block *block)
{
    return (size_t)spmd_block_size(block) * spmd_dtype_size(block->dtype);
}

spmd_block spmd_block_borrow(void *data, spmd_dtype dtype, spmd_shape shape)
{
    shape = spmd_shape_make(shape.ndim, shape.dim);
    spmd_block block = {.data = data, .dtype = dtype, .ndim = shape.ndim};
    bool empty = spmd_shape_size(shape) <= 0; /* then the extents need not fit together */
    int64_t stride = 1;
    for (int d = shape.ndim - 1; d >= 0; d--) {
        block.shape[d] = block.global[d] = shape.dim[d];
        block.stride[d] = stride;
        stride *= empty ? 1 : shape.dim[d];
    }
    return block;
}

spmd_box spmd__block_box(const spmd_block *block)
{
    spmd_box box = {.ndim = block->ndim};
    for (int d = 0; d < block->ndim; d++) {
        box.lo[d] = block->offset[d];
        box.hi[d] = block->offset[d] + block->shape[d];
    }
    return box;
}

bool spmd__block_is_dense(const spmd_block *block)
{
    int64_t stride = 1;
    for (int d = 0; d < block->ndim; d++)
        if (block->shape[d] == 0)
            return true;
    for (int d = block->ndim - 1; d >= 0; stride *= block->shape[d--])
        if (block->shape[d] != 1 && block->stride[d] != stride)
            return false;
    return true;
}
