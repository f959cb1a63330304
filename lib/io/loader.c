/* io/loader.c - loaders: asked for batches, moved, freed. */
#include "io/loader.h"

#include <stdlib.h>

#include "array/array.h"
#include "core/hash.h"
#include "io/cause.h"

spmd_status spmd__loader_check(const spmd_loader *loader, const char *call)
{
    if (!loader)
        return spmd__io_refuse(call, NULL, "the loader is NULL: it is freed, or was never made");
    return SPMD_OK;
}

static void advance(spmd_loader *loader)
{
    if (++loader->step == loader->batches) {
        loader->epoch++;
        loader->step = 0;
    }
}

/* What idle ranks get. */
static spmd_status give_unknown(spmd_loader *loader, spmd_array *batch[])
{
    for (int d = 0; d < loader->ndatasets; d++) {
        const struct source *source = &loader->sources[d];
        spmd_status status = spmd__array_unknown(source->sharding, source->dtype,
                                                 source->sharding->spec.ndim, &batch[d]);
        if (status == SPMD_OK)
            continue;
        while (d > 0)
            spmd_array_free(&batch[--d]);
        return status;
    }
    advance(loader);
    return SPMD_OK;
}

/* The batch that comes next, as the thread has read it, or read now. */
static spmd_status take(spmd_loader *loader, struct batch **batch)
{
    if (loader->epoch > LAST_EPOCH)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: there is no batch behind epoch %lld",
                         loader->file->path, (long long)LAST_EPOCH);
    *batch = loader->ahead;
    loader->ahead = NULL;
    if (!*batch)
        TRY(spmd__batch_begin(loader, loader->epoch, loader->step, batch));
    return spmd__batch_finish(*batch);
}

static void give(struct batch *taken, int ndatasets, spmd_array *batch[])
{
    for (int d = 0; d < ndatasets; d++) {
        batch[d] = taken->arrays[d];
        taken->arrays[d] = NULL;
        spmd__array_note_empty(batch[d]);
    }
}

/* Without memory for it, the next batch is tried again when it is asked for. */
static void read_ahead(spmd_loader *loader)
{
    const bool ends = loader->epoch > LAST_EPOCH;
    if (!ends && !loader->waits &&
        spmd__batch_begin(loader, loader->epoch, loader->step, &loader->ahead))
        spmd__error_clear();
}

static uint64_t digest_position(const spmd_loader *loader, const char *call, int64_t epoch,
                                int64_t step)
{
    const int64_t position[] = {epoch, step};
    const uint64_t hash = spmd__hash(0, position, sizeof position);
    return spmd__hash_text(spmd__hash_text(hash, call), loader->file->path);
}

static spmd_status next_on_member(spmd_loader *loader, spmd_status status, spmd_array *batch[])
{
    spmd_mesh *mesh = loader->file->mesh;
    struct batch *taken = NULL;
    if (status == SPMD_OK)
        status = take(loader, &taken);
    status = spmd__mesh_agree(mesh, status,
                              digest_position(loader, __func__, loader->epoch, loader->step));
    if (status == SPMD_OK) {
        give(taken, loader->ndatasets, batch);
        advance(loader);
        read_ahead(loader);
    }
    spmd__batch_free(&taken);
    return status;
}

spmd_status spmd_loader_next(spmd_loader *loader, spmd_array *batch[])
{
    TRY(spmd__loader_check(loader, __func__));
    spmd_status status = SPMD_OK;
    if (!batch)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the batch, it is NULL");
    if (spmd__mesh_is_member(loader->file->mesh))
        return next_on_member(loader, status, batch);
    TRY(status);
    return give_unknown(loader, batch);
}

spmd_status spmd__loader_go(spmd_loader *loader, const char *call, spmd_status status,
                            int64_t epoch, int64_t step)
{
    const uint64_t hash = digest_position(loader, call, epoch, step);
    if (status != SPMD_OK)
        status = spmd__io_refine(status, "%s", loader->file->path);
    TRY(spmd__mesh_agree(loader->file->mesh, status, hash));
    spmd__batch_free(&loader->ahead);
    loader->epoch = epoch;
    loader->step = step;
    return SPMD_OK;
}

int64_t spmd_loader_epoch(const spmd_loader *loader)
{
    return loader->epoch;
}

int64_t spmd_loader_step(const spmd_loader *loader)
{
    return loader->step;
}

int64_t spmd_loader_batches(const spmd_loader *loader)
{
    return loader->batches;
}

int64_t spmd_loader_rows(const spmd_loader *loader)
{
    return loader->ordering.rows;
}

void spmd_loader_free(spmd_loader **loader)
{
    if (!loader || !*loader)
        return;
    spmd_loader *freed = *loader;
    spmd__batch_free(&freed->ahead);
    for (int d = 0; d < freed->ndatasets; d++)
        spmd__source_close(&freed->sources[d]);
    spmd__file_undo(freed->file);
    free(freed->sources);
    free(freed);
    *loader = NULL;
}
