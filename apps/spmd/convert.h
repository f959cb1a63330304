/* convert.h - the parts of spmd convert. */
#ifndef APPS_CONVERT_H
#define APPS_CONVERT_H

#include <spmd.h>

/* The command line: what arrays are to be like. What is not asked for stays as it is. */
struct convert_options {
    const char **operands; /* IN, OUT, names */
    const char *in, *out;
    int nnames;
    const char *const *names; /* [nnames] the datasets that are meant; none: all that are arrays */
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

/* convert_layout.c. Local. Changes type and layout of the dataset `name`, as they are, to what was
 * asked for. Fails with SPMD_ERR_SHAPE or SPMD_ERR_SPEC if the dataset was named, and the chunks do
 * not fit it. */
spmd_status convert_layout(const struct convert_options *options, const char *name,
                           spmd_shape shape, spmd_dtype *dtype, spmd_dataset_options *layout);

/* convert_pieces.c. Collective over `mesh`, of axis "ranks". Copies the elements of a dataset from
 * one file to another, where it has the same name and shape, and `dtype`. Parts of whole chunks of
 * these extents (0: no chunks) go one after the other, so that a rank holds little at a time. */
spmd_status convert_elements(spmd_mesh *mesh, spmd_file *in, spmd_file *out, const char *name,
                             spmd_dtype dtype, spmd_shape shape, const int64_t chunk[]);

#endif
