/* map/vmap_tree.c - vmap over trees: a vmap over their leaves. */
#include <stdlib.h>

#include "core/mem.h"
#include "map/tree_axes.h"
#include "map/tree_body.h"
#include "map/vmap.h"

/* The leaves of the arguments and of the results, for the flat call. */
struct lists {
    const spmd_tree *in;
    spmd_tree *out; /* given by the caller, or NULL */
    struct tree_axes axes;
    int nin, nout;
    const spmd_tree **leaves;  /* [the larger of both] */
    const spmd_block **blocks; /* [nin] */
    struct key_block *keys;    /* [nin] */
    spmd_block **results;      /* [nout] */
};

static spmd_status alloc_lists(struct lists *lists)
{
    lists->nin = spmd__tree_nleaves(lists->in);
    lists->nout = spmd__tree_nleaves(lists->axes.structure);
    size_t nin = (size_t)lists->nin, nout = (size_t)lists->nout;
    TRY(spmd__alloc(nin > nout ? nin : nout, sizeof *lists->leaves, &lists->leaves));
    TRY(spmd__alloc(nin, sizeof *lists->blocks, &lists->blocks));
    TRY(spmd__alloc(nin, sizeof *lists->keys, &lists->keys));
    return spmd__alloc(nout, sizeof *lists->results, &lists->results);
}

static void free_lists(struct lists *lists)
{
    spmd__tree_axes_free(&lists->axes);
    free(lists->leaves);
    free(lists->blocks);
    free(lists->keys);
    free(lists->results);
}

static spmd_status take_input(struct lists *lists, int index)
{
    const spmd_tree *leaf = lists->leaves[index];
    lists->blocks[index] = spmd__tree_block(leaf);
    if (lists->blocks[index])
        return SPMD_OK;
    if (spmd__tree_array(leaf))
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is an array, and a vmap runs over blocks: in a "
                                            "body, spmd_in_tree has them");
    if (lists->axes.in[index] != SPMD_NOT_MAPPED)
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, which has no dimensions: its axis is None",
                         leaf->leaf->what);
    if (leaf->leaf == &spmd__leaf_key)
        lists->blocks[index] = spmd__key_block(&lists->keys[index], leaf->value.key);
    return SPMD_OK;
}

static spmd_status take_inputs(struct lists *lists)
{
    spmd__tree_flatten(lists->in, lists->nin, lists->leaves);
    for (int k = 0; k < lists->nin; k++) {
        spmd_status status = take_input(lists, k);
        if (status != SPMD_OK)
            return spmd__tree_fail_leaf(status, "in", lists->in, k);
    }
    return SPMD_OK;
}

static spmd_status take_outputs(struct lists *lists)
{
    if (!lists->out)
        return SPMD_OK;
    spmd__tree_flatten(lists->out, lists->nout, lists->leaves);
    for (int k = 0; k < lists->nout; k++) {
        lists->results[k] = (spmd_block *)spmd__tree_block(lists->leaves[k]); /* to be written */
        if (lists->results[k])
            continue;
        spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, and only a block can be written",
                  lists->leaves[k]->leaf->what);
        return spmd__tree_fail_leaf(SPMD_ERR_ARGUMENT, "out", lists->out, k);
    }
    return SPMD_OK;
}

static spmd_status take(struct lists *lists, const char *in_axes, const char *out_axes)
{
    if (!lists->in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "in: there is no tree, it is NULL");
    TRY(spmd__tree_axes_read(in_axes, lists->in, out_axes, lists->out, &lists->axes));
    TRY(alloc_lists(lists));
    TRY(take_inputs(lists));
    return take_outputs(lists);
}

/* A result as a leaf: a temporary of the enclosing body, or the tree's own. */
struct giving {
    spmd_block **results;
    const struct leaf_kind *kind;
};

static spmd_status give_leaf(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    const struct giving *giving = user;
    union leaf value = {.pointer = giving->results[index]};
    (void)old;
    giving->results[index] = NULL;
    return spmd__tree_make_leaf(giving->kind, value, leaf);
}

static spmd_status give(struct lists *lists, bool own, spmd_tree **out)
{
    struct giving giving = {lists->results, own ? &spmd__leaf_own_block : &spmd__leaf_block};
    spmd_status status = spmd__tree_unflatten(lists->axes.structure, give_leaf, &giving, out);
    for (int k = 0; own && k < lists->nout; k++)
        spmd_block_free(&lists->results[k]); /* those that no leaf has taken over */
    return status;
}

static spmd_status run(spmd_ctx *ctx, spmd_body *fn, void *user, struct lists *lists,
                       spmd_tree **out, const spmd_vmap_options *options)
{
    struct names names = {lists->in, lists->axes.structure};
    struct tree_call call = {.body = fn, .user = user, .in = names.in, .out = names.out};
    TRY(spmd__vmap_call(ctx, fn ? spmd__tree_body : NULL, &call, lists->nin, lists->blocks,
                        lists->axes.in, lists->nout, lists->results, lists->axes.out, options,
                        &names));
    return lists->out ? SPMD_OK : give(lists, !ctx, out);
}

spmd_status spmd_vmap_tree(spmd_ctx *ctx, spmd_body *fn, void *user, const spmd_tree *in,
                           const char *in_axes, spmd_tree **out, const char *out_axes,
                           const spmd_vmap_options *options)
{
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "out: there is no place for the tree, it is NULL");
    struct lists lists = {.in = in, .out = *out};
    spmd_status status = take(&lists, in_axes, out_axes);
    if (status == SPMD_OK)
        status = run(ctx, fn, user, &lists, out, options);
    free_lists(&lists);
    return status;
}
