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
 * neighbours along `axes` ("x", or "x,y" with x major: the axes of the mesh that the dimension is
 * split along; NULL or "" for a dimension that is not split). `periodic`: the ends are neighbours,
 * so on few ranks a border may come from the block itself, and a wide one goes around several
 * times. */
typedef struct spmd_halo {
    const char *axes;
    int64_t lo, hi;
    bool periodic;
} spmd_halo;

/* Local. A temporary of the body with room for the halo [in's dimensions], and `in` as its
 * interior; the borders are zero. Its global extents are those of `in`, its offset is that of the
 * first element of the border (it may be negative). NULL without memory or for a wrong halo, which
 * is reported at once and fails the call. */
spmd_block *spmd_halo_block(spmd_ctx *ctx, const spmd_block *in, const spmd_halo halo[]);

/* Local. The interior of a padded block, as a block with strides that borrows its memory. Fails
 * with SPMD_ERR_ARGUMENT, or SPMD_ERR_SHAPE for a block smaller than its border. */
spmd_status spmd_halo_interior(const spmd_block *padded, const spmd_halo halo[],
                               spmd_block *interior);

/* Collective over the ranks along all axes of `halo`, which must be alike on them. Fills the
 * border of `padded` (dense), corners included, from the interiors of the ranks that hold the
 * elements: each element that the array has, and no other. What lies beyond the ends of a dimension
 * that is not periodic keeps its value, for the program's own boundary; so does all of an empty
 * block.
 *
 * Where the place of the block in the global array is known, which it is of a spmd_halo_block of
 * an input, blocks may be uneven or empty, and a border may be wider than its neighbours' blocks.
 * Where it is not (global[d] is -1) a border comes from the next rank's block, which must have as
 * many elements.
 *
 * Fails with SPMD_ERR_ARGUMENT for negative widths, an axis at two dimensions, and one of a vmap,
 * SPMD_ERR_SHAPE for a block smaller than its border, one that does not lie along the axes as the
 * layout's rule says, and a border too wide where the place is not known. */
spmd_status spmd_halo_exchange(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[]);

/* The same in two phases; see spmd/collective.h. In between, the interior may be read; nothing else
 * may be touched. So a stencil is computed inside first, while the borders are under way. Corners
 * have messages of their own here: with k split dimensions a rank sends up to 3^k - 1 instead of
 * 2 k. */
spmd_status spmd_halo_exchange_start(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[],
                                     spmd_request **request);

#ifdef __cplusplus
}
#endif

#endif
