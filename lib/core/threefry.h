/* core/threefry.h - random bits of a run of neighbours, by Threefry-2x32 with 20 rounds. */
#ifndef CORE_THREEFRY_H
#define CORE_THREEFRY_H

#include <spmd/random.h>

/* The bits of the `count` elements from row-major index `first` on: 64 of each, the encrypted
 * index, or 32, its two halves xored. */
void spmd__threefry_bits64(spmd_key key, uint64_t first, size_t count, uint64_t *out /* [count] */);
void spmd__threefry_bits32(spmd_key key, uint64_t first, size_t count, uint32_t *out /* [count] */);

#endif
