/* io/kind.h - how a file tells what a group or a dataset is in a tree: its attribute "spmd_kind".
 * Without, groups are dicts, numbers arrays, strings texts: so foreign files are trees as well. */
#ifndef IO_KIND_H
#define IO_KIND_H

#include <spmd/tree.h>

#include "io/file.h"

#define KIND_ATTRIBUTE "spmd_kind"

/* The attribute's text for a kind of node; NULL: it needs none. */
const char *spmd__kind_text(spmd_tree_kind kind);

/* Local. The kind of an opened group or dataset. Fails with SPMD_ERR_FILE for an attribute that
 * says nothing of the sort. */
spmd_status spmd__kind_read(const spmd_file *file, const char *name, hid_t object,
                            spmd_tree_kind *kind);

#endif
