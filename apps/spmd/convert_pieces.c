/* convert_pieces.c - the elements of a dataset from one file to another, a piece at a time. */
#include "convert.h"

#include <stdio.h>

/* What a rank holds at a time, unless a single chunk is larger. */
#define PIECE_BYTES ((int64_t)64 << 20)

/* A dataset cut along all dimensions: pieces of these extents, less at the ends. */
struct pieces {
    spmd_shape shape;
    int64_t extent[SPMD_MAX_DIMS]; /* [ndim] of a piece */
    int64_t at[SPMD_MAX_DIMS];     /* [ndim] where the current one starts */
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Pieces are made of whole chunks, so that no chunk is filtered twice: as many along the last
 * dimensions as `most` elements allow. */
static void cut(struct pieces *pieces, const int64_t chunk[], int64_t most)
{
    const spmd_shape *shape = &pieces->shape;
    int64_t size = 1;
    for (int d = 0; d < shape->ndim; d++) {
        pieces->extent[d] = chunk[d] > 0 ? min(chunk[d], shape->dim[d]) : 1;
        size *= pieces->extent[d];
    }
    for (int d = shape->ndim - 1; d >= 0 && most / size > 1; d--) {
        int64_t one = pieces->extent[d], others = size / one;
        pieces->extent[d] = min(shape->dim[d], most / size * one);
        size = others * pieces->extent[d];
        if (pieces->extent[d] < shape->dim[d])
            break;
    }
}

static spmd_hyperslab current(const struct pieces *pieces)
{
    spmd_hyperslab slab = {.ndim = pieces->shape.ndim};
    for (int d = 0; d < slab.ndim; d++) {
        slab.start[d] = pieces->at[d];
        slab.count[d] = min(pieces->extent[d], pieces->shape.dim[d] - pieces->at[d]);
        slab.stride[d] = 1;
    }
    return slab;
}

/* To the next piece; false behind the last one. */
static bool advance(struct pieces *pieces)
{
    for (int d = pieces->shape.ndim - 1; d >= 0; d--) {
        pieces->at[d] += pieces->extent[d];
        if (pieces->at[d] < pieces->shape.dim[d])
            return true;
        pieces->at[d] = 0;
    }
    return false;
}

/* Pieces lie over the ranks along their first dimension that has enough for all, or their longest
 * one. */
static void write_spec(const struct pieces *pieces, int64_t ranks, char *spec)
{
    int ndim = pieces->shape.ndim, split = 0;
    for (int d = 0; d < ndim && pieces->extent[split] < ranks; d++)
        if (pieces->extent[d] > pieces->extent[split])
            split = d;
    spec += sprintf(spec, "P(");
    for (int d = 0; d < split; d++)
        spec += sprintf(spec, "-,");
    sprintf(spec, ndim > 0 ? "ranks)" : ")");
}

static spmd_status copy_piece(spmd_file *in, spmd_file *out, const char *name,
                              const spmd_hyperslab *slab, const char *spec, spmd_dtype dtype)
{
    spmd_array *array = NULL;
    SPMD_TRY(spmd_dataset_read_hyperslab(in, name, slab, spec, dtype, &array));
    spmd_status status = spmd_dataset_write_hyperslab(out, name, slab, array);
    spmd_array_free(&array);
    return status;
}

spmd_status convert_elements(spmd_mesh *mesh, spmd_file *in, spmd_file *out, const char *name,
                             spmd_dtype dtype, spmd_shape shape, const int64_t chunk[])
{
    if (spmd_shape_size(shape) == 0)
        return SPMD_OK;
    char spec[2 * SPMD_MAX_DIMS + sizeof "P(ranks)"];
    struct pieces pieces = {.shape = shape};
    int64_t ranks = spmd_mesh_size(mesh);
    cut(&pieces, chunk, ranks * PIECE_BYTES / (int64_t)spmd_dtype_size(dtype));
    write_spec(&pieces, ranks, spec);
    do {
        spmd_hyperslab slab = current(&pieces);
        SPMD_TRY(copy_piece(in, out, name, shape.ndim > 0 ? &slab : NULL, spec, dtype));
    } while (advance(&pieces));
    return SPMD_OK;
}
