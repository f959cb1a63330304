/* io/tree_reading.h - what is the same in all ways to read a tree: the file is surveyed, what is
 * asked for is held against that, and then what was found is read, leaf by leaf. */
#ifndef IO_TREE_READING_H
#define IO_TREE_READING_H

#include "io/survey.h"
#include "io/tree.h"

struct tree_reading;

/* Local. Whether what is asked for as a whole fits the tree in the file, whose name in messages is
 * `what`. */
typedef spmd_status tree_match_fn(const struct tree_reading *reading, const char *what);

/* Local. Whether a leaf can be read as it is asked for; NULL: always. */
typedef spmd_status tree_check_fn(const struct tree_reading *reading, const char *name,
                                  const spmd_tree *asked, const struct stored *stored);

/* Collective, with an agreement. Reads the leaf at `name`. */
typedef spmd_status tree_read_fn(const struct tree_reading *reading, const char *name,
                                 const spmd_tree *asked, const struct stored *stored,
                                 spmd_tree **leaf);

struct tree_reading {
    spmd_file *file;
    const char *name;       /* in the file */
    const spmd_tree *asked; /* with leaves for leaves, or for all below; None: is not read */
    tree_match_fn *match;
    tree_check_fn *check;
    tree_read_fn *read;
    bool pad;
    struct survey survey;
};

/* Local. The arguments that all ways have in common. */
spmd_status spmd__tree_reading_begin(struct tree_reading *reading, const char *name,
                                     spmd_tree *const *tree);

/* Collective. All the rest, behind the agreement on arguments. */
spmd_status spmd__tree_reading_run(struct tree_reading *reading, spmd_tree **tree);

#endif
