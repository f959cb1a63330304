/* io/pad.c - datasets as arrays that are larger.
 *
 * The dataset is read as it is, so that whoever checks it sees all of it. What ranks hold of it
 * then, and what they would hold of the larger array but for it, are the pieces of that one. */
#include "io/pad.h"

#include <stdlib.h>

#include "array/array.h"
#include "core/block.h"
#include "core/box.h"
#include "core/mem.h"

enum { SPEC_TEXT_BYTES = 2048 };

/* At most one slab of zeros for each dimension, behind what was read. */
struct padding {
    int count;
    spmd_piece piece[SPMD_MAX_DIMS + 1];
    void *zeros; /* as many as the largest slab needs */
};

/* What `mine` has behind `inner` in dimension `dim`, but not yet in one before. */
static bool cut_slab(const spmd_box *mine, spmd_shape inner, int dim, spmd_box *slab)
{
    spmd_box behind = spmd_box_whole(inner);
    for (int d = dim; d < inner.ndim; d++) {
        behind.lo[d] = d == dim ? inner.dim[d] : 0;
        behind.hi[d] = INT64_MAX;
    }
    return spmd__box_intersect(mine, &behind, slab);
}

static void add_slabs(struct padding *padding, const spmd_box *mine, spmd_shape inner)
{
    for (int d = 0; d < inner.ndim; d++) {
        spmd_box slab;
        if (cut_slab(mine, inner, d, &slab))
            padding->piece[padding->count++] = spmd_piece_make(slab, NULL);
    }
}

static spmd_status make_zeros(struct padding *padding, spmd_dtype dtype)
{
    int64_t most = 0;
    for (int i = 0; i < padding->count; i++) {
        int64_t size = spmd_box_size(&padding->piece[i].box);
        most = size > most ? size : most;
    }
    TRY(spmd__alloc((size_t)most, spmd_dtype_size(dtype), &padding->zeros));
    for (int i = 0; i < padding->count; i++)
        padding->piece[i].data = padding->zeros;
    return SPMD_OK;
}

/* Local. The pieces of this rank: of each that several ranks hold, the first one's counts. */
static spmd_status make_pieces(const spmd_array *read, const spmd_sharding *sharding,
                               spmd_shape shape, struct padding *padding)
{
    int64_t position = sharding->mesh->position;
    spmd_box mine = spmd__sharding_box_of(sharding, shape, position);
    if (spmd_sharding_replica(sharding, position) == 0)
        add_slabs(padding, &mine, read->shape);
    TRY(make_zeros(padding, read->dtype));
    spmd_box box = spmd__block_box(&read->block);
    if (read->block.replica == 0 && spmd_box_size(&box) > 0)
        padding->piece[padding->count++] = spmd_piece_make(box, read->block.data);
    return SPMD_OK;
}

/* Collective. The larger array of what was read. */
static spmd_status pad(const spmd_array *read, const spmd_sharding *sharding, const char *spec,
                       spmd_shape shape, spmd_array **array)
{
    struct padding padding = {0};
    spmd_status status = make_pieces(read, sharding, shape, &padding);
    status = spmd__mesh_agree(sharding->mesh, status, 0);
    if (status == SPMD_OK)
        status = spmd_array_from_pieces(sharding->mesh, spec, read->dtype, shape, padding.count,
                                        padding.piece, array);
    free(padding.zeros);
    return status;
}

/* Collective. The same from the file, where `sharding` is of values. */
static spmd_status read_padded(spmd_file *file, const char *name, spmd_shape inner,
                               const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                               spmd_array **array)
{
    char spec[SPEC_TEXT_BYTES];
    spmd_array *read = NULL;
    spmd_sharding_format(spec, sizeof spec, sharding);
    if (spmd_shape_equal(inner, shape))
        return spmd_dataset_read(file, name, spec, dtype, array);
    /* A strict mesh may allow the larger shape alone. */
    bool may = spmd_sharding_check(sharding, inner) == SPMD_OK;
    TRY(spmd_dataset_read(file, name, may ? spec : "P()", dtype, &read));
    spmd_status status = pad(read, sharding, spec, shape, array);
    spmd_array_free(&read);
    return status;
}

spmd_status spmd__pad_read(spmd_file *file, const char *name, spmd_shape inner,
                           const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                           spmd_array **array)
{
    if (sharding->spec.unreduced == 0)
        return read_padded(file, name, inner, sharding, dtype, shape, array);
    spmd_sharding *of_values = NULL;
    spmd_array *values = NULL;
    TRY(spmd__sharding_of_values(sharding, &of_values));
    spmd_status status = read_padded(file, name, inner, of_values, dtype, shape, &values);
    if (status == SPMD_OK)
        status = spmd_reshard_to(values, sharding, array);
    spmd_array_free(&values);
    spmd_sharding_free(&of_values);
    return status;
}
