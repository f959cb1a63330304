/* map/vmap_tree.c - vmap over trees: a vmap over their leaves. */
#include <stdlib.h>

#include "core/mem.h"
#include "core/tree_match.h"
#include "core/tree_text.h"
#include "map/tree_body.h"
#include "map/vmap.h"

/* The leaves of the arguments and of the results, for the flat call. */
struct lists {
    const spmd_tree *in;
    spmd_tree *out; /* given by the caller, or NULL */
    spmd_tree *in_prefix, *out_prefix;
    int nin, nout;
    const spmd_tree **leaves;   /* [the larger of both] */
    const spmd_tree **prefixes; /* [the larger of both] what of a prefix stands for each leaf */
    const spmd_block **blocks;  /* [nin] */
    struct key_block *keys;     /* [nin] */
    int *in_axes;               /* [nin] */
    spmd_block **results;       /* [nout] */
    int *out_axes;              /* [nout] */
};

/* In out_axes a None is an output, too: one that is not mapped. */
static void fill_none(spmd_tree *tree)
{
    for (int i = 0; i < tree->count; i++)
        fill_none(tree->child[i]);
    if (tree->kind == TREE_NONE) {
        tree->kind = TREE_LEAF;
        tree->leaf = &spmd__leaf_integer;
        tree->value.integer = SPMD_NOT_MAPPED;
    }
}

static spmd_status parse(struct lists *lists, const char *in_axes, const char *out_axes)
{
    spmd_status status = spmd__tree_parse_axes(in_axes, &lists->in_prefix);
    if (status != SPMD_OK)
        return spmd_fail(status, "in_axes: %s", spmd_error_message());
    status = spmd__tree_parse_axes(out_axes, &lists->out_prefix);
    if (status != SPMD_OK)
        return spmd_fail(status, "out_axes: %s", spmd_error_message());
    if (!lists->out)
        fill_none(lists->out_prefix);
    return SPMD_OK;
}

/* The structure of the results. */
static const spmd_tree *structure_of(const struct lists *lists)
{
    return lists->out ? lists->out : lists->out_prefix;
}

static spmd_status alloc_lists(struct lists *lists)
{
    lists->nin = spmd__tree_nleaves(lists->in);
    lists->nout = spmd__tree_nleaves(structure_of(lists));
    size_t nin = (size_t)lists->nin, nout = (size_t)lists->nout;
    size_t most = nin > nout ? nin : nout;
    TRY(spmd__alloc(most, sizeof *lists->leaves, &lists->leaves));
    TRY(spmd__alloc(most, sizeof *lists->prefixes, &lists->prefixes));
    TRY(spmd__alloc(nin, sizeof *lists->blocks, &lists->blocks));
    TRY(spmd__alloc(nin, sizeof *lists->keys, &lists->keys));
    TRY(spmd__alloc(nin, sizeof *lists->in_axes, &lists->in_axes));
    TRY(spmd__alloc(nout, sizeof *lists->results, &lists->results));
    return spmd__alloc(nout, sizeof *lists->out_axes, &lists->out_axes);
}

static void free_lists(struct lists *lists)
{
    spmd__tree_free(&lists->in_prefix);
    spmd__tree_free(&lists->out_prefix);
    free(lists->leaves);
    free(lists->prefixes);
    free(lists->blocks);
    free(lists->keys);
    free(lists->in_axes);
    free(lists->results);
    free(lists->out_axes);
}

/* The axis that a leaf of a prefix says. */
static int axis_of(const spmd_tree *prefix)
{
    return prefix->kind == TREE_NONE ? SPMD_NOT_MAPPED : (int)prefix->value.integer;
}

static spmd_status take_input(struct lists *lists, int index)
{
    const spmd_tree *leaf = lists->leaves[index];
    const spmd_block *block = spmd__tree_block(leaf);
    lists->in_axes[index] = axis_of(lists->prefixes[index]);
    lists->blocks[index] = block;
    if (block)
        return SPMD_OK;
    if (spmd__tree_array(leaf))
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is an array, and a vmap runs over blocks: in a "
                                            "body, spmd_in_tree has them");
    if (lists->in_axes[index] != SPMD_NOT_MAPPED)
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, which has no dimensions: its axis is None",
                         leaf->leaf->what);
    if (leaf->leaf == &spmd__leaf_key)
        lists->blocks[index] = spmd__key_block(&lists->keys[index], leaf->value.key);
    return SPMD_OK;
}

static spmd_status take_inputs(struct lists *lists)
{
    TRY(spmd__tree_broadcast(lists->in_prefix, "in_axes", lists->in, "in", lists->prefixes));
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
    const spmd_tree *structure = structure_of(lists);
    TRY(spmd__tree_broadcast(lists->out_prefix, "out_axes", structure, "out", lists->prefixes));
    spmd__tree_flatten(structure, lists->nout, lists->leaves);
    for (int k = 0; k < lists->nout; k++) {
        lists->out_axes[k] = axis_of(lists->prefixes[k]);
        lists->results[k] = lists->out ? (spmd_block *)spmd__tree_block(lists->leaves[k]) : NULL;
        if (lists->out && !lists->results[k]) {
            spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, and only a block can be written",
                      lists->leaves[k]->leaf->what);
            return spmd__tree_fail_leaf(SPMD_ERR_ARGUMENT, "out", structure, k);
        }
    }
    return SPMD_OK;
}

static spmd_status take(struct lists *lists, const char *in_axes, const char *out_axes)
{
    if (!lists->in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "in: there is no tree, it is NULL");
    TRY(parse(lists, in_axes, out_axes));
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
    spmd_status status = spmd__tree_unflatten(lists->out_prefix, give_leaf, &giving, out);
    for (int k = 0; own && k < lists->nout; k++)
        spmd_block_free(&lists->results[k]); /* those that no leaf has taken over */
    return status;
}

static spmd_status run(spmd_ctx *ctx, spmd_body *fn, void *user, struct lists *lists,
                       spmd_tree **out, const spmd_vmap_options *options)
{
    struct tree_call call = {.body = fn, .user = user, .in = lists->in, .out = structure_of(lists)};
    struct names names = {lists->in, structure_of(lists)};
    TRY(spmd__vmap_call(ctx, fn ? spmd__tree_body : NULL, &call, lists->nin, lists->blocks,
                        lists->in_axes, lists->nout, lists->results, lists->out_axes, options,
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
