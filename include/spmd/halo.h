/* spmd/halo.h - blocks with a border of their neighbours' elements, for stencils.
 *
 * A padded block has its halo stored with it: extents lo + n + hi in each dimension, dense. So an
 * exchange moves borders, not the field:
 *
 *     const spmd_halo halo[] = {{"x", 1, 1, true}, {"y", 1, 1, false}};
 *     spmd_block *u = spmd_halo_block(ctx, spmd_in(ctx, 0), halo);     a temporary, interior copied
 *     for (int step = 0; step < steps; step++) {
 *         SPMD_TRY(spmd_halo_exchange(ctx, u, halo));
 *         ...
 *     }
 */
#ifndef SPMD_HALO_H
#define SPMD_HALO_H

#include <spmd/collective.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The border of one dimension: `lo` elements before and `hi` after the interior, from the
 * neighbours along `axes` ("x", or "x,y" with x major: the axes that the dimension is split along;
 * NULL or "" for a dimension that is not split). `periodic`: the ends are neighbours; else the
 * borders at the ends are left as they are. */
typedef struct spmd_halo {
    const char *axes;
    int64_t lo, hi;
    bool periodic;
} spmd_halo;

/* Local. A temporary of the body with room for the halo [in's dimensions], and `in` as its
 * interior; the borders are zero. Its offset and global extents are those of `in`, the offset that
 * of the first element of the border (it may be negative). NULL without memory or for a wrong
 * halo, which fails the call. */
spmd_block *spmd_halo_block(spmd_ctx *ctx, const spmd_block *in, const spmd_halo halo[]);

/* Local. The interior of a padded block, as a block with strides that borrows its memory. */
spmd_status spmd_halo_interior(const spmd_block *padded, const spmd_halo halo[],
                               spmd_block *interior);

/* Collective over the ranks along all axes of `halo`. Fills the borders of `padded` (dense) from
 * the interiors of its neighbours, corners included. Blocks may be uneven; a border may be wider
 * than a neighbour's block, or come from further ranks, if the place of the block in the global
 * array is known (of a spmd_halo_block of an input it is). Else fails with SPMD_ERR_SHAPE. */
spmd_status spmd_halo_exchange(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[]);

/* The same in two phases; see spmd/collective.h. In between only the interior may be read, and
 * nothing be written. */
spmd_status spmd_halo_exchange_start(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[],
                                     spmd_request **request);

#ifdef __cplusplus
}
#endif

#endif
