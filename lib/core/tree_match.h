/* core/tree_match.h - whether two trees fit each other, and a report of all places where not. */
#ifndef CORE_TREE_MATCH_H
#define CORE_TREE_MATCH_H

#include "core/tree.h"

/* Whether both have the same structure, whatever their leaves are. Fails with SPMD_ERR_ARGUMENT;
 * the message counts and lists the places, by `a_name` and `b_name` with their paths. */
spmd_status spmd__tree_compare(const spmd_tree *a, const char *a_name, const spmd_tree *b,
                               const char *b_name);

/* Whether `prefix` is `tree` with leaves, or None, in place of some of its nodes: these stand for
 * all below. Gives for each leaf of `tree` the leaf of the prefix, or the None, that stands for it.
 * Fails as spmd__tree_compare. */
spmd_status spmd__tree_broadcast(const spmd_tree *prefix, const char *prefix_name,
                                 const spmd_tree *tree, const char *tree_name,
                                 const spmd_tree *leaves[] /* [leaves of tree] */);

/* Whether `tree` has what `wanted` asks for: the same structure, and leaves that fit those that
 * stand there. A None of `wanted` asks for nothing. Fails as spmd__tree_compare. */
typedef bool tree_leaf_fits(const spmd_tree *wanted, const spmd_tree *leaf, void *user);
spmd_status spmd__tree_fit(const spmd_tree *wanted, const char *wanted_name, const spmd_tree *tree,
                           const char *tree_name, tree_leaf_fits *fits, void *user);

#endif
