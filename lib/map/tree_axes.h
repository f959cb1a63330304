/* map/tree_axes.h - which dimension of each leaf is mapped: prefix trees of axes, spread. */
#ifndef MAP_TREE_AXES_H
#define MAP_TREE_AXES_H

#include "core/tree.h"

struct tree_axes {
    spmd_tree *in_prefix, *out_prefix; /* as they were read; None in the second may be a leaf */
    const spmd_tree *structure;        /* of the results */
    int *in, *out;                     /* for each leaf: a dimension, or SPMD_NOT_MAPPED */
};

/* Local. Reads both texts for arguments `in`, and results `out`. Where that is NULL, the results
 * have the structure of out_axes, in which a None stands for a result, too: one that is not mapped.
 * Free it in any case. */
spmd_status spmd__tree_axes_read(const char *in_axes, const spmd_tree *in, const char *out_axes,
                                 const spmd_tree *out, struct tree_axes *axes);
void spmd__tree_axes_free(struct tree_axes *axes);

#endif
