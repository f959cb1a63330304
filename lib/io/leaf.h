/* io/leaf.h - datasets as new leaves of a tree. */
#ifndef IO_LEAF_H
#define IO_LEAF_H

#include "core/tree.h"
#include "io/file.h"

/* All are collective: what they read ends in an agreement. An array under `spec`, with the
 * dataset's own type and shape. */
spmd_status spmd__leaf_read_array(spmd_file *file, const char *name, const char *spec,
                                  spmd_tree **leaf);

/* An array, or a block that is whole on every rank, with the type of another one. The dataset is
 * of shape `stored`, and if it is smaller has zeros behind it. */
spmd_status spmd__leaf_read_array_like(spmd_file *file, const char *name, spmd_shape stored,
                                       const spmd_array *like, spmd_tree **leaf);
spmd_status spmd__leaf_read_block_like(spmd_file *file, const char *name, spmd_shape stored,
                                       const spmd_block *like, spmd_tree **leaf);

/* Values, from datasets that hold such ones. */
spmd_status spmd__leaf_read_key(spmd_file *file, const char *name, spmd_tree **leaf);
spmd_status spmd__leaf_read_integer(spmd_file *file, const char *name, spmd_tree **leaf);
spmd_status spmd__leaf_read_text(const spmd_file *file, const char *name, spmd_tree **leaf);

#endif
