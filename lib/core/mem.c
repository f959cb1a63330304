/* core/mem.c - checked memory. */
#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

#include "core/poison.h"

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
    void *memory;
    if (posix_memalign(&memory, BLOCK_ALIGNMENT, bytes ? bytes : 1) != 0)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a block of %zu bytes", bytes);
    memset(memory, 0, bytes);
    POISON(memory, bytes ? 0 : 1);
    *out = memory;
    return SPMD_OK;
}
