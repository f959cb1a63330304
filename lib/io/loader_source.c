/* io/loader_source.c - a dataset that a loader takes batches from. */
#include "io/loader_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array/array.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "io/cause.h"
#include "io/chunks.h"
#include "io/description.h"
#include "io/filters.h"
#include "io/hyperslab.h"
#include "io/object.h"
#include "io/transfer.h"
#include "io/types.h"

static spmd_status make(spmd_mesh *mesh, const char *name, const char *spec, struct source *source)
{
    if (source->dtype != SPMD_DTYPE_NONE && spmd_dtype_size(source->dtype) == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)source->dtype);
    source->name = strdup(name);
    if (!source->name)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    TRY(spmd_sharding_create(mesh, spec, &source->sharding));
    if (source->sharding->spec.unreduced != 0)
        return spmd_fail(SPMD_ERR_SPEC,
                         "%s: a batch has values, not contributions to them; leave unreduced out",
                         spec);
    return SPMD_OK;
}

spmd_status spmd__source_make(spmd_mesh *mesh, const char *name, const char *spec, spmd_dtype dtype,
                              struct source *source)
{
    *source = (struct source){.dtype = dtype, .dataset = -1, .stored = -1};
    TRY(spmd__name_check(name));
    spmd_status status = make(mesh, name, spec, source);
    return status == SPMD_OK ? SPMD_OK : spmd__io_refine(status, "dataset \"%s\"", name);
}

static spmd_status describe(const spmd_file *file, struct source *source)
{
    struct description about;
    TRY(spmd__dataset_describe(file, source->name, source->dataset, &about));
    if (about.shape.ndim == 0)
        return spmd_fail(SPMD_ERR_SHAPE, "%s: dataset \"%s\" is a scalar, and has no rows",
                         file->path, source->name);
    if (source->dtype == SPMD_DTYPE_NONE)
        source->dtype = about.dtype;
    if (!spmd__type_converts(about.dtype, source->dtype))
        return spmd_fail(SPMD_ERR_DTYPE, "%s: dataset \"%s\" is %s; that is not converted to %s",
                         file->path, source->name, spmd_dtype_name(about.dtype),
                         spmd_dtype_name(source->dtype));
    source->shape = about.shape;
    source->stored = H5Dget_type(source->dataset);
    hid_t type = spmd__type_create(source->dtype);
    source->converts = H5Tequal(source->stored, type) <= 0;
    H5Tclose(type);
    return SPMD_OK;
}

/* Bytes of a band of chunks, those that have a part of one row: from what HDF5 has by itself, to
 * what can be afforded. */
static size_t band_bytes(const struct source *source, const int64_t chunk[])
{
    const double least = 1 << 20, most = 1 << 28;
    double bytes = (double)H5Tget_size(source->stored) * (double)chunk[0];
    for (int d = 1; d < source->shape.ndim; d++)
        bytes *= (double)(chunk[d] * ((source->shape.dim[d] - 1) / chunk[d] + 1));
    return (size_t)(bytes > most ? most : bytes < least ? least : bytes);
}

/* Opens it again for reads through HDF5, with a cache in which the chunks of a row stay until the
 * next row has been read: else HDF5 reads large chunks again for each. */
static spmd_status open_with_cache(const spmd_file *file, struct source *source,
                                   const int64_t chunk[])
{
    enum { CACHE_SLOTS = 10007 };
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, CACHE_SLOTS, band_bytes(source, chunk), 1);
    H5Dclose(source->dataset);
    source->dataset = H5Dopen2(file->id, source->name, access);
    spmd_status status = SPMD_OK;
    if (source->dataset < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be opened: %s", file->path,
                           source->name, spmd__io_cause().text);
    H5Pclose(access);
    return status;
}

/* As long as the file is now; 0 if it has no descriptor. */
static int64_t file_bytes(const struct source *source)
{
    struct stat about;
    return fstat(source->placement.file, &about) == 0 ? (int64_t)about.st_size : 0;
}

static spmd_status find_placement(const spmd_file *file, struct source *source)
{
    int64_t chunk[SPMD_MAX_DIMS] = {0};
    const bool chunked = spmd__chunks_of(source->dataset, chunk);
    source->chunk_rows = chunk[0];
    TRY(spmd__placement_open(file, source->name, source->dataset, source->shape,
                             &source->placement));
    source->file_bytes = file_bytes(source);
    if (source->placement.direct)
        return SPMD_OK;
    TRY(spmd__filters_check(file, source->name, source->dataset));
    return chunked ? open_with_cache(file, source, chunk) : SPMD_OK;
}

spmd_status spmd__source_open(const spmd_file *file, struct source *source)
{
    TRY(spmd__dataset_open(file, source->name, &source->dataset));
    TRY(describe(file, source));
    return find_placement(file, source);
}

/* MPI_Finalize ends HDF5, and what was open in it. */
void spmd__source_close(struct source *source)
{
    const bool is_open = spmd__mpi_is_alive();
    spmd__placement_close(&source->placement);
    if (source->stored >= 0 && is_open)
        H5Tclose(source->stored);
    if (source->dataset >= 0 && is_open)
        H5Dclose(source->dataset);
    spmd_sharding_free(&source->sharding);
    free(source->name);
}

spmd_shape spmd__source_batch(const struct source *source, int64_t rows)
{
    spmd_shape shape = source->shape;
    shape.dim[0] = rows;
    return shape;
}

/* How many rows from the first one on follow each other, in the dataset and in the batch. */
static int64_t count_neighbours(int64_t count, const struct wanted rows[])
{
    int64_t n = 1;
    while (n < count && rows[n].row == rows[0].row + n && rows[n].to == rows[0].to + n)
        n++;
    return n;
}

/* HDF5 takes what lies behind the end of a file for zeros. */
spmd_status spmd__source_read(const spmd_file *file, const struct source *source, int64_t count,
                              const struct wanted rows[], const spmd_block *block)
{
    if (file_bytes(source) < source->file_bytes)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: dataset \"%s\", row %lld: the file was cut short since it was opened",
                         file->path, source->name, (long long)rows[0].row);
    const size_t row_bytes = spmd__block_bytes(block) / (size_t)block->shape[0];
    spmd_hyperslab whole;
    TRY(spmd__hyperslab_resolve(NULL, source->shape, &whole));
    for (int64_t i = 0, n; i < count; i += n) {
        n = count_neighbours(count - i, rows + i);
        spmd_block some = *block;
        some.data = (char *)block->data + (size_t)rows[i].to * row_bytes;
        some.offset[0] = rows[i].row;
        some.shape[0] = n;
        spmd_status status =
            spmd__transfer(file, source->name, source->dataset, FROM_FILE, &whole, &some);
        if (status != SPMD_OK)
            return spmd__io_refine(status, "row %lld", (long long)rows[i].row);
    }
    return SPMD_OK;
}
