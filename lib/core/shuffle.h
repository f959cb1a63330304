/* core/shuffle.h - random permutations of any size, an element at a time, without memory.
 *
 * A Feistel network permutes the numbers of as many bits as n has. What it takes out of 0 ... n-1
 * goes through it again until it is back (cycle walking): on average twice at most, but for small
 * n. Threefry makes the rounds' keys: the permutation depends on key and n alone. */
#ifndef CORE_SHUFFLE_H
#define CORE_SHUFFLE_H

#include <spmd/random.h>

enum { SHUFFLE_ROUNDS = 8 };

struct shuffle {
    uint64_t n;
    int low_bits; /* of the number's two halves */
    int high_bits;
    uint64_t key[SHUFFLE_ROUNDS];
};

/* A permutation of 0 ... n-1; n is at least 1. */
struct shuffle spmd__shuffle_make(spmd_key key, int64_t n);

/* What stands at `index`, 0 <= index < n; and at which index `number` stands. */
int64_t spmd__shuffle_at(const struct shuffle *shuffle, int64_t index);
int64_t spmd__shuffle_find(const struct shuffle *shuffle, int64_t number);

#endif
