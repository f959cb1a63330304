/* core/threefry.c - the Threefry-2x32 block function, and keys from keys. See spmd/random.h. */
#include "core/threefry.h"

#include "core/clones.h"

enum { LANES = 8 }; /* counters at a time: a fixed number, so that compilers make vectors */

/* The two halves of a counter, and of what it is encrypted to. */
struct pair {
    uint32_t high;
    uint32_t low;
};

INLINED uint32_t rotate(uint32_t word, int by)
{
    return word << by | word >> (32 - by);
}

INLINED struct pair mix(struct pair x, int by)
{
    x.high += x.low;
    x.low = rotate(x.low, by) ^ x.high;
    return x;
}

INLINED struct pair mix4(struct pair x, int r0, int r1, int r2, int r3)
{
    return mix(mix(mix(mix(x, r0), r1), r2), r3);
}

INLINED struct pair add(struct pair x, uint32_t high, uint32_t low)
{
    return (struct pair){x.high + high, x.low + low};
}

INLINED struct pair encrypt(spmd_key key, struct pair counter)
{
    const uint32_t k0 = key.word[0];
    const uint32_t k1 = key.word[1];
    const uint32_t k2 = k0 ^ k1 ^ 0x1bd11bda; /* the parity word of Threefish */
    struct pair x = add(counter, k0, k1);
    x = add(mix4(x, 13, 15, 26, 6), k1, k2 + 1);
    x = add(mix4(x, 17, 29, 16, 24), k2, k0 + 2);
    x = add(mix4(x, 13, 15, 26, 6), k0, k1 + 3);
    x = add(mix4(x, 17, 29, 16, 24), k1, k2 + 4);
    x = add(mix4(x, 13, 15, 26, 6), k2, k0 + 5);
    return x;
}

/* Encrypts `first` and the counters after it. */
CLONES("avx2")
static void encrypt_lanes(spmd_key key, uint64_t first, uint32_t *restrict high /* [LANES] */,
                          uint32_t *restrict low /* [LANES] */)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct pair counter = {(uint32_t)(first >> 32), (uint32_t)first + lane};
        counter.high += counter.low < lane; /* the carry */
        struct pair x = encrypt(key, counter);
        high[lane] = x.high;
        low[lane] = x.low;
    }
}

void spmd__threefry_bits64(spmd_key key, uint64_t first, size_t count, uint64_t *out)
{
    uint32_t high[LANES], low[LANES];
    for (size_t i = 0; i < count; i++) {
        const size_t lane = i % LANES;
        if (lane == 0)
            encrypt_lanes(key, first + i, high, low);
        out[i] = (uint64_t)high[lane] << 32 | low[lane];
    }
}

void spmd__threefry_bits32(spmd_key key, uint64_t first, size_t count, uint32_t *out)
{
    uint32_t high[LANES], low[LANES];
    for (size_t i = 0; i < count; i++) {
        const size_t lane = i % LANES;
        if (lane == 0)
            encrypt_lanes(key, first + i, high, low);
        out[i] = high[lane] ^ low[lane];
    }
}

spmd_key spmd_key_create(uint64_t seed)
{
    return (spmd_key){{(uint32_t)(seed >> 32), (uint32_t)seed}};
}

static spmd_key derive(spmd_key key, uint64_t index)
{
    uint64_t bits;
    spmd__threefry_bits64(key, index, 1, &bits);
    return spmd_key_create(bits);
}

spmd_key spmd_key_fold_in(spmd_key key, uint32_t data)
{
    return derive(key, data);
}

void spmd_key_split(spmd_key key, int64_t count, spmd_key keys[])
{
    for (int64_t i = 0; i < count; i++)
        keys[i] = derive(key, (uint64_t)i);
}
