/* core/shuffle.c - random permutations, an element at a time. */
#include "core/shuffle.h"

#include "core/mix.h"
#include "core/threefry.h"

enum { LEAST_BITS = 8 }; /* halves of fewer than 4 bits mix badly */

static int bits_of(uint64_t number)
{
    int bits = 0;
    while (number >> bits != 0)
        bits++;
    return bits;
}

struct shuffle spmd__shuffle_make(spmd_key key, int64_t n)
{
    const int least = bits_of((uint64_t)n - 1);
    const int bits = least > LEAST_BITS ? least : LEAST_BITS;
    struct shuffle shuffle = {.n = (uint64_t)n, .low_bits = bits / 2, .high_bits = bits - bits / 2};
    spmd__threefry_bits64(key, 0, SHUFFLE_ROUNDS, shuffle.key);
    return shuffle;
}

static uint64_t mix(uint64_t word, int bits)
{
    return spmd__mix(word) & (((uint64_t)1 << bits) - 1);
}

/* Each round changes one half by what the other one and the round's key mix to, and so can be taken
 * back: no two numbers become one. */
static uint64_t change(const struct shuffle *shuffle, uint64_t number, int round)
{
    const int bits = shuffle->low_bits;
    const uint64_t high = number >> bits, low = number & (((uint64_t)1 << bits) - 1);
    if (round % 2 == 0)
        return number ^ mix(low ^ shuffle->key[round], shuffle->high_bits) << bits;
    return number ^ mix(high ^ shuffle->key[round], bits);
}

int64_t spmd__shuffle_at(const struct shuffle *shuffle, int64_t index)
{
    uint64_t number = (uint64_t)index;
    do
        for (int round = 0; round < SHUFFLE_ROUNDS; round++)
            number = change(shuffle, number, round);
    while (number >= shuffle->n);
    return (int64_t)number;
}

int64_t spmd__shuffle_find(const struct shuffle *shuffle, int64_t number)
{
    uint64_t index = (uint64_t)number;
    do
        for (int round = SHUFFLE_ROUNDS - 1; round >= 0; round--)
            index = change(shuffle, index, round);
    while (index >= shuffle->n);
    return (int64_t)index;
}
