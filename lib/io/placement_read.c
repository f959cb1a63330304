/* io/placement_read.c - rows of a dataset by pread: no HDF5, no MPI here, since a thread runs it.
 *
 * Rows in one band of chunks are read together, chunk by chunk: what is wanted of a chunk's rows is
 * a few runs of bytes, which are scattered to the rows' places; of one under filters, when the
 * whole of it has been read and restored. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/box.h"
#include "core/mem.h"
#include "core/runs.h"
#include "io/cause.h"
#include "io/scatter.h"
#include "io/placement.h"

/* What of each row stands in one chunk of its band: the same in all bands. */
struct column {
    int64_t index; /* of the chunk, in the band */
    struct runs runs;
    int64_t in_row, in_chunk_row; /* where they begin */
};

struct reading {
    const struct placement *placement;
    const spmd_box *part;
    char *data;
    int64_t part_bytes, chunk_row_bytes; /* of a row: in `data`, in a chunk */
    int64_t band_chunks;                 /* of a whole band */
    int64_t ncolumns;
    struct column *columns; /* [ncolumns], those that have some of the part */
    struct scatter scatter;
    struct chunk_data chunk;
};

/* What is wanted of a chunk: some rows, and of each the same runs. */
struct cell {
    const struct chunk *chunk;
    const struct column *column;
    int64_t count;
    const struct wanted *rows; /* [count] */
};

/* The row of a dataset that has but one tells nothing. */
static spmd_status fail_to_read(const struct placement *placement, int64_t row, int code)
{
    if (placement->shape.dim[0] == 1)
        return spmd__io_fail_errno(code, "%s: dataset \"%s\" cannot be read", placement->path,
                                   placement->name);
    return spmd__io_fail_errno(code, "%s: dataset \"%s\", row %lld: cannot be read",
                               placement->path, placement->name, (long long)row);
}

static spmd_status add(struct reading *reading, int64_t offset, size_t bytes, void *to, int64_t row)
{
    int code = spmd__scatter_add(&reading->scatter, offset, bytes, to, row);
    return code == 0 ? SPMD_OK
                     : fail_to_read(reading->placement, reading->scatter.failed_row, code);
}

static spmd_status end(struct reading *reading)
{
    int code = spmd__scatter_end(&reading->scatter);
    return code == 0 ? SPMD_OK
                     : fail_to_read(reading->placement, reading->scatter.failed_row, code);
}

/* One run: from an offset in the chunk. */
typedef spmd_status take_run(struct reading *reading, const struct cell *cell, int64_t from,
                             char *to, int64_t row);

static spmd_status take_stored(struct reading *reading, const struct cell *cell, int64_t from,
                               char *to, int64_t row)
{
    return add(reading, cell->chunk->offset + from, cell->column->runs.bytes, to, row);
}

static spmd_status take_restored(struct reading *reading, const struct cell *cell, int64_t from,
                                 char *to, int64_t row)
{
    (void)row;
    memcpy(to, reading->chunk.data + from, cell->column->runs.bytes);
    return SPMD_OK;
}

static spmd_status take_fill(struct reading *reading, const struct cell *cell, int64_t from,
                             char *to, int64_t row)
{
    (void)from, (void)row;
    const size_t element = reading->placement->element;
    for (size_t at = 0; at < cell->column->runs.bytes; at += element)
        memcpy(to + at, reading->placement->fill, element);
    return SPMD_OK;
}

static spmd_status take_runs(struct reading *reading, const struct cell *cell, take_run *take)
{
    const struct column *column = cell->column;
    const int64_t nruns = spmd__runs_count(&column->runs);
    for (int64_t i = 0; i < cell->count; i++) {
        const struct wanted *wanted = &cell->rows[i];
        const int64_t in_chunk = wanted->row % reading->placement->extent.dim[0];
        char *to = reading->data + wanted->to * reading->part_bytes + column->in_row;
        const int64_t from = in_chunk * reading->chunk_row_bytes + column->in_chunk_row;
        for (int64_t run = 0; run < nruns; run++) {
            int64_t dst, src;
            spmd__runs_find(&column->runs, run, &dst, &src);
            TRY(take(reading, cell, from + src, to + dst, wanted->row));
        }
    }
    return SPMD_OK;
}

static spmd_status grow(struct reading *reading, size_t room)
{
    struct chunk_data *chunk = &reading->chunk;
    if (room <= chunk->room)
        return SPMD_OK;
    free(chunk->data);
    free(chunk->spare);
    *chunk = (struct chunk_data){0};
    TRY(spmd__alloc(room, 1, &chunk->data));
    TRY(spmd__alloc(room, 1, &chunk->spare));
    chunk->room = room;
    return SPMD_OK;
}

/* Reads the whole chunk, and undoes its filters. */
static spmd_status restore(struct reading *reading, const struct cell *cell)
{
    const struct placement *placement = reading->placement;
    const struct chunk *chunk = cell->chunk;
    const size_t bytes = (size_t)(placement->extent.dim[0] * reading->chunk_row_bytes);
    const size_t most = chunk->bytes > bytes ? chunk->bytes : bytes;
    TRY(grow(reading, most + FILTERS_MOST * CHECKSUM_BYTES));
    reading->chunk.bytes = chunk->bytes;
    TRY(add(reading, chunk->offset, chunk->bytes, reading->chunk.data, cell->rows[0].row));
    TRY(end(reading));
    const char *wrong = spmd__unfilter(&placement->filters, chunk->skipped, &reading->chunk);
    if (!wrong && reading->chunk.bytes != bytes)
        wrong = "it has not the bytes that it should have";
    if (wrong)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\", chunk of row %lld: %s",
                         placement->path, placement->name, (long long)cell->rows[0].row, wrong);
    return SPMD_OK;
}

