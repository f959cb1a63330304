/* map/tree_lists.h - the leaves of trees, as lists for the calls that take arrays. */
#ifndef MAP_TREE_LISTS_H
#define MAP_TREE_LISTS_H

#include "map/tree_body.h"

struct tree_lists {
    int nin, nout;
    const spmd_tree **leaves;   /* [nin] */
    spmd_array **arrays;        /* [nin] of those that are arrays; else NULL */
    struct key_block *keys;     /* [nin] of those that are keys */
    const spmd_block **statics; /* [nin] the blocks of these; else NULL */
    const spmd_block **seen;    /* [nin] for the bodies */
    spmd_tree **places;         /* [nout] the leaves of a tree that is given for the results */
    spmd_array **results;       /* [nout] held by these, or here; NULL: yet to be made */
};

/* Local. The lists of structures. */
spmd_status spmd__tree_lists_make(const spmd_tree *in, const spmd_tree *out,
                                  struct tree_lists *lists);
void spmd__tree_lists_free(struct tree_lists *lists);

/* Local. Takes in the arguments, which have the structure. *digest goes on over what is no array
 * and must be the same on all ranks; NULL: nobody asks. Fails with the path of a leaf that cannot
 * be an argument. */
spmd_status spmd__tree_lists_take(struct tree_lists *lists, const spmd_tree *in, uint64_t *digest);

/* Local. What is wrong with an argument that is no array, where the call would split it. */
spmd_status spmd__tree_lists_fail_split(const struct tree_lists *lists, const spmd_tree *in,
                                        int index, const char *remedy);

/* Local. Takes in the arrays of *out, which has the structure; or none, where that is NULL. */
spmd_status spmd__tree_lists_take_out(struct tree_lists *lists, spmd_tree *const *out);

/* Local. After the call, which ended in `status`: puts the results back where they were, or makes
 * the tree. */
spmd_status spmd__tree_lists_give(struct tree_lists *lists, spmd_status status,
                                  const spmd_tree *structure, spmd_tree **out);

#endif
