/* spmd/collective.h - how the ranks of a body talk.
 *
 * All are collective over the ranks that differ along `axes` only ("x", or "x,y": the first is
 * major), which must all call, in the same order, with blocks of the same shape and type.
 * `out` is a block of the result's shape and type from spmd_out or spmd_temp; it may be `in`
 * where shape and type stay. Both are dense. An empty list of axes is the identity. They fail with
 * SPMD_ERR_MESH for an axis that the mesh does not have, SPMD_ERR_SHAPE and SPMD_ERR_DTYPE for
 * a wrong `out`. Semantics: jax.lax's functions of the same names. */
#ifndef SPMD_COLLECTIVE_H
#define SPMD_COLLECTIVE_H

#include <spmd/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elementwise over the group. psum of bool counts, in i32. pmean divides by the group's size:
 * of i64 and u64 it gives f64, of other integers and bool f32. f16 and bf16 are reduced in f32
 * and rounded once. pmax and pmin of floats give NaN if there is one; of complex numbers they
 * fail with SPMD_ERR_DTYPE. */
spmd_status spmd_psum(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmean(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);
spmd_status spmd_pmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out);

/* Local. The element types that psum and pmean give for `dtype`. */
spmd_dtype spmd_psum_dtype(spmd_dtype dtype);
spmd_dtype spmd_pmean_dtype(spmd_dtype dtype);

/* All members' blocks in everybody's `out`. Tiled: joined along dimension `dim`; blocks may
 * differ there, if their place in the global array is known (inputs of the body are). Untiled:
 * a new dimension of the group's size stands at `dim`. `dim` may count from the end. */
typedef enum spmd_tiling { SPMD_UNTILED, SPMD_TILED } spmd_tiling;
spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out);

/* The shape that all_gather gives: what to declare `out` with. Collective like all_gather: ranks
 * may have to ask each other how long their blocks are. */
spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape);

/* Member `source`'s block in everybody's `out`. */
spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out);

/* Local. This rank's place among the group, row-major in the order of the axes as given, and the
 * group's size; -1 for an axis that the mesh does not have. */
int64_t spmd_axis_index(const spmd_ctx *ctx, const char *axes);
int64_t spmd_axis_size(const spmd_ctx *ctx, const char *axes);

#ifdef __cplusplus
}
#endif

#endif
