/* io/placement.c - where the rows of a dataset stand in its file. */
#include "io/placement.h"

#include <stdlib.h>

#include "core/mem.h"
#include "core/setting.h"
#include "io/chunks.h"
#include "io/descriptor.h"
#include "io/filters.h"
#include "io/way.h"

/* Whether addresses in the file that has the dataset are offsets from its beginning. */
static bool begins_with_hdf5(hid_t dataset)
{
    hid_t file = H5Iget_file_id(dataset), creation = H5Fget_create_plist(file);
    hsize_t user_block = 0;
    const bool plain = H5Pget_userblock(creation, &user_block) >= 0 && user_block == 0;
    H5Pclose(creation);
    H5Fclose(file);
    return plain;
}

static bool take_filter(H5Z_filter_t id, struct filters *filters)
{
    if (filters->count == FILTERS_MOST)
        return false;
    switch (id) {
#ifdef HAVE_ZLIB
    case H5Z_FILTER_DEFLATE:
        filters->filter[filters->count++] = FILTER_DEFLATE;
        return true;
#endif
    case H5Z_FILTER_SHUFFLE:
        filters->filter[filters->count++] = FILTER_SHUFFLE;
        return true;
    case H5Z_FILTER_FLETCHER32:
        filters->filter[filters->count++] = FILTER_FLETCHER32;
        return true;
    default:
        return false;
    }
}

/* Whether all of the dataset's filters can be undone, on all of its chunks. */
static bool take_filters(hid_t creation, struct placement *placement)
{
    unsigned options = 0;
    const struct pipeline pipeline = spmd__pipeline_of(creation);
    H5Pget_chunk_opts(creation, &options);
    placement->filters.element = placement->element;
    for (int i = 0; i < pipeline.count; i++)
        if (!take_filter(pipeline.filter[i].id, &placement->filters))
            return false;
    return pipeline.count == 0 || options == 0;
}

/* false: HDF5 does not tell. */
static bool take_chunk(hid_t dataset, const hsize_t at[], struct chunk *chunk)
{
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(dataset, at, &chunk->skipped, &address, &bytes) < 0)
        return false;
    chunk->offset = address == HADDR_UNDEF ? -1 : (int64_t)address;
    chunk->bytes = (size_t)bytes;
    return true;
}

/* The chunks by their places; false: not of all. */
static bool take_chunks(hid_t dataset, struct placement *placement)
{
    const int64_t count = spmd_shape_size(placement->grid);
    hsize_t at[SPMD_MAX_DIMS] = {0};
    for (int64_t i = 0; i < count; i++) {
        if (!take_chunk(dataset, at, &placement->chunks[i]))
            return false;
        int d = placement->shape.ndim - 1;
        for (;
             d > 0 && at[d] + (hsize_t)placement->extent.dim[d] >= (hsize_t)placement->shape.dim[d];
             d--)
            at[d] = 0;
        at[d] += (hsize_t)placement->extent.dim[d];
    }
    return true;
}

static spmd_status open_chunked(hid_t dataset, hid_t creation, struct placement *placement)
{
    const int ndim = placement->shape.ndim;
    placement->extent.ndim = placement->grid.ndim = ndim;
    spmd__chunks_of(dataset, placement->extent.dim);
    for (int d = 0; d < ndim; d++)
        placement->grid.dim[d] =
            (placement->shape.dim[d] + placement->extent.dim[d] - 1) / placement->extent.dim[d];
    const int64_t count = spmd_shape_size(placement->grid);
    if (count < 0 || count > PLACEMENT_MOST_CHUNKS || !take_filters(creation, placement))
        return SPMD_OK;
    TRY(spmd__alloc((size_t)count, sizeof *placement->chunks, &placement->chunks));
    placement->direct = take_chunks(dataset, placement);
    return SPMD_OK;
}

static spmd_status open_contiguous(hid_t dataset, hid_t creation, struct placement *placement)
{
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF || H5Pget_external_count(creation) > 0)
        return SPMD_OK;
    placement->extent = placement->grid = placement->shape;
    for (int d = 0; d < placement->shape.ndim; d++)
        placement->grid.dim[d] = 1;
    TRY(spmd__alloc(1, sizeof *placement->chunks, &placement->chunks));
    placement->chunks[0] = (struct chunk){.offset = (int64_t)offset};
    placement->direct = true;
    return SPMD_OK;
}

static spmd_status open_layout(hid_t dataset, hid_t creation, struct placement *placement)
{
    switch (H5Pget_layout(creation)) {
    case H5D_CONTIGUOUS:
        return open_contiguous(dataset, creation, placement);
    case H5D_CHUNKED:
        return open_chunked(dataset, creation, placement);
    default:
        return SPMD_OK;
    }
}

/* Zeros where the file leaves it open. */
static spmd_status take_fill(hid_t creation, hid_t type, struct placement *placement)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    TRY(spmd__alloc(1, placement->element, &placement->fill));
    if (H5Pfill_value_defined(creation, &defined) >= 0 && defined != H5D_FILL_VALUE_UNDEFINED)
        H5Pget_fill_value(creation, type, placement->fill);
    return SPMD_OK;
}

static spmd_status open_typed(hid_t dataset, struct placement *placement)
{
    hid_t type = H5Dget_type(dataset), creation = H5Dget_create_plist(dataset);
    placement->element = H5Tget_size(type);
    spmd_status status = take_fill(creation, type, placement);
    if (status == SPMD_OK)
        status = open_layout(dataset, creation, placement);
    H5Pclose(creation);
    H5Tclose(type);
    return status;
}

spmd_status spmd__placement_open(const spmd_file *file, const char *name, hid_t dataset,
                                 spmd_shape shape, struct placement *placement)
{
    int way;
    TRY(spmd__setting_choose(SPMD_SETTING_IO, &way));
    *placement = (struct placement){.path = file->path, .name = name, .shape = shape};
    placement->file = spmd__io_descriptor(dataset);
    if (way == IO_HDF5 || placement->file < 0 || !begins_with_hdf5(dataset))
        return SPMD_OK;
    spmd_status status = open_typed(dataset, placement);
    if (status != SPMD_OK)
        spmd__placement_close(placement);
    return status;
}

void spmd__placement_close(struct placement *placement)
{
    free(placement->chunks);
    free(placement->fill);
    placement->chunks = NULL;
    placement->fill = NULL;
}
