/* io/tree.h - what calls on trees in files have in common. */
#ifndef IO_TREE_H
#define IO_TREE_H

#include <spmd/tree_io.h>

#include "core/tree.h"
#include "io/file.h"

/* Local. Checks the name of a tree in a file, and gives it as HDF5 has it: "/" for "". */
spmd_status spmd__tree_name(const char *name, const char **in_file);

/* Local. That arrays in a tree lie on the file's mesh, and blocks are dense. Messages call the tree
 * `what`. */
spmd_status spmd__tree_check_data(const spmd_file *file, const spmd_tree *tree, const char *what);

/* A digest of structure, leaves and, but for arrays and blocks, values. */
uint64_t spmd__tree_digest_leaves(const spmd_tree *tree);

#endif
