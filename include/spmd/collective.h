/* spmd/collective.h - how the ranks of a body talk.
 *
 * All are collective over the group of ranks that differ along `axes` only, which must all call,
 * in the same order, with the same arguments and blocks of the same shape and type, but for what
 * a call allows to differ. Axes are text:
 *
 *     "x"                  the members are the ranks along x
 *     "x,y"                along both, in the order of the text: the first is major
 *     ""                   this rank alone: the identity
 *     "x [[0,2],[3,1]]"    the ranks along x in two groups, in this order (JAX's
 *                          axis_index_groups): each position along x must stand in one of them
 *
 * An axis may be one of a named vmap around the body (spmd/map.h), then its instances are
 * members as well.
 *
 * `out` is a dense block of the result's shape and type, from spmd_out or spmd_temp; it may be
 * `in` where shape and type stay, for all members alike, and does not overlap it otherwise. `in` is
 * dense. Dimensions may count from the end (-1 is the last). Sizes are 64-bit, blocks may be empty.
 * They fail with SPMD_ERR_MESH for an axis that is not there, SPMD_ERR_SYNTAX for a text that does
 * not parse, SPMD_ERR_ARGUMENT for dimensions, members and lists out of their range and for blocks
 * that overlap, SPMD_ERR_SHAPE and SPMD_ERR_DTYPE for blocks that do not fit; under SPMD_CHECK=1
 * also with SPMD_ERR_DISAGREE where the ranks do not do the same. Semantics: jax.lax's functions
 * of the same names. */
#ifndef SPMD_COLLECTIVE_H
#define SPMD_COLLECTIVE_H

#include <spmd/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elementwise over the group. psum of bool counts, in i32. pmean divides by the size of the
 * rank's own group: of i64 and u64 it gives f64, of other integers and bool f32. f16 and bf16 are
 * reduced in f32 and rounded once. pmax and pmin of floats give NaN if there is one; of complex
 * numbers they fail with SPMD_ERR_DTYPE. */
spmd_status spmd_psum(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmean(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);

/* Local. The element types that psum and pmean give for `dtype`. */
spmd_dtype spmd_psum_dtype(spmd_dtype dtype);
spmd_dtype spmd_pmean_dtype(spmd_dtype dtype);

/* Elementwise: which member has the greatest, the smallest element; in i32, the lowest one of
 * several. NaN counts as the extreme, as in numpy.argmax. */
spmd_status spmd_pargmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pargmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);

/* All members' blocks in everybody's `out`. Tiled: joined along dimension `dim`; blocks may differ
 * in extent there if their place along it is known, as that of inputs of the body and of what
 * psum_scatter and all_to_all gave is; that of a block of yours is what its offset and global say.
 * Untiled: a new dimension of the group's size stands at `dim`. */
typedef enum spmd_tiling { SPMD_UNTILED, SPMD_TILED } spmd_tiling;
spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out);

/* The sum over the members, of which member k keeps part k along `dim`. Tiled: the dimension is
 * split as the layout's rule says (spmd/sharding.h), so it need not divide; where it does not,
 * `out` is told its place. Untiled: its extent is the group's size, and it goes. Types are psum's.
 */
spmd_status spmd_psum_scatter(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                              spmd_tiling tiling, spmd_block *out);

/* Part k along `split_dim` goes to member k; what comes is joined along `concat_dim`, in the order
 * of the members. Tiled: parts follow the layout's rule, and blocks may differ along concat_dim,
 * if their place along it is known; `out` is told its place along another split_dim that does not
 * divide. Untiled: split_dim's extent is the group's size, it goes, and a new dimension for the
 * senders stands at concat_dim, counted without it. */
spmd_status spmd_all_to_all(spmd_ctx *ctx, const spmd_block *in, const char *axes, int split_dim,
                            int concat_dim, spmd_tiling tiling, spmd_block *out);

/* The shapes that they give: what to declare `out` with. Collective like the calls: ranks may have
 * to ask each other how long their blocks are. */
spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape);
spmd_status spmd_psum_scatter_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                    spmd_tiling tiling, spmd_shape *shape);
spmd_status spmd_all_to_all_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                  int split_dim, int concat_dim, spmd_tiling tiling,
                                  spmd_shape *shape);

/* Rows of `in` to rows of the members' `out`, `nslices` slices, a multiple of the group's size n:
 * slice i goes to member i / (nslices / n). Its rows begin at in_offsets[i] and number
 * send_sizes[i]; they are written from row out_offsets[i] of the receiver's `out` on, where
 * recv_sizes[] has how many come: recv_sizes[j] of the receiver is send_sizes of the slice that is
 * its j-th, in order of the senders. Rows that nobody writes keep what they have. `in` and `out`
 * may differ in extent along dim 0 only; all arrays are [nslices] and may differ between members.
 * Not over axes of the mesh and of a vmap together. */
spmd_status spmd_ragged_all_to_all(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                   int64_t nslices, const int64_t in_offsets[],
                                   const int64_t send_sizes[], const int64_t out_offsets[],
                                   const int64_t recv_sizes[], spmd_block *out);

/* Member perm[i][0]'s block goes to member perm[i][1], for each of `npairs`; who is nobody's
 * destination gets zeros. No member may stand twice on one side. Here and in pshuffle members are
 * numbered in the order of the mesh's axes, whatever that of the text, as in JAX; those of groups
 * as the groups list them; and as the text does where it names the axis of a vmap. */
spmd_status spmd_ppermute(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t npairs,
                          const int64_t perm[][2], spmd_block *out);

/* The pairs of a call: spmd_ppermute(ctx, in, "x", 2, SPMD_PAIRS({0, 1}, {1, 0}), out). */
#define SPMD_PAIRS(...) ((const int64_t[][2]){__VA_ARGS__})

/* Member k gets member perm[k]'s block; perm [size of the group] is a permutation. */
spmd_status spmd_pshuffle(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                          const int64_t perm[], spmd_block *out);

/* Swaps dimension `dim`, whose extent is the group's size, with the members: an untiled all_to_all
 * from dim to dim. */
spmd_status spmd_pswapaxes(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                           spmd_block *out);

/* Member `source`'s block in everybody's `out`. */
spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out);

/* Local. This member's place in the group, row-major in the order of the axes as given, and the
 * group's size; -1 for an axis that is not there. Over axes of the mesh and of a vmap together
 * they number the instances of all ranks only where ranks have equally many of them; where they do
 * not, numbers come twice. Then map an array of indices along, to tell the examples apart. */
int64_t spmd_axis_index(const spmd_ctx *ctx, const char *axes);
int64_t spmd_axis_size(const spmd_ctx *ctx, const char *axes);

/* The same in two phases, to compute while data moves: _start begins, spmd_wait ends. Between
 * them `in` must not be written and `out` not be touched. Members start in the same order, one
 * that would do for the blocking calls as well (SPMD_CHECK=1 makes these instead, at the first
 * wait), and may wait in any. The first call of a list of axes waits for the others to get there.
 * Each request must be waited for before the body returns, or fails it with SPMD_ERR_BODY. Not over
 * an axis of a vmap. */
typedef struct spmd_request spmd_request;
spmd_status spmd_psum_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request);
spmd_status spmd_pmax_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request);
spmd_status spmd_pmin_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request);
spmd_status spmd_all_gather_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_block *out, spmd_request **request);
spmd_status spmd_psum_scatter_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                    spmd_tiling tiling, spmd_block *out, spmd_request **request);
spmd_status spmd_all_to_all_start(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                  int split_dim, int concat_dim, spmd_tiling tiling,
                                  spmd_block *out, spmd_request **request);
spmd_status spmd_ppermute_start(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                int64_t npairs, const int64_t perm[][2], spmd_block *out,
                                spmd_request **request);

/* Ends what the request began, frees it and sets NULL; NULL is accepted. */
spmd_status spmd_wait(spmd_request **request);

#ifdef __cplusplus
}
#endif

#endif
