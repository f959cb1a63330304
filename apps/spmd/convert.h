/* convert.h - the parts of spmd convert. */
#ifndef APPS_CONVERT_H
#define APPS_CONVERT_H

#include <spmd.h>

/* The command line: what arrays are to be like. What is not asked for stays as it is. */
struct convert_options {
    const char **operands; /* IN, OUT, names */
    const char *in, *out;
    int nnames;
    const char *const *names; /* [nnames] arrays and groups of them; none: all arrays */
    bool contiguous;          /* neither chunks nor filters */
    spmd_shape chunk;         /* ndim -1: not asked for */
    spmd_sharding *blocks;    /* chunks as large as its largest block; NULL: not asked for */
    int64_t deflate;          /* -1: not asked for */
    bool shuffle, fletcher32, unlimited;
    spmd_dtype dtype; /* SPMD_DTYPE_NONE: not asked for */
    bool force;
};

/* Local. Reads the command line; false with what to exit with. The options are to be freed. */
bool convert_options_parse(int argc, char **argv, struct convert_options *options, int *code);
void convert_options_free(struct convert_options *options);

/* convert_names.c. Local. Numbers are read and written, arrays of them changed; all else goes over
 * as it is. */
bool convert_is_numbers(const spmd_file_entry *entry);
bool convert_is_array(const spmd_file_entry *entry);

/* Local. The entry behind one; what lies behind a link is left out. */
int convert_next(const spmd_file_listing *listing, int index);

/* Local. Whether an array is to be changed: it was named itself, or is one of a group or of a file
 * and is changed as far as it can be. */
enum convert_meaning { CONVERT_NOT, CONVERT_AMONG, CONVERT_NAMED };
enum convert_meaning convert_meaning(const struct convert_options *options, const char *name);

/* Collective. Whether each name means some array of the file. */
spmd_status convert_check_names(const struct convert_options *options, spmd_file *file,
                                const spmd_file_listing *listing);

/* convert_layout.c. Local. Changes type and layout of the dataset `name`, as they are, to what was
 * asked for. Fails with SPMD_ERR_SHAPE or SPMD_ERR_SPEC if the dataset was named, and the chunks do
 * not fit it. */
spmd_status convert_layout(const struct convert_options *options, const char *name,
                           spmd_shape shape, spmd_dtype *dtype, spmd_dataset_options *layout);

/* Local. Whether the chunks fit some array that is meant, if there is one. */
spmd_status convert_check_chunks(const struct convert_options *options,
                                 const spmd_file_listing *listing);

/* convert_pieces.c. Collective over `mesh`, of axis "ranks". Copies the elements of a dataset from
 * one file to another, where it has the same name and shape, and `dtype`. Parts of whole chunks of
 * these extents (0: no chunks) go one after the other, so that a rank holds little at a time. */
spmd_status convert_elements(spmd_mesh *mesh, spmd_file *in, spmd_file *out, const char *name,
                             spmd_dtype dtype, spmd_shape shape, const int64_t chunk[]);

#endif
