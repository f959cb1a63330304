/* core/tree.h - trees: nested lists and dicts of leaves, with None, as JAX's pytrees. What a leaf
 * is only its kind knows. Everything here is local. */
#ifndef CORE_TREE_H
#define CORE_TREE_H

#include <spmd/random.h>

#include "core/error.h"
#include "core/text.h"

typedef struct spmd_tree spmd_tree;

enum tree_kind { TREE_NONE, TREE_LIST, TREE_DICT, TREE_LEAF };

/* Trees are read by recursion: this keeps it from running out of stack. */
enum { TREE_MAX_DEPTH = 64, TREE_MAX_KEY = 255 };

/* The value of a leaf. */
union leaf {
    void *pointer;
    int64_t integer;
    spmd_key key;
};

struct leaf_kind {
    const char *what;                       /* "an array", for messages */
    spmd_status (*hold)(union leaf *value); /* of a copy: makes it its own; NULL: it is */
    void (*release)(union leaf *value);     /* NULL: nothing to do */
    void (*print)(struct text *text, const union leaf *value);
};

/* Leaves that need nothing but core: a string of its own, a number, a random key. */
extern const struct leaf_kind spmd__leaf_text, spmd__leaf_integer, spmd__leaf_key;

/* A node, and all below it. */
struct spmd_tree {
    enum tree_kind kind;
    const struct leaf_kind *leaf; /* of a leaf */
    union leaf value;             /* of a leaf */
    int count, capacity;          /* of a list or a dict */
    char **key;                   /* [count] of a dict, in strcmp's order */
    spmd_tree **child;            /* [count] */
};

/* A new None, empty list or empty dict; a new leaf, which takes `value` over, also on failure. */
spmd_status spmd__tree_make(enum tree_kind kind, spmd_tree **tree);
spmd_status spmd__tree_make_leaf(const struct leaf_kind *kind, union leaf value, spmd_tree **tree);
void spmd__tree_free(spmd_tree **tree);

/* Another tree of the same leaves, held once more. */
spmd_status spmd__tree_copy(const spmd_tree *tree, spmd_tree **copy);

/* Puts what is in *from in place of what is in `to`; *from is gone. */
void spmd__tree_replace(spmd_tree *to, spmd_tree **from);

/* Puts a new child at the end of a list (key NULL), or into a dict that has no such key; takes it
 * over, also on failure. */
spmd_status spmd__tree_add(spmd_tree *parent, const char *key, spmd_tree **child);

/* The number of a dict's child; -1 if it has none of that key. */
int spmd__tree_find(const spmd_tree *dict, const char *key);

/* How many levels there are: 1 for a leaf, None, or an empty list. */
int spmd__tree_depth(const spmd_tree *tree);

/* Leaves in order: depth first, dicts by key. None is none. Flatten writes the first `capacity`,
 * and returns how many there are. */
int spmd__tree_nleaves(const spmd_tree *tree);
int spmd__tree_flatten(const spmd_tree *tree, int capacity, const spmd_tree *leaves[]);

/* A tree of the same structure; `make` gives its leaves, in order, for those that are there. */
typedef spmd_status tree_make_leaf(const spmd_tree *old, int index, void *user, spmd_tree **leaf);
spmd_status spmd__tree_unflatten(const spmd_tree *structure, tree_make_leaf *make, void *user,
                                 spmd_tree **tree);

/* A digest of the structure: two trees have the same if they differ in their leaves alone. */
uint64_t spmd__tree_digest(const spmd_tree *tree);

/* What a node is, for messages: "None", "a list of 2", "a dict of b, w", "an array". */
void spmd__tree_describe(struct text *text, const spmd_tree *tree);

/* A list of keys, "b, w": each with its number in the list, then how many there are. Of many only
 * the first ones are written: "a, b, c, d, e, f, g, h and 18 more". */
void spmd__tree_list_key(struct text *text, int nth, const char *key);
void spmd__tree_list_end(struct text *text, int count);

#endif
