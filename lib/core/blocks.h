/* core/blocks.h - the distinct blocks of an array under a layout, and who holds them.
 *
 * Nothing here asks all positions, or costs more for larger meshes. */
#ifndef CORE_BLOCKS_H
#define CORE_BLOCKS_H

#include "core/layout.h"

/* How one dimension is split. */
struct split {
    struct axis_list axes; /* along which axes, major first */
    int64_t parts;         /* ranges that it is cut into, the empty ones too */
    int64_t ranges;        /* those that are not empty */
};

struct blocks {
    const struct axes *axes; /* borrowed */
    const struct spec *spec;
    spmd_shape shape; /* global */
    int64_t ranks;
    int64_t count;            /* distinct blocks that are not empty */
    int64_t replicas;         /* positions that hold each of them */
    struct axis_list repeats; /* the axes along which blocks repeat, in mesh order */
    struct split split[SPMD_MAX_DIMS];
};

/* Of a layout that spmd__layout_check has passed. Fails with SPMD_ERR_SHAPE for more than 2^63 - 1
 * elements. */
spmd_status spmd__blocks_find(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                              struct blocks *blocks);

/* Extents of the largest block, and of the smallest one that is not empty. */
spmd_shape spmd__blocks_largest(const struct blocks *blocks);
spmd_shape spmd__blocks_smallest(const struct blocks *blocks);

/* The lowest position that holds the block at `index` [ndim]. */
int64_t spmd__blocks_owner(const struct blocks *blocks, const int64_t index[]);

/* What is shown of a dimension: the range lo:hi, number `index` of those that are not empty; or a
 * gap, where some are left out. */
struct track {
    bool gap;
    int64_t index;
    int64_t lo, hi;
};

/* The ranges of dimension `dim`, at most `most` of them, by leaving out the middle; gives their
 * number. Dimension -1, the rows of a vector, has the one range 0:1. */
int spmd__blocks_tracks(const struct blocks *blocks, int dim, int most, struct track track[]);

/* Pictures show the last two dimensions. The number of their slices, one for each range of the
 * leading dimensions, row-major; and the `index` [ndim] of a slice, 0 in the last two. */
int64_t spmd__blocks_slices(const struct blocks *blocks);
void spmd__blocks_slice(const struct blocks *blocks, int64_t slice, int64_t index[]);

/* The slice that is shown after `slice`: of more than `most` the middle is left out. */
int64_t spmd__blocks_next_slice(const struct blocks *blocks, int64_t slice, int most);

/* Writes where the slice lies: "[0:2, :, :]". */
void spmd__blocks_print_slice(struct text *text, const struct blocks *blocks,
                              const int64_t index[]);

/* Writes which positions hold the block at `index` [ndim], as "0-3,8-11". The list is elided, as in
 * "0-3,...,56-59", where it would be longer than `width`; never below its first and last. */
void spmd__blocks_holders(const struct blocks *blocks, const int64_t index[], int width,
                          char *buffer, size_t size);

#endif
