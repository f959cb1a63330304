/* core/tree_path.h - the way to a node of a tree, as a text: "layer1/w/0" or JAX's
 * "['layer1']['w'][0]"; "" is the tree itself.
 *
 * A key is 1 to 255 bytes, none of them / [ ] ' " \ or a control character, and not "." or "..": so
 * each path has one meaning, and the first form is the name of an HDF5 dataset. */
#ifndef CORE_TREE_PATH_H
#define CORE_TREE_PATH_H

#include "core/tree.h"

/* Where a walk over a tree stands: a child of what stands above. NULL: the tree itself. */
struct tree_step {
    const struct tree_step *up;
    const char *key; /* NULL: a list's child */
    int index;
};

/* The step to child `index` of `parent`. */
struct tree_step spmd__tree_step(const struct tree_step *up, const spmd_tree *parent, int index);

/* Writes the path in either form. */
void spmd__tree_path_plain(struct text *text, const struct tree_step *at);
void spmd__tree_path_jax(struct text *text, const struct tree_step *at);

/* The path of leaf `index` in either form: a function of the two above. The tree has such a leaf.
 */
typedef void tree_path_form(struct text *text, const struct tree_step *at);
void spmd__tree_leaf_path(struct text *text, const spmd_tree *tree, int index,
                          tree_path_form *form);

/* Fails with SPMD_ERR_ARGUMENT for what cannot be a key. */
spmd_status spmd__tree_check_key(const char *key, size_t length);

/* The node at `path`. *leaf, if asked for, is the number of leaves before it. Fails with
 * SPMD_ERR_SYNTAX or, if there is no such node, SPMD_ERR_ARGUMENT. */
spmd_status spmd__tree_at(const spmd_tree *tree, const char *path, const spmd_tree **node,
                          int *leaf);

/* Puts *value at `path`, in place of what is there, and takes it over, also on failure. What is
 * missing on the way is made, and a None there becomes a dict; before the index 0 a list. A list
 * may grow by one. Fails as spmd__tree_at, and with SPMD_ERR_ARGUMENT where a leaf is in the way.
 */
spmd_status spmd__tree_put(spmd_tree *tree, const char *path, spmd_tree **value);

#endif
