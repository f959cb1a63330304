/* spmd/random.h - random numbers that depend on a key and a shape only.
 *
 * Threefry-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) with
 * JAX's counters (jax_threefry_partitionable), so that the bits are JAX's. Element i of an
 * array depends on the key and its row-major index alone: any rank makes any box of an array,
 * on any mesh, without communication. All functions here are local and reentrant.
 *
 * Every generator takes the shape of the whole array and the box of it that is wanted (NULL:
 * all of it), and writes the box's elements densely, row-major, to `out`. They fail with
 * SPMD_ERR_DTYPE for an element type that they do not make, SPMD_ERR_SHAPE for a shape that there
 * is not, SPMD_ERR_ARGUMENT for a box that is not inside the array. */
#ifndef SPMD_RANDOM_H
#define SPMD_RANDOM_H

#include <spmd/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A key; an array of keys is u32[..., 2]. Use a key once: split it, or fold something in. */
typedef struct spmd_key {
    uint32_t word[2];
} spmd_key;

/* The key of a seed: its high and its low half (jax.random.key with 64-bit types on). */
spmd_key spmd_key_create(uint64_t seed);

/* The key that belongs to `data` (a step, a seed, a rank) under `key`. */
spmd_key spmd_key_fold_in(spmd_key key, uint32_t data);

/* `count` new keys; key i does not depend on the count. */
void spmd_key_split(spmd_key key, int64_t count, spmd_key keys[] /* [count] */);

/* Uniform bits; u8, u16, u32 or u64. */
spmd_status spmd_random_bits(spmd_key key, spmd_dtype dtype, spmd_shape shape, const spmd_box *box,
                             void *out);

/* Uniform in [minval, maxval); f16, bf16, f32 or f64. */
spmd_status spmd_random_uniform(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                                const spmd_box *box, double minval, double maxval, void *out);

/* Standard normal; f16, bf16, f32, f64, c64 or c128. Within 4 ulp of JAX's. */
spmd_status spmd_random_normal(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                               const spmd_box *box, void *out);

/* Integers in [minval, maxval), bounds clipped to the type; any i or u type. */
spmd_status spmd_random_randint(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                                const spmd_box *box, int64_t minval, int64_t maxval, void *out);

/* true with probability p; bool. */
spmd_status spmd_random_bernoulli(spmd_key key, double p, spmd_shape shape, const spmd_box *box,
                                  bool *out);

/* Elements lo <= i < hi of a permutation of 0 ... n-1. Needs memory for all n. Fails with
 * SPMD_ERR_ARGUMENT or SPMD_ERR_MEMORY. */
spmd_status spmd_random_permutation(spmd_key key, int64_t n, int64_t lo, int64_t hi,
                                    int64_t *out /* [hi - lo] */);

#ifdef __cplusplus
}
#endif

#endif
