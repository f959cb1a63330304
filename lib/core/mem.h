/* core/mem.h - checked memory. */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stddef.h>

#include <spmd/error.h>

enum { BLOCK_ALIGNMENT = 64 };

/* Zeroed memory for `count` objects of `size` bytes, at least one byte; free() it. Fails with
 * SPMD_ERR_MEMORY, also when the product overflows. */
spmd_status spmd__alloc(size_t count, size_t size, void *out /* a pointer to a pointer */);

/* The same for array data: `bytes` and no more, so that the address sanitizer sees whoever goes
 * beyond, aligned to BLOCK_ALIGNMENT. Never NULL. */
spmd_status spmd__alloc_block(size_t bytes, void **out);

#endif
