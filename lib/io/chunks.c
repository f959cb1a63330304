/* io/chunks.c - the chunks of a dataset: how large, and how many. */
#include "io/chunks.h"

#include "core/error.h"

/* HDF5 caches 1 MiB of each dataset's chunks, and reads larger ones again for each piece. */
enum { CHOSEN_BYTES = 1 << 20 };

/* Rows in a chunk, of a dataset that begins with none. */
enum { ROWS_TO_COME = 1024 };

static bool has_filters(const spmd_dataset_options *options)
{
    return options->deflate != 0 || options->shuffle || options->fletcher32;
}

static bool gives_chunks(const spmd_dataset_options *options, int ndim)
{
    for (int d = 0; d < ndim; d++)
        if (options->chunk[d] != 0)
            return true;
    return false;
}

int64_t spmd__chunks_most(const spmd_dataset_options *options, spmd_shape shape, int d)
{
    if (d == 0 && options->unlimited)
        return SPMD_UNLIMITED;
    return options->most[d] != 0 ? options->most[d] : shape.dim[d];
}

static bool can_grow(const spmd_dataset_options *options, spmd_shape shape)
{
    for (int d = 0; d < shape.ndim; d++)
        if (spmd__chunks_most(options, shape, d) > shape.dim[d])
            return true;
    return false;
}

static spmd_status check_most(const spmd_dataset_options *options, spmd_shape shape)
{
    for (int d = 0; d < shape.ndim; d++)
        if (spmd__chunks_most(options, shape, d) < shape.dim[d])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "dimension %d has extent %lld, and can have %lld at most; give 0 for "
                             "an extent that stays as it is",
                             d, (long long)shape.dim[d], (long long)options->most[d]);
    return SPMD_OK;
}

static spmd_status check_extents(const spmd_dataset_options *options, spmd_dtype dtype,
                                 spmd_shape shape)
{
    const int64_t most_bytes = UINT32_MAX;
    int64_t bytes = (int64_t)spmd_dtype_size(dtype);
    for (int d = 0; d < shape.ndim; d++) {
        int64_t extent = options->chunk[d], most = spmd__chunks_most(options, shape, d);
        if (extent < 1 || extent > (most > 0 ? most : 1))
            return spmd_fail(SPMD_ERR_SHAPE,
                             "chunks have %lld indices of dimension %d, of extent %lld; give from "
                             "1 to all of each dimension, or 0 for all dimensions",
                             (long long)extent, d, (long long)shape.dim[d]);
        if (extent > most_bytes / bytes)
            return spmd_fail(SPMD_ERR_SHAPE, "chunks are larger than 4 GiB, which HDF5 allows");
        bytes *= extent;
    }
    return SPMD_OK;
}

/* What stands behind the dimensions that there are was meant for others. */
static spmd_status check_dimensions(const spmd_dataset_options *options, int ndim)
{
    for (int d = ndim; d < SPMD_MAX_DIMS; d++)
        if (options->chunk[d] != 0 || options->most[d] != 0)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "%s are given for dimension %d, of a dataset of %d dimensions",
                             options->chunk[d] != 0 ? "chunks" : "limits", d, ndim);
    return SPMD_OK;
}

spmd_status spmd__chunks_check(const spmd_dataset_options *options, spmd_dtype dtype,
                               spmd_shape shape)
{
    if (options->deflate < 0 || options->deflate > 9)
        return spmd_fail(SPMD_ERR_ARGUMENT, "deflate is from 1 to 9, or 0 for none; not %d",
                         options->deflate);
    if (shape.ndim == 0 && (has_filters(options) || options->unlimited))
        return spmd_fail(SPMD_ERR_SHAPE, "a scalar has no chunks: it cannot grow or be filtered");
    TRY(check_dimensions(options, shape.ndim));
    TRY(check_most(options, shape));
    return gives_chunks(options, shape.ndim) ? check_extents(options, dtype, shape) : SPMD_OK;
}

bool spmd__chunks_wanted(const spmd_dataset_options *options, spmd_shape shape)
{
    if (can_grow(options, shape))
        return true;
    return (has_filters(options) || gives_chunks(options, shape.ndim)) &&
           spmd_shape_size(shape) > 0;
}

/* Pieces of at most `most` of `extent` indices: some that divide it, or nearly so. */
static int64_t divide(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    for (int64_t piece = most; piece > most / 2; piece--)
        if (extent % piece == 0)
            return piece;
    return most;
}

/* What chunks are chosen for along a dimension: for what there will be, if there is nothing yet. */
static int64_t extent_of(const spmd_dataset_options *options, spmd_shape part, int d)
{
    if (part.dim[d] > 0)
        return part.dim[d];
    int64_t most = spmd__chunks_most(options, part, d);
    return most > ROWS_TO_COME ? ROWS_TO_COME : most > 0 ? most : 1;
}

void spmd__chunks_choose(const spmd_dataset_options *options, spmd_dtype dtype, spmd_shape part,
                         int64_t chunk[])
{
    bool given = gives_chunks(options, part.ndim);
    int64_t left = CHOSEN_BYTES / (int64_t)spmd_dtype_size(dtype);
    for (int d = part.ndim - 1; d >= 0; d--) {
        chunk[d] = given ? options->chunk[d] : divide(extent_of(options, part, d), left);
        left = chunk[d] < left ? left / chunk[d] : 1;
    }
}

bool spmd__chunks_of(hid_t dataset, int64_t chunk[])
{
    hsize_t extent[SPMD_MAX_DIMS];
    hid_t creation = H5Dget_create_plist(dataset);
    int ndim = -1;
    if (H5Pget_layout(creation) == H5D_CHUNKED)
        ndim = H5Pget_chunk(creation, SPMD_MAX_DIMS, extent);
    H5Pclose(creation);
    for (int d = 0; d < ndim; d++)
        chunk[d] = (int64_t)extent[d];
    return ndim > 0;
}

static int64_t multiply(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / 4;
    return b != 0 && a > most / b ? most : a * b;
}

int64_t spmd__chunks_count(const int64_t chunk[], spmd_shape shape)
{
    int64_t count = 1;
    for (int d = 0; d < shape.ndim; d++)
        count = multiply(count, shape.dim[d] / chunk[d] + (shape.dim[d] % chunk[d] != 0));
    return count;
}

int64_t spmd__chunks_bytes(const int64_t chunk[], int ndim, size_t element, int64_t count)
{
    int64_t bytes = multiply(count, (int64_t)element);
    for (int d = 0; d < ndim; d++)
        bytes = multiply(bytes, chunk[d]);
    return bytes;
}

bool spmd__chunks_are_there(hid_t dataset, const int64_t chunk[], spmd_shape shape)
{
    hsize_t there = 0;
    hid_t space = H5Dget_space(dataset);
    herr_t failed = H5Dget_num_chunks(dataset, space, &there);
    H5Sclose(space);
    return failed >= 0 && (int64_t)there >= spmd__chunks_count(chunk, shape);
}
