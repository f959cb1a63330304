/* map/tree_axes.c - which dimension of each leaf is mapped: prefix trees of axes, spread. */
#include "map/tree_axes.h"

#include <stdlib.h>

#include <spmd/map.h>

#include "core/mem.h"
#include "core/tree_match.h"
#include "core/tree_text.h"

/* Makes each None a leaf. */
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

/* The axis of each leaf of `tree`. */
static spmd_status spread(const spmd_tree *prefix, const char *prefix_name, const spmd_tree *tree,
                          const char *tree_name, int **axes)
{
    int count = spmd__tree_nleaves(tree);
    const spmd_tree **leaves;
    TRY(spmd__alloc((size_t)count, sizeof **axes, axes));
    TRY(spmd__alloc((size_t)count, sizeof *leaves, &leaves));
    spmd_status status = spmd__tree_broadcast(prefix, prefix_name, tree, tree_name, leaves);
    for (int k = 0; status == SPMD_OK && k < count; k++)
        (*axes)[k] = leaves[k]->kind == TREE_NONE ? SPMD_NOT_MAPPED : (int)leaves[k]->value.integer;
    free(leaves);
    return status;
}

spmd_status spmd__tree_axes_read(const char *in_axes, const spmd_tree *in, const char *out_axes,
                                 const spmd_tree *out, struct tree_axes *axes)
{
    TRY(spmd__tree_parse_axes(in_axes, "in_axes", &axes->in_prefix));
    TRY(spmd__tree_parse_axes(out_axes, "out_axes", &axes->out_prefix));
    if (!out)
        fill_none(axes->out_prefix);
    axes->structure = out ? out : axes->out_prefix;
    TRY(spread(axes->in_prefix, "in_axes", in, "in", &axes->in));
    return spread(axes->out_prefix, "out_axes", axes->structure, "out", &axes->out);
}

void spmd__tree_axes_free(struct tree_axes *axes)
{
    spmd__tree_free(&axes->in_prefix);
    spmd__tree_free(&axes->out_prefix);
    free(axes->in);
    free(axes->out);
}
