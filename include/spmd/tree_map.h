/* spmd/tree_map.h - bodies whose arguments and results are trees: parameters as they are.
 *
 *     spmd_tree_set_tree(in, "params", params);
 *     spmd_tree_set_array(in, "batch", batch);
 *     spmd_shard_map_tree(mesh, body, NULL, in, "{params: P(), batch: P(data)}",
 *                         &out, "{loss: P(), grads: P()}", NULL);
 *
 * In the body, leaf 0, 1, ... of the tree is spmd_in(ctx, 0), spmd_in(ctx, 1), ...; also, by path,
 * spmd_in_at(ctx, "params/w"). Likewise spmd_out. What is said of arrays in spmd/map.h holds for
 * the leaves; a failure names a leaf by its path: "in['params']['w']: ...". */
#ifndef SPMD_TREE_MAP_H
#define SPMD_TREE_MAP_H

#include <spmd/map.h>
#include <spmd/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over the mesh: spmd_shard_map over trees.
 *
 *   in         any tree: of arrays, keys (the same on all ranks), None, and texts and integers,
 *              which the body finds in spmd_in_tree alone
 *   in_specs   a tree of specs, a prefix of `in`. What is no array takes P() or None, and None is
 *              P() for an array.
 *   out        NULL inside (so initialise it): the new tree has the structure of out_specs, an
 *              array for each spec. Or a tree, of which out_specs is a prefix: its arrays are
 *              replaced, and their memory used again, as spmd_shard_map does.
 *   out_specs  a tree of specs; None stands for None alone
 *   options    NULL for the defaults
 *
 * Fails as spmd_shard_map and spmd_tree_broadcast do, with SPMD_ERR_DISAGREE if the ranks' trees
 * differ in structure, keys, texts or integers. */
spmd_status spmd_shard_map_tree(spmd_mesh *mesh, spmd_body *body, void *user, const spmd_tree *in,
                                const char *in_specs, spmd_tree **out, const char *out_specs,
                                const spmd_shard_map_options *options);

/* Collective over the mesh. The same in two steps, as spmd_shard_map_plan and spmd_shard_map_run.
 * The plan needs the structures: of `in`, whatever its leaves are; and of `out`, NULL for that of
 * out_specs. A run fails with SPMD_ERR_ARGUMENT for trees of another structure. */
typedef struct spmd_shard_map_tree_call spmd_shard_map_tree_call;
spmd_status spmd_shard_map_tree_plan(spmd_mesh *mesh, spmd_body *body, const spmd_tree *in,
                                     const char *in_specs, const spmd_tree *out,
                                     const char *out_specs, const spmd_shard_map_options *options,
                                     spmd_shard_map_tree_call **plan);
spmd_status spmd_shard_map_tree_run(spmd_shard_map_tree_call *plan, void *user, const spmd_tree *in,
                                    spmd_tree **out);

/* Local. Frees the plan and sets it NULL; NULL is accepted. Trees that it gave stay. */
void spmd_shard_map_tree_free(spmd_shard_map_tree_call **plan);

/* Local, but for what fn does: spmd_vmap over trees.
 *
 *   in        of blocks (spmd_in_tree(ctx), or a part of it), keys, None, texts and integers
 *   in_axes   a tree of axes, a prefix of `in`: "0", "{w: 0, b: None}". None: not mapped, which is
 *             all that a key, a text or an integer can be.
 *   out       NULL inside: the new tree has the structure of out_axes, a block for each entry, None
 *             among them: not mapped. The caller frees the tree; its blocks are temporaries of
 *             `ctx`, or without a ctx the tree's own. Or a tree of blocks to write, of which
 *             out_axes is a prefix.
 *   out_axes  a tree of axes
 *   options   NULL for the defaults
 *
 * Fails as spmd_vmap and spmd_tree_broadcast do. */
spmd_status spmd_vmap_tree(spmd_ctx *ctx, spmd_body *fn, void *user, const spmd_tree *in,
                           const char *in_axes, spmd_tree **out, const char *out_axes,
                           const spmd_vmap_options *options);

/* Collective over the mesh: spmd_pmap over trees.
 *
 *   in        as of spmd_shard_map_tree
 *   in_axes   a tree of axes, a prefix of `in`, as of spmd_vmap_tree
 *   out       NULL inside, or a tree of arrays, as of spmd_shard_map_tree
 *   out_axes  a tree of axes, as of spmd_vmap_tree: without a tree in `out`, a None in it is an
 *             array, too, of which every rank gives the same
 *
 * Fails as spmd_pmap, spmd_tree_broadcast and spmd_shard_map_tree do. */
spmd_status spmd_pmap_tree(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user,
                           const spmd_tree *in, const char *in_axes, spmd_tree **out,
                           const char *out_axes, const spmd_shard_map_options *options);

/* In a body that was run over trees. */

/* Local. The whole of `in`, with blocks in place of arrays. Borrowed, until the body returns. NULL
 * without memory, which fails the call. */
const spmd_tree *spmd_in_tree(spmd_ctx *ctx);

/* Local. The input at `path`: spmd_in of that leaf; a key is a u32[2]. NULL where None stands. A
 * path that leads to no leaf is reported at once, fails the call, and gives NULL. */
const spmd_block *spmd_in_at(spmd_ctx *ctx, const char *path);

/* Local. The key at `path`: a key, or u32[2]. Else it fails likewise, and gives zeros. */
spmd_key spmd_key_at(spmd_ctx *ctx, const char *path);

/* Local. Declares the output at `path`: spmd_out of that leaf. */
spmd_block *spmd_out_at(spmd_ctx *ctx, const char *path, spmd_dtype dtype, spmd_shape shape);

#ifdef __cplusplus
}
#endif

#endif
