/* io/unfilter.h - what HDF5's filters have made of a chunk, undone without HDF5. */
#ifndef IO_UNFILTER_H
#define IO_UNFILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Those that can be undone here; deflate where there is zlib. */
enum filter { FILTER_DEFLATE, FILTER_SHUFFLE, FILTER_FLETCHER32 };

enum { FILTERS_MOST = 8 };

/* What fletcher32 adds to a chunk. */
enum { CHECKSUM_BYTES = 4 };

/* In the order in which they were applied. */
struct filters {
    int count;
    enum filter filter[FILTERS_MOST];
    size_t element; /* bytes, of shuffle */
};

/* A chunk on its way: the bytes in `data`, of two memories of `room` bytes that change roles. */
struct chunk_data {
    unsigned char *data, *spare;
    size_t bytes, room;
};

/* Undoes the filters but those whose bit is in `skipped`. Gives NULL, or what is wrong. */
const char *spmd__unfilter(const struct filters *filters, unsigned skipped,
                           struct chunk_data *chunk);

#endif
