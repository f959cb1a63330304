/* core/mem.c - checked memory. */
#include "core/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

spmd_status spmd__alloc(size_t count, size_t size, void *out)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %zu objects of %zu bytes", count, size);
    memcpy(out, &memory, sizeof memory);
    return SPMD_OK;
}

spmd_status spmd__alloc_block(size_t bytes, void **out)
{
    if (bytes > SIZE_MAX - BLOCK_ALIGNMENT)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a block of %zu bytes", bytes);
    size_t rounded = (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    void *memory = aligned_alloc(BLOCK_ALIGNMENT, rounded ? rounded : BLOCK_ALIGNMENT);
    if (!memory)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a block of %zu bytes", bytes);
    memset(memory, 0, rounded);
    *out = memory;
    return SPMD_OK;
}
