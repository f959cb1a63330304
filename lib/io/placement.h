/* io/placement.h - where the rows of a dataset stand in its file, and how they are read without
 * HDF5: also in a thread beside the one that uses HDF5.
 *
 * A contiguous dataset is one chunk of the whole. */
#ifndef IO_PLACEMENT_H
#define IO_PLACEMENT_H

#include "io/file.h"
#include "io/unfilter.h"

/* A chunk as it is stored. */
struct chunk {
    int64_t offset;   /* in the file; -1: it is not there, its elements are the fill value */
    size_t bytes;     /* with filters, fewer or more than it has */
    unsigned skipped; /* a bit for each filter that was not applied to it */
};

/* More than so many chunks are not asked for: HDF5 1.10 goes through all of them for each. */
enum { PLACEMENT_MOST_CHUNKS = 4096 };

struct placement {
    const char *path, *name; /* borrowed, for messages */
    spmd_shape shape;
    int file;    /* HDF5's own descriptor: stays open as long as the dataset; -1: there is none */
    bool direct; /* it can be read so; if not, nothing below is to be used */
    size_t element;       /* bytes */
    spmd_shape extent;    /* of a chunk */
    spmd_shape grid;      /* chunks along each dimension */
    struct chunk *chunks; /* [grid], row-major */
    struct filters filters;
    void *fill; /* an element */
};

/* Local. Looks where a dataset of `shape`, of at least one dimension, is stored. It may be of any
 * layout. */
spmd_status spmd__placement_open(const spmd_file *file, const char *name, hid_t dataset,
                                 spmd_shape shape, struct placement *placement);
void spmd__placement_close(struct placement *placement);

/* A row, and as the how manieth it is wanted. */
struct wanted {
    int64_t row;
    int64_t to;
};

/* What of a row stands in a block: its dimensions behind the first one. */
spmd_box spmd__placement_part(const spmd_block *block);

/* Local, of the thread: reads of each row [count], in ascending order, the box `part` of the
 * dimensions behind the first one: dense, to its place in `data`. Each chunk is read once. */
spmd_status spmd__placement_read(const struct placement *placement, int64_t count,
                                 const struct wanted rows[], const spmd_box *part, void *data);

#endif
