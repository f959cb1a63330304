/* core/checksum.h - checksums of arrays, of which each rank can compute its part.
 *
 * The checksum of an array is the sum, modulo 2^64, over its elements of a function of the
 * element's bits and its row-major index in the whole array. So parts of it add up, whatever the
 * array is cut into. The function is a bijection of the bits: if one element changes, the checksum
 * does. Other damage goes unseen with a probability of 2^-64, as elements in each other's place do.
 *
 * Bits are taken in words of the element's size, zero-extended; c128 is two of them, of 8 bytes.
 * Word number i, from 0, counts as the output of splitmix64 (Steele, Lea and Flood) for the state
 * bits + (i + 1) * 0x9e3779b97f4a7c15. */
#ifndef CORE_CHECKSUM_H
#define CORE_CHECKSUM_H

#include <spmd/types.h>

/* What `count` elements add, of which the first has the row-major index `first`. */
uint64_t spmd__checksum_run(spmd_dtype dtype, int64_t first, int64_t count, const void *elements);

/* What a dense block adds to the checksum of the array that it is a part of. */
uint64_t spmd__checksum_block(const spmd_block *block);

#endif
