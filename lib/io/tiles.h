/* io/tiles.h - a box of an array cut along the chunks of the dataset that it goes to. */
#ifndef IO_TILES_H
#define IO_TILES_H

#include <spmd/io.h>

struct tiles {
    spmd_box box;
    int64_t step[SPMD_MAX_DIMS];
    int64_t first[SPMD_MAX_DIMS]; /* where the first tile begins: at box.lo, or before */
    int64_t count[SPMD_MAX_DIMS];
    int64_t total; /* 0 if the box is empty */
};

/* Cuts `box`, of the array that `slab` of a dataset is, into tiles of at most `limit` bytes, if one
 * element is no more. Their edges are those of chunks, as far as that goes. */
struct tiles spmd__tiles_cut(const spmd_hyperslab *slab, const int64_t chunk[], const spmd_box *box,
                             size_t element, int64_t limit);

/* The tile of this index below `total`. */
spmd_box spmd__tiles_get(const struct tiles *tiles, int64_t index);

#endif
