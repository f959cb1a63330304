/* spmd/tree_io.h - trees to and from HDF5 files.
 *
 * How a model's parameters are saved, and read again, on as many ranks as there are then:
 *
 *     spmd_file *file;
 *     spmd_file_create(mesh, "model.h5", &file);
 *     spmd_tree_write(file, "params", params);
 *     spmd_file_close(&file);
 *
 *     spmd_file_open(mesh, "model.h5", &file);
 *     spmd_tree_read(file, "params", "{layer1: {w: P(-,model), b: P()}, layer2: P()}", &params);
 *     spmd_file_close(&file);
 *
 * A dict is a group, a list a group of "0", "1", ...; an array or a block is a dataset, a key one
 * of u32[2], an integer a scalar i64, a text a scalar string in UTF-8. So leaf layer1/w of "params"
 * is dataset "params/layer1/w", which any program reads. What the file would not tell by itself
 * stands in the attribute "spmd_kind": "list", "none" (an empty group), "key" or "integer". Without
 * it, in files of others, groups are dicts, numbers arrays, and single strings texts.
 *
 * Calls are as those of spmd/io.h: collective over the file's mesh. A tree that is read is new, for
 * spmd_tree_free. */
#ifndef SPMD_TREE_IO_H
#define SPMD_TREE_IO_H

#include <spmd/io.h>
#include <spmd/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective. Writes a tree to a file that is made or changed, as the new group or dataset `name`.
 * No leaf, it may also be the file itself, "/": a dict beside what the file has, a list or None in
 * an empty one. Arrays lie on the file's mesh; blocks are dense, and every rank has them; the trees
 * of the ranks are the same, or it fails with SPMD_ERR_DISAGREE. A failure half-way spoils the
 * file, as that of spmd_dataset_write does. */
spmd_status spmd_tree_write(spmd_file *file, const char *name, const spmd_tree *tree);

/* Collective. Reads all at `name` ("/": in the file) into a new tree: of arrays, keys, texts and
 * integers (blocks that were written are arrays). `specs` is a prefix tree of specs for the arrays;
 * below a None in it nothing is read, and the tree has None there: "{params: P(), state: None}".
 * A dict in it names all keys that the file's has, those of texts, keys and integers too: what is
 * left out is a failure, and no None.
 * Datasets of records, links that lead nowhere, and names that are no keys of a tree are in the way
 * only where they would be read. On idle ranks the tree is None. */
spmd_status spmd_tree_read(spmd_file *file, const char *name, const char *specs, spmd_tree **tree);

/* What spmd_tree_read_like may do; zeros, or NULL for all of it, say no. */
typedef struct spmd_tree_read_options {
    bool pad; /* an array that is larger than the dataset has zeros behind it, in each dimension */
} spmd_tree_read_options;

/* Collective. Reads what `like` has, into a new tree: each array with the type, shape and sharding
 * of the one that stands there, whatever it had when it was written; blocks whole on every rank, in
 * the tree's own memory; keys, texts and integers. Numbers are converted as spmd_dataset_read
 * does, integers and keys are also read from datasets that are not marked. `like` stays as it is;
 * its values are not looked at.
 *
 * Below a None in `like` nothing is read. Apart from that both have to have the same structure,
 * so that nothing is lost unnoticed: else it fails with SPMD_ERR_ARGUMENT and names the places, as
 * spmd_tree_compare. A shape that differs, or is larger without `pad`, is SPMD_ERR_SHAPE, a type
 * that is not converted SPMD_ERR_DTYPE; before anything is read. On idle ranks the tree is a copy
 * of `like`. */
spmd_status spmd_tree_read_like(spmd_file *file, const char *name, const spmd_tree *like,
                                const spmd_tree_read_options *options, spmd_tree **tree);

#ifdef __cplusplus
}
#endif

#endif
