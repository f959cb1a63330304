/* io/survey.h - what lies below a name in a file, as a tree. Its leaves are datasets that are not
 * read yet, and what cannot be read: that is told only if somebody wants it. */
#ifndef IO_SURVEY_H
#define IO_SURVEY_H

#include <spmd/tree.h>

#include "core/tree.h"
#include "io/description.h"

/* What a leaf of the tree stands for. */
struct stored {
    spmd_tree_kind kind;      /* SPMD_TREE_ARRAY, _KEY, _TEXT or _INTEGER */
    struct description about; /* of what is no text */
    char *problem;            /* why it cannot be read; NULL: it can */
};

struct survey {
    spmd_tree *tree;
    int count, capacity;
    struct stored *stored; /* [count] by the leaves' integers */
};

/* Collective, no agreement. Looks at the group or dataset at `name`, "/" for the whole file, and
 * all below. Fails where nothing is there, or too much. On success free it. */
spmd_status spmd__survey_make(const spmd_file *file, const char *name, struct survey *survey);
void spmd__survey_free(struct survey *survey);

/* What a leaf stands for; NULL: the node is none. */
const struct stored *spmd__survey_leaf(const struct survey *survey, const spmd_tree *node);

/* The name of what lies in the group at `name`: the child of a node of its tree. The caller frees
 * it. */
spmd_status spmd__survey_child_name(const char *name, const spmd_tree *node, int index,
                                    char **child);

#endif
