/* array/tree.h - the leaves of trees that core does not know. See spmd/tree.h. */
#ifndef ARRAY_TREE_H
#define ARRAY_TREE_H

#include <spmd/tree.h>

#include "core/tree.h"

/* An array, held; a block, borrowed; one that is the tree's, with its data, as spmd_vmap makes it.
 * Copies of the last have copies of the data. */
extern const struct leaf_kind spmd__leaf_array, spmd__leaf_block, spmd__leaf_own_block;

/* The array or the block of a leaf; NULL if that is something else, or no leaf. */
spmd_array *spmd__tree_array(const spmd_tree *node);
const spmd_block *spmd__tree_block(const spmd_tree *node);

/* Local. New leaves: an array, held once more; a block. */
spmd_status spmd__tree_make_array(spmd_array *array, spmd_tree **leaf);
spmd_status spmd__tree_make_block(const spmd_block *block, spmd_tree **leaf);

/* Fails with the status and the message of a failure, about leaf `index` of a tree that is called
 * `name`: "in['layer1']['w']: ...". */
spmd_status spmd__tree_fail_leaf(spmd_status status, const char *name, const spmd_tree *tree,
                                 int index);

/* What a failed agreement is about, on all ranks alike. */
spmd_status spmd__tree_agree(spmd_mesh *mesh, spmd_status status, uint64_t digest);

#endif
