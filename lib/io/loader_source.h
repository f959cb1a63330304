/* io/loader_source.h - a dataset that a loader takes batches from. */
#ifndef IO_LOADER_SOURCE_H
#define IO_LOADER_SOURCE_H

#include "io/placement.h"

struct source {
    char *name;
    spmd_sharding *sharding; /* of a batch */
    spmd_dtype dtype;        /* of a batch; until it is open, NONE stands for the file's */
    spmd_shape shape;        /* of the dataset */
    int64_t chunk_rows;      /* 0: it has no chunks */
    hid_t dataset;
    hid_t stored;  /* the type of its elements */
    bool converts; /* that is not the one of the batch */
    struct placement placement;
    int64_t file_bytes; /* when it was opened */
};

/* Local. One that is not open: a name, and how its batches lie. */
spmd_status spmd__source_make(spmd_mesh *mesh, const char *name, const char *spec, spmd_dtype dtype,
                              struct source *source);
spmd_status spmd__source_open(const spmd_file *file, struct source *source);
void spmd__source_close(struct source *source);

/* Local. The shape of a batch of so many rows. */
spmd_shape spmd__source_batch(const struct source *source, int64_t rows);

/* Local. Reads rows [count], in ascending order, to their places in a block of a batch, which is
 * not empty, by HDF5. */
spmd_status spmd__source_read(const spmd_file *file, const struct source *source, int64_t count,
                              const struct wanted rows[], const spmd_block *block);

#endif
