/* blocks.h - the distinct blocks of an array under a sharding, and who holds them.
 *
 * Nothing here asks all ranks, or costs more for larger meshes. */
#ifndef APPS_BLOCKS_H
#define APPS_BLOCKS_H

#include <spmd.h>

/* How one dimension is split. */
struct split {
    int naxes;
    int axis[SPMD_MAX_AXES]; /* [naxes] along which axes, major first */
    int64_t parts;           /* ranges that it is cut into, the empty ones too */
    int64_t ranges;          /* those that are not empty */
};

struct blocks {
    const spmd_sharding *sharding; /* borrowed */
    spmd_shape shape;              /* global */
    int64_t ranks;
    int64_t count;    /* distinct blocks that are not empty */
    int64_t replicas; /* ranks that hold each of them */
    int naxes;
    int64_t size[SPMD_MAX_AXES];    /* [naxes] of the mesh axes */
    int64_t stride[SPMD_MAX_AXES];  /* [naxes] positions between neighbours along them */
    bool replicated[SPMD_MAX_AXES]; /* [naxes] axes along which blocks repeat */
    struct split split[SPMD_MAX_DIMS];
};

/* Fails as spmd_sharding_check, or with SPMD_ERR_SHAPE for more than 2^63 - 1 elements. */
spmd_status blocks_find(const spmd_sharding *sharding, spmd_shape shape, struct blocks *blocks);

/* Dimension `dim` of the blocks whose index along it is `index`, among the `ranges` that are not
 * empty. */
struct span {
    int64_t lo, hi;
};
struct span blocks_range(const struct blocks *blocks, int dim, int64_t index);

/* Extents of the largest block, and of the smallest one that is not empty. */
spmd_shape blocks_largest(const struct blocks *blocks);
spmd_shape blocks_smallest(const struct blocks *blocks);

/* Writes which ranks hold the block at `index` [ndim], as "0-3,8-11". The list is elided, as in
 * "0-3,...,56-59", where it would be longer than `width`; never below its first and last. */
void blocks_holders(const struct blocks *blocks, const int64_t index[], int width, char *buffer,
                    size_t size);

#endif
