/* spmd/tree.h - trees: nested lists and dicts of arrays, with None (JAX's pytrees). What a model's
 * parameters are.
 *
 *     spmd_tree *params;
 *     spmd_tree_create(&params);
 *     spmd_tree_set_array(params, "layer1/w", w1);
 *     spmd_tree_set_array(params, "layer1/b", b1);
 *     spmd_tree_set_array(params, "layer2/w", w2);
 *
 * Leaves are arrays (held), blocks (borrowed: block and data must last as long), random keys, texts
 * and integers. Their order is depth first, dicts by key, whatever the order in which they were
 * set. None is no leaf. At most 64 levels.
 *
 * A node is named by its path: "layer1/w", "0/w", or in JAX's form "['layer1']['w']", "[0]['w']";
 * "" is the tree itself. Keys have 1 to 255 bytes, none of them / [ ] ' " \ or a control character,
 * and are not "." or "..": so the first form is the name of an HDF5 dataset, too.
 *
 * A tree that stands for a larger one, its prefix, has leaves in place of subtrees: each stands for
 * all below it. So specs and axes are given, as texts:
 *
 *     "P()"                                     the same for all leaves
 *     "{layer1: {w: P(-,model), b: P(model)}, layer2: P()}"
 *     "[P(), P(data), None]"                    (a, b) is [a, b]
 *     "[None, 0]", "{w: 0, b: -1}"              axes of a vmap
 *
 * Calls are local unless they say otherwise. They fail with SPMD_ERR_ARGUMENT for NULL, or a path
 * that leads nowhere, with SPMD_ERR_SYNTAX for a text that does not parse, and with
 * SPMD_ERR_MEMORY. */
#ifndef SPMD_TREE_H
#define SPMD_TREE_H

#include <stdio.h>

#include <spmd/array.h>
#include <spmd/random.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_tree spmd_tree;

typedef enum spmd_tree_kind {
    SPMD_TREE_NONE,
    SPMD_TREE_LIST,
    SPMD_TREE_DICT,
    SPMD_TREE_ARRAY, /* the leaves */
    SPMD_TREE_BLOCK,
    SPMD_TREE_KEY,
    SPMD_TREE_TEXT,
    SPMD_TREE_INTEGER
} spmd_tree_kind;

/* A new tree: None. */
spmd_status spmd_tree_create(spmd_tree **tree);

/* Frees the tree, and its holds on arrays; sets it NULL; NULL is accepted. */
void spmd_tree_free(spmd_tree **tree);

/* Another tree of the same leaves; arrays are held once more. */
spmd_status spmd_tree_copy(const spmd_tree *tree, spmd_tree **copy);

/* Sets the node at `path`, in place of what is there: an array (held), a block (borrowed), a key, a
 * text (copied), an integer, None, an empty list or dict, or the copy of another tree. Dicts on the
 * way are made, and None becomes a dict; before the index 0 a list: "0/w" or "[0]['w']" begins one,
 * and the next index appends to it. Fails with SPMD_ERR_ARGUMENT where a leaf is in the way. */
spmd_status spmd_tree_set_array(spmd_tree *tree, const char *path, spmd_array *array);
spmd_status spmd_tree_set_block(spmd_tree *tree, const char *path, const spmd_block *block);
spmd_status spmd_tree_set_key(spmd_tree *tree, const char *path, spmd_key key);
spmd_status spmd_tree_set_text(spmd_tree *tree, const char *path, const char *text);
spmd_status spmd_tree_set_integer(spmd_tree *tree, const char *path, int64_t integer);
spmd_status spmd_tree_set_none(spmd_tree *tree, const char *path);
spmd_status spmd_tree_set_list(spmd_tree *tree, const char *path);
spmd_status spmd_tree_set_dict(spmd_tree *tree, const char *path);
spmd_status spmd_tree_set_tree(spmd_tree *tree, const char *path, const spmd_tree *subtree);

/* The node at `path`, or the leaf there. Borrowed: valid until the tree is freed, or something is
 * set there or above. Fails with SPMD_ERR_ARGUMENT for a leaf of another kind. */
spmd_status spmd_tree_get(const spmd_tree *tree, const char *path, const spmd_tree **node);
spmd_status spmd_tree_get_array(const spmd_tree *tree, const char *path, spmd_array **array);
spmd_status spmd_tree_get_block(const spmd_tree *tree, const char *path, const spmd_block **block);
spmd_status spmd_tree_get_key(const spmd_tree *tree, const char *path, spmd_key *key);
spmd_status spmd_tree_get_text(const spmd_tree *tree, const char *path, const char **text);
spmd_status spmd_tree_get_integer(const spmd_tree *tree, const char *path, int64_t *integer);

