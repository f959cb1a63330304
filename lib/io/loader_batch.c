/* io/loader_batch.c - a batch on its way: read in a thread, made arrays of by whoever wants it. */
#include <signal.h>
#include <stdlib.h>

#include "array/array.h"
#include "core/block.h"
#include "core/mem.h"
#include "core/pool.h"
#include "io/cause.h"
#include "io/convert.h"
#include "io/loader.h"

/* Bytes of an element in memory: before it is converted, or after that. */
static size_t room(const struct source *source)
{
    const size_t size = spmd_dtype_size(source->dtype);
    const bool larger = source->placement.direct && source->placement.element > size;
    return larger ? source->placement.element : size;
}

/* An array of a batch, whose block has room for the elements as they are stored. */
static spmd_status make_array(const struct source *source, int64_t rows, spmd_array **array)
{
    const spmd_shape shape = spmd__source_batch(source, rows);
    const spmd_box box =
        spmd__sharding_box_of(source->sharding, shape, source->sharding->mesh->position);
    spmd_block block = spmd_block_borrow(NULL, source->dtype, spmd_box_shape(&box));
    spmd_array *made;
    TRY(spmd__pool_take((size_t)spmd_block_size(&block) * room(source), false, &block.data));
    spmd_status status = spmd__array_blank(&made);
    if (status != SPMD_OK) {
        spmd__pool_give(block.data);
        return status;
    }
    spmd__array_place(source->sharding, shape, &block);
    spmd__array_become(made, source->sharding, shape, &block);
    *array = made;
    return SPMD_OK;
}

static spmd_status make_arrays(struct batch *batch)
{
    const spmd_loader *loader = batch->loader;
    const int64_t left = loader->ordering.rows - batch->first;
    const int64_t rows = left < loader->batch ? left : loader->batch;
    TRY(spmd__alloc((size_t)loader->ndatasets, sizeof *batch->arrays, &batch->arrays));
    for (int d = 0; d < loader->ndatasets; d++)
        TRY(make_array(&loader->sources[d], rows, &batch->arrays[d]));
    return SPMD_OK;
}

static int by_row(const void *a, const void *b)
{
    const struct wanted *p = a, *q = b;
    return (p->row > q->row) - (p->row < q->row);
}

/* The rows of a block of the batch, sorted by their places in the file; the caller frees them. */
static spmd_status list_rows(struct batch *batch, const spmd_block *block, struct wanted **rows)
{
    const int64_t count = block->shape[0];
    TRY(spmd__alloc((size_t)count, sizeof **rows, rows));
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = batch->first + block->offset[0] + i;
        (*rows)[i] = (struct wanted){spmd__epoch_row(&batch->epoch, at), i};
    }
    qsort(*rows, (size_t)count, sizeof **rows, by_row);
    return SPMD_OK;
}

static spmd_status read_rows(struct batch *batch, const struct source *source,
                             const spmd_block *block)
{
    struct wanted *rows;
    if (spmd_block_size(block) == 0)
        return SPMD_OK;
    TRY(list_rows(batch, block, &rows));
    const spmd_box part = spmd__placement_part(block);
    spmd_status status =
        source->placement.direct
            ? spmd__placement_read(&source->placement, block->shape[0], rows, &part, block->data)
            : spmd__source_read(batch->loader->file, source, block->shape[0], rows, block);
    free(rows);
    return status;
}

/* All datasets that can be read without HDF5, or all others. */
static spmd_status read_all(struct batch *batch, bool direct)
{
    for (int d = 0; d < batch->loader->ndatasets; d++) {
        const struct source *source = &batch->loader->sources[d];
        if (source->placement.direct == direct)
            TRY(read_rows(batch, source, &batch->arrays[d]->block));
    }
    return SPMD_OK;
}

static void *run(void *user)
{
    struct batch *batch = user;
    spmd__error_keep(&batch->failure, read_all(batch, true));
    return NULL;
}

/* Signals are the program's: its handlers run in its own threads. */
static bool start_thread(struct batch *batch)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&batch->thread, NULL, run, batch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0;
}

static void join(struct batch *batch)
{
    if (batch->in_thread)
        pthread_join(batch->thread, NULL);
    batch->in_thread = false;
}

spmd_status spmd__batch_begin(const spmd_loader *loader, int64_t epoch, int64_t step,
                              struct batch **batch)
{
    struct batch *begun;
    TRY(spmd__alloc(1, sizeof *begun, &begun));
    begun->loader = loader;
    begun->epoch = spmd__epoch_make(&loader->ordering, epoch);
    begun->first = step * loader->batch;
    spmd_status status = make_arrays(begun);
    if (status != SPMD_OK) {
        spmd__batch_free(&begun);
        return status;
    }
    begun->in_thread = !loader->waits && start_thread(begun);
    if (!begun->in_thread)
        run(begun);
    *batch = begun;
    return SPMD_OK;
}

/* Elements as they are stored become those of the batch, and what they need no more is free. */
static spmd_status convert(const struct source *source, const spmd_block *block)
{
    const size_t bytes = spmd__block_bytes(block);
    if (!source->placement.direct || !source->converts || bytes == 0)
        return SPMD_OK;
    spmd_status status =
        spmd__convert(source->stored, source->dtype, spmd_block_size(block), block->data);
    if (status != SPMD_OK)
        return spmd__io_refine(status, "%s: dataset \"%s\"", source->placement.path,
                               source->placement.name);
    if (room(source) > spmd_dtype_size(source->dtype))
        spmd__pool_shrink(block->data, bytes);
    return SPMD_OK;
}

static spmd_status complete(struct batch *batch)
{
    for (int d = 0; d < batch->loader->ndatasets; d++)
        TRY(convert(&batch->loader->sources[d], &batch->arrays[d]->block));
    return read_all(batch, false);
}

spmd_status spmd__batch_finish(struct batch *batch)
{
    spmd_status status;
    join(batch);
    TRY(spmd__error_again(&batch->failure));
    QUIETLY(status = complete(batch));
    return status;
}

void spmd__batch_free(struct batch **batch)
{
    struct batch *freed = *batch;
    *batch = NULL;
    if (!freed)
        return;
    join(freed);
    for (int d = 0; freed->arrays && d < freed->loader->ndatasets; d++)
        spmd_array_free(&freed->arrays[d]);
    free(freed->arrays);
    free(freed);
}
