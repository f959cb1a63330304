/* spmd/object.h - the objects of HDF5 files, groups and datasets, whoever wrote them: listed, and
 * copied from file to file.
 *
 * Calls are as those of spmd/io.h: collective over the file's mesh. What an object is called in a
 * tree is told in spmd/tree_io.h. */
#ifndef SPMD_OBJECT_H
#define SPMD_OBJECT_H

#include <spmd/io.h>
#include <spmd/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A group or a dataset of a file. */
typedef struct spmd_file_entry {
    /* In the file, as other calls take it: "params/layer1/w". */
    char *name;
    /* Of a group SPMD_TREE_DICT, _LIST or _NONE; of a dataset SPMD_TREE_ARRAY, _KEY, _INTEGER or
     * _TEXT. What cannot be read is an array, with the reason, as the message of a failure. */
    spmd_tree_kind kind;
    char *problem; /* NULL: it can be read */
    char *link;    /* where the name leads, if it is a soft or an external link; or NULL */

    /* Of a dataset; else NULL and zeros. */
    char *elements;               /* "f32", "text", "records" */
    spmd_dtype dtype;             /* SPMD_DTYPE_NONE: none of ours */
    spmd_shape shape;             /* a scalar where it can be none of ours */
    char *layout;                 /* "contiguous", "chunks 64x64, shuffle, deflate 4" */
    int64_t stored;               /* bytes that its elements take in the file */
    char *sharding;               /* "f32[8@x,4]", as it was written by this library; or NULL */
    bool checksum;                /* its elements have one, which reading all of them compares */
    spmd_dataset_options options; /* to make one like it; without filters that are none of these */
} spmd_file_entry;

typedef struct spmd_file_listing {
    int64_t step; /* of a checkpoint; -1: the file is none */
    int count;
    spmd_file_entry *entry; /* [count] */
} spmd_file_listing;

/* Collective. Lists what is in the group `name` and below, a group before what it has, in the order
 * of trees; or the one dataset of that name; all of the file for "/". Elements are not read, and
 * what cannot be read is no failure: its entry tells. The same on all ranks, and empty on idle
 * ones. Free it with spmd_file_listing_free. */
spmd_status spmd_file_list(spmd_file *file, const char *name, spmd_file_listing **listing);

/* Local. Sets *listing to NULL; NULL is accepted. */
void spmd_file_listing_free(spmd_file_listing **listing);

/* Collective over both files' mesh. Makes in a new file, under its name, what another file has
 * there, with its attributes: a group, without what is in it; a dataset of any type, as it lies in
 * the file; a link, whatever it leads to. Groups in the name are made. */
spmd_status spmd_object_copy(spmd_file *from, const char *name, spmd_file *to);

/* Collective over both files' mesh. Gives an object of a new file ("/": the file) the attributes
 * that it has in another file, in place of its own. References are left out, since what they lead
 * to is in the other file; and where the element types differ, the checksum. */
spmd_status spmd_attributes_copy(spmd_file *from, const char *name, spmd_file *to);

#ifdef __cplusplus
}
#endif

#endif
