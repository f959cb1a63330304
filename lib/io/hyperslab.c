/* io/hyperslab.c - which elements of a dataset the elements of an array are. */
#include "io/hyperslab.h"

#include "core/error.h"
#include "core/hash.h"

spmd_hyperslab spmd_hyperslab_make(int ndim, const int64_t *start, const int64_t *count,
                                   const int64_t *stride)
{
    spmd_hyperslab slab = {.ndim = ndim};
    for (int d = 0; d < ndim && d < SPMD_MAX_DIMS; d++) {
        slab.start[d] = start ? start[d] : 0;
        slab.count[d] = count ? count[d] : SPMD_INFER;
        slab.stride[d] = stride ? stride[d] : 1;
    }
    return slab;
}

static int64_t count_to_end(int64_t start, int64_t stride, int64_t extent)
{
    return start < extent ? (extent - start - 1) / stride + 1 : 0;
}

/* Dimension `d` of a hyperslab: its count. */
static spmd_status resolve_dimension(const spmd_hyperslab *asked, int d, int64_t extent,
                                     int64_t *count)
{
    int64_t start = asked->start[d], stride = asked->stride[d];
    if (start < 0 || stride < 1 || asked->count[d] < SPMD_INFER)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "dimension %d of the hyperslab has start %lld, count %lld, stride %lld; "
                         "start is at least 0, count too (or SPMD_INFER), stride at least 1",
                         d, (long long)start, (long long)asked->count[d], (long long)stride);
    int64_t most = count_to_end(start, stride, extent);
    *count = asked->count[d] == SPMD_INFER ? most : asked->count[d];
    if (*count > most || start > extent)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "the hyperslab reaches outside dimension %d of extent %lld: start %lld, "
                         "count %lld, stride %lld",
                         d, (long long)extent, (long long)start, (long long)*count,
                         (long long)stride);
    return SPMD_OK;
}

spmd_status spmd__hyperslab_resolve(const spmd_hyperslab *asked, spmd_shape shape,
                                    spmd_hyperslab *slab)
{
    spmd_hyperslab known = asked ? *asked : spmd_hyperslab_make(shape.ndim, NULL, NULL, NULL);
    if (known.ndim != shape.ndim)
        return spmd_fail(SPMD_ERR_SHAPE, "the hyperslab has %d dimensions, the dataset %d",
                         known.ndim, shape.ndim);
    for (int d = 0; d < shape.ndim; d++)
        TRY(resolve_dimension(&known, d, shape.dim[d], &known.count[d]));
    *slab = known;
    return SPMD_OK;
}

spmd_shape spmd__hyperslab_shape(const spmd_hyperslab *slab)
{
    return spmd_shape_make(slab->ndim, slab->count);
}

uint64_t spmd__hyperslab_digest(const spmd_hyperslab *slab)
{
    if (!slab || slab->ndim < 0 || slab->ndim > SPMD_MAX_DIMS)
        return 0;
    size_t bytes = (size_t)slab->ndim * sizeof *slab->start;
    uint64_t digest = spmd__hash(0, &slab->ndim, sizeof slab->ndim);
    digest = spmd__hash(digest, slab->start, bytes);
    digest = spmd__hash(digest, slab->count, bytes);
    return spmd__hash(digest, slab->stride, bytes);
}

bool spmd__hyperslab_is_box(const spmd_hyperslab *slab)
{
    for (int d = 0; d < slab->ndim; d++)
        if (slab->stride[d] != 1 && slab->count[d] > 1)
            return false;
    return true;
}

spmd_block spmd__hyperslab_shift(const spmd_hyperslab *slab, const spmd_block *block)
{
    spmd_block shifted = *block;
    for (int d = 0; d < block->ndim; d++)
        shifted.offset[d] += slab->start[d];
    return shifted;
}

/* A run is selected as one block: HDF5 is much slower with as many blocks of one element. */
hid_t spmd__hyperslab_select(hid_t dataset, const spmd_hyperslab *slab, const int64_t lo[],
                             const hsize_t extent[])
{
    hsize_t start[SPMD_MAX_DIMS], stride[SPMD_MAX_DIMS];
    hsize_t count[SPMD_MAX_DIMS], block[SPMD_MAX_DIMS];
    for (int d = 0; d < slab->ndim; d++) {
        bool run = slab->stride[d] == 1;
        start[d] = (hsize_t)(slab->start[d] + lo[d] * slab->stride[d]);
        stride[d] = run ? extent[d] : (hsize_t)slab->stride[d];
        count[d] = run ? 1 : extent[d];
        block[d] = run ? extent[d] : 1;
    }
    hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
    return space;
}
