/* io/direct_chunks.c - blocks of chunked datasets by preadv, past HDF5: each run of bytes goes from
 * the file to its place, where HDF5 reads a chunk and copies it from there. */
#include "io/direct_chunks.h"

#include <stdlib.h>

#include "core/block.h"
#include "core/mem.h"
#include "io/chunks.h"
#include "io/description.h"
#include "io/placement.h"

/* Shorter runs cost more than to copy them from a chunk. And HDF5 is asked where each chunk stands,
 * for which it goes through all of them: that has to be little beside reading it. */
enum { LEAST_RUN_BYTES = 512, LOOK_BYTES = 256 };

static bool pays(hid_t dataset, const spmd_block *block)
{
    const int64_t element = (int64_t)spmd_dtype_size(block->dtype);
    const int last = block->ndim - 1;
    int64_t chunk[SPMD_MAX_DIMS];
    if (!spmd__chunks_of(dataset, chunk))
        return false;
    const int64_t count = spmd__chunks_count(chunk, spmd__dataset_shape(dataset));
    const int64_t bytes = spmd__chunks_bytes(chunk, block->ndim, (size_t)element, 1);
    const int64_t run = chunk[last] < block->shape[last] ? chunk[last] : block->shape[last];
    return run * element >= LEAST_RUN_BYTES && bytes / LOOK_BYTES >= count;
}

/* A line as one row of many columns: of each chunk one run, where as rows each element was one. */
static struct placement as_row(const struct placement *line)
{
    struct placement row = *line;
    row.shape = SPMD_SHAPE(1, line->shape.dim[0]);
    row.extent = SPMD_SHAPE(1, line->extent.dim[0]);
    row.grid = SPMD_SHAPE(1, line->grid.dim[0]);
    return row;
}

static spmd_status read_line(const struct placement *placement, const spmd_block *block)
{
    const struct placement row = as_row(placement);
    const spmd_box part = spmd__block_box(block);
    return spmd__placement_read(&row, 1, &(struct wanted){0, 0}, &part, block->data);
}

static spmd_status read_rows(const struct placement *placement, const spmd_block *block)
{
    const int64_t count = block->shape[0];
    const spmd_box part = spmd__placement_part(block);
    struct wanted *rows;
    TRY(spmd__alloc((size_t)count, sizeof *rows, &rows));
    for (int64_t i = 0; i < count; i++)
        rows[i] = (struct wanted){block->offset[0] + i, i};
    spmd_status status = spmd__placement_read(placement, count, rows, &part, block->data);
    free(rows);
    return status;
}

spmd_status spmd__direct_read_chunks(const spmd_file *file, const char *name, hid_t dataset,
                                     bool forced, const spmd_block *block, bool *done)
{
    struct placement placement;
    *done = false;
    if (file->aside || block->ndim == 0 || !(forced || pays(dataset, block)))
        return SPMD_OK;
    TRY(spmd__placement_open(file, name, dataset, spmd__dataset_shape(dataset), &placement));
    spmd_status status = SPMD_OK;
    *done = placement.direct && placement.filters.count == 0;
    if (*done)
        status = block->ndim == 1 ? read_line(&placement, block) : read_rows(&placement, block);
    spmd__placement_close(&placement);
    return status;
}