static spmd_status read_cell(struct reading *reading, const struct cell *cell)
{
    if (cell->chunk->offset < 0)
        return take_runs(reading, cell, take_fill);
    if (reading->placement->filters.count == 0)
        return take_runs(reading, cell, take_stored);
    TRY(restore(reading, cell));
    return take_runs(reading, cell, take_restored);
}

/* The chunk at `at` of a band: of its rows. */
static spmd_box rows_box(const struct placement *placement, const int64_t at[])
{
    spmd_box box = {.ndim = placement->shape.ndim - 1};
    for (int d = 0; d < box.ndim; d++) {
        box.lo[d] = at[d] * placement->extent.dim[d + 1];
        box.hi[d] = box.lo[d] + placement->extent.dim[d + 1];
    }
    return box;
}

static struct column column_at(const struct reading *reading, const int64_t at[])
{
    const struct placement *placement = reading->placement;
    const spmd_box whole = rows_box(placement, at);
    spmd_box common;
    spmd__box_intersect(&whole, reading->part, &common);
    const struct view dst = spmd__view_offset(placement->element, reading->part, &common);
    const struct view src = spmd__view_offset(placement->element, &whole, &common);
    int64_t index = 0;
    for (int d = 0; d < whole.ndim; d++)
        index = index * placement->grid.dim[d + 1] + at[d];
    return (struct column){.index = index,
                           .runs = spmd__runs_of(&dst, &src, placement->element),
                           .in_row = (int64_t)(intptr_t)dst.data,
                           .in_chunk_row = (int64_t)(intptr_t)src.data};
}

/* In the order in which a band's chunks are numbered. */
static spmd_status list_columns(struct reading *reading)
{
    const int64_t *extent = reading->placement->extent.dim + 1;
    const spmd_box *part = reading->part;
    int64_t at[SPMD_MAX_DIMS], count = 1;
    for (int d = 0; d < part->ndim; d++) {
        at[d] = part->lo[d] / extent[d];
        count *= (part->hi[d] - 1) / extent[d] - at[d] + 1;
    }
    TRY(spmd__alloc((size_t)count, sizeof *reading->columns, &reading->columns));
    for (reading->ncolumns = 0; reading->ncolumns < count; reading->ncolumns++) {
        reading->columns[reading->ncolumns] = column_at(reading, at);
        for (int d = part->ndim - 1; d >= 0 && ++at[d] * extent[d] >= part->hi[d]; d--)
            at[d] = part->lo[d] / extent[d];
    }
    return SPMD_OK;
}

/* The wanted rows of a band. */
static spmd_status read_band(struct reading *reading, int64_t band, int64_t count,
                             const struct wanted rows[])
{
    const struct chunk *chunks = reading->placement->chunks + band * reading->band_chunks;
    for (int64_t i = 0; i < reading->ncolumns; i++) {
        const struct column *column = &reading->columns[i];
        TRY(read_cell(reading, &(struct cell){chunks + column->index, column, count, rows}));
    }
    return SPMD_OK;
}

static spmd_status read_bands(struct reading *reading, int64_t count, const struct wanted rows[])
{
    const int64_t extent = reading->placement->extent.dim[0];
    for (int64_t lo = 0, hi; lo < count; lo = hi) {
        const int64_t band = rows[lo].row / extent;
        for (hi = lo + 1; hi < count && rows[hi].row / extent == band;)
            hi++;
        TRY(read_band(reading, band, hi - lo, rows + lo));
    }
    return end(reading);
}

spmd_box spmd__placement_part(const spmd_block *block)
{
    spmd_box box = {.ndim = block->ndim - 1};
    for (int d = 0; d < box.ndim; d++) {
        box.lo[d] = block->offset[d + 1];
        box.hi[d] = box.lo[d] + block->shape[d + 1];
    }
    return box;
}

spmd_status spmd__placement_read(const struct placement *placement, int64_t count,
                                 const struct wanted rows[], const spmd_box *part, void *data)
{
    const int64_t part_size = spmd_box_size(part);
    if (count == 0 || part_size == 0)
        return SPMD_OK;
    struct reading *reading;
    TRY(spmd__alloc(1, sizeof *reading, &reading));
    reading->placement = placement;
    reading->part = part;
    reading->data = data;
    reading->part_bytes = part_size * (int64_t)placement->element;
    reading->chunk_row_bytes = (int64_t)placement->element;
    reading->band_chunks = spmd_shape_size(placement->grid) / placement->grid.dim[0];
    for (int d = 1; d < placement->extent.ndim; d++)
        reading->chunk_row_bytes *= placement->extent.dim[d];
    reading->scatter.file = placement->file;
    spmd_status status = list_columns(reading);
    if (status == SPMD_OK)
        status = read_bands(reading, count, rows);
    free(reading->columns);
    free(reading->chunk.data);
    free(reading->chunk.spare);
    free(reading);
    return status;
}
