/* elements.h - blocks of i64, for cases about what bodies see. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "meshes.h"

static inline int64_t *elements(const spmd_block *block)
{
    return block->data;
}

/* A block over `memory` whose element i is i. */
static inline spmd_block count_in(int64_t *memory, spmd_shape shape)
{
    for (int64_t i = 0; i < spmd_shape_size(shape); i++)
        memory[i] = i;
    return spmd_block_borrow(memory, SPMD_I64, shape);
}

#endif