/* What a node is. How many children it has, and the first, second, ... of them with its key (NULL
 * in a list; `key` may be NULL); NULL if out of range. */
spmd_tree_kind spmd_tree_kind_of(const spmd_tree *node);
int spmd_tree_count(const spmd_tree *node);
const spmd_tree *spmd_tree_child(const spmd_tree *node, int index, const char **key);

/* How many leaves there are; the first `capacity` of them, in order, and how many there are. */
int spmd_tree_nleaves(const spmd_tree *tree);
int spmd_tree_flatten(const spmd_tree *tree, int capacity, const spmd_tree *leaves[]);

/* The path of leaf `index`, as snprintf does: "layer1/w"; and in JAX's form (its keystr):
 * "['layer1']['w']". -1 if there is no such leaf. */
int spmd_tree_path(char *buffer, size_t size, const spmd_tree *tree, int index);
int spmd_tree_keystr(char *buffer, size_t size, const spmd_tree *tree, int index);

/* A tree of the structure of another one, with other leaves [count]: arrays (held), or copies of
 * any trees. Fails with SPMD_ERR_ARGUMENT if there are more or fewer than the structure has. */
spmd_status spmd_tree_unflatten(const spmd_tree *structure, int count,
                                const spmd_tree *const leaves[], spmd_tree **tree);
spmd_status spmd_tree_unflatten_arrays(const spmd_tree *structure, int count,
                                       spmd_array *const arrays[], spmd_tree **tree);

/* What becomes of a leaf, in a map: `leaves` [ntrees] are those that stand at `path`, one of each
 * tree; `result` is a new tree, to be set at "". A failure ends the map. */
typedef spmd_status spmd_tree_fn(const spmd_tree *const leaves[], const char *path,
                                 spmd_tree *result, void *user);

/* A tree of what `fn` makes of each leaf of trees [ntrees] of the same structure, in order. Does
 * what fn does: with collective calls in it, it is one. Fails as spmd_tree_compare and as fn does.
 */
spmd_status spmd_tree_map(int ntrees, const spmd_tree *const trees[], spmd_tree_fn *fn, void *user,
                          spmd_tree **result);

/* Whether two trees have the same structure, whatever their leaves are. Compare fails with
 * SPMD_ERR_ARGUMENT, and a message that counts the differences, and names each by its path:
 *
 *     a differs from b, in 2 places: a['w'] is a list of 2, b['w'] is a list of 3; ... */
bool spmd_tree_equal(const spmd_tree *a, const spmd_tree *b);
spmd_status spmd_tree_compare(const spmd_tree *a, const spmd_tree *b);

/* For each leaf of `tree`, what of `prefix` stands for it: a leaf, or None. Fails with
 * SPMD_ERR_ARGUMENT if it is no prefix, as spmd_tree_compare tells. */
spmd_status spmd_tree_broadcast(const spmd_tree *prefix, const spmd_tree *tree,
                                const spmd_tree *leaves[] /* [leaves of tree] */);

/* Reads a tree of specs, whose leaves are texts; of axes, whose leaves are integers. The specs
 * themselves are not read: that needs a mesh. Fails with the column. */
spmd_status spmd_tree_parse_specs(const char *text, spmd_tree **tree);
spmd_status spmd_tree_parse_axes(const char *text, spmd_tree **tree);

/* Writes the tree as a text, as snprintf does: "{b: f32[4], w: f32[8@x,4]}", "[P(x), None]". */
int spmd_tree_format(char *buffer, size_t size, const spmd_tree *tree);

/* Prints a line for each leaf and each None, with its path; control characters of a text as "\n",
 * "\x1b":
 *
 *     layer1/b  f32[4]
 *     layer1/w  f32[8@x,4]
 *
 * Each rank that calls it prints. Fails with SPMD_ERR_FILE. */
spmd_status spmd_tree_print(const spmd_tree *tree, FILE *stream);

/* Collective over `mesh`, and the meshes of arrays in `tree`. Places each leaf on the mesh under a
 * prefix tree of specs: blocks are host arrays (dense; every rank has them), of which each rank
 * keeps its part; arrays are resharded, or held once more where they lie so; other leaves go along.
 * A spec None leaves an array as it is, and is P() for a block. Fails as spmd_device_put and
 * spmd_reshard_to, with SPMD_ERR_DISAGREE if the ranks' trees differ; the message names the leaf.
 */
spmd_status spmd_tree_device_put(const spmd_tree *tree, spmd_mesh *mesh, const char *specs,
                                 spmd_tree **out);

/* Collective. The same for a tree of arrays, each on the mesh where it is. */
spmd_status spmd_tree_reshard(const spmd_tree *tree, const char *specs, spmd_tree **out);

#ifdef __cplusplus
}
#endif

#endif
