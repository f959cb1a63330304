/* io/loader_create.c - loaders are made: which datasets, how many batches, in which order. */
#include "array/array.h"
#include "core/hash.h"
#include "core/mem.h"
#include "io/cause.h"
#include "io/loader.h"

static spmd_status check_arguments(int ndatasets, const char *const names[],
                                   const char *const specs[], const spmd_loader_options *options,
                                   spmd_loader *const *loader)
{
    if (!loader)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the loader is NULL");
    if (ndatasets < 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a loader of %d datasets; it needs one at least",
                         ndatasets);
    if (!names || !specs || !options)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the %s of the loader are NULL",
                         !names   ? "names"
                         : !specs ? "specs"
                                  : "options");
    if (options->batch < 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a batch of %lld rows; it needs one at least",
                         (long long)options->batch);
    if (options->window < 0 || (options->window > 0 && !options->shuffle))
        return spmd_fail(SPMD_ERR_ARGUMENT, "a window of %lld chunks%s", (long long)options->window,
                         options->window < 0 ? "" : ", but nothing is shuffled; say shuffle too");
    return SPMD_OK;
}

static uint64_t digest(int ndatasets, const char *const names[], const char *const specs[],
                       const spmd_loader_options *options)
{
    const int64_t numbers[] = {ndatasets,           options->batch,     options->shuffle,
                               options->window,     options->keep_rest, options->key.word[0],
                               options->key.word[1]};
    uint64_t hash = spmd__hash(0, numbers, sizeof numbers);
    for (int d = 0; d < ndatasets; d++) {
        hash = spmd__hash_text(spmd__hash_text(hash, names[d]), specs[d]);
        if (options->dtypes)
            hash = spmd__hash(hash, &options->dtypes[d], sizeof options->dtypes[d]);
    }
    return hash;
}

/* A loader of datasets that are not open. */
static spmd_status make(spmd_mesh *mesh, int ndatasets, const char *const names[],
                        const char *const specs[], const spmd_loader_options *options,
                        spmd_loader *loader)
{
    TRY(spmd__alloc((size_t)ndatasets, sizeof *loader->sources, &loader->sources));
    loader->batch = options->batch;
    loader->batches = 1;
    loader->keep_rest = options->keep_rest;
    loader->waits = options->wait;
    loader->ordering = (struct ordering){
        .rows = -1, .shuffled = options->shuffle, .key = options->key, .window = options->window};
    for (int d = 0; d < ndatasets; d++) {
        const spmd_dtype dtype = options->dtypes ? options->dtypes[d] : SPMD_DTYPE_NONE;
        loader->ndatasets = d + 1;
        TRY(spmd__source_make(mesh, names[d], specs[d], dtype, &loader->sources[d]));
    }
    return SPMD_OK;
}

static spmd_status open_sources(spmd_loader *loader)
{
    const struct source *first = &loader->sources[0];
    for (int d = 0; d < loader->ndatasets; d++) {
        struct source *source = &loader->sources[d];
        TRY(spmd__source_open(loader->file, source));
        if (source->shape.dim[0] != first->shape.dim[0])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "%s: dataset \"%s\" has %lld rows, dataset \"%s\" has %lld",
                             loader->file->path, first->name, (long long)first->shape.dim[0],
                             source->name, (long long)source->shape.dim[0]);
    }
    loader->ordering.rows = first->shape.dim[0];
    return SPMD_OK;
}

/* How many batches an epoch has. */
static spmd_status count_batches(spmd_loader *loader)
{
    const int64_t rows = loader->ordering.rows, rest = rows % loader->batch;
    loader->batches = rows / loader->batch + (loader->keep_rest && rest > 0);
    if (loader->batches > 0)
        return SPMD_OK;
    return spmd_fail(
        SPMD_ERR_SHAPE, "%s: dataset \"%s\" has %lld rows, which fill no batch of %lld%s",
        loader->file->path, loader->sources[0].name, (long long)rows, (long long)loader->batch,
        rows > 0 ? "; say keep_rest, or a smaller batch" : "");
}

/* A window is of chunks; in rows the order depends on. */
static spmd_status measure_window(spmd_loader *loader)
{
    struct ordering *ordering = &loader->ordering;
    const int64_t chunks = ordering->window;
    if (chunks == 0)
        return SPMD_OK;
    ordering->run = loader->sources[0].chunk_rows;
    if (ordering->run == 0)
        return spmd_fail(
            SPMD_ERR_ARGUMENT,
            "%s: a window of %lld chunks, but dataset \"%s\" has no chunks; leave it 0",
            loader->file->path, (long long)chunks, loader->sources[0].name);
    const bool whole = chunks > ordering->rows / ordering->run;
    ordering->window = whole ? ordering->rows : chunks * ordering->run;
    return SPMD_OK;
}

/* Whether batches of so many rows can lie as they should. */
static spmd_status check_batch(const spmd_loader *loader, int64_t rows)
{
    for (int d = 0; d < loader->ndatasets; d++) {
        const struct source *source = &loader->sources[d];
        spmd_status status = spmd__array_check_type(source->sharding, source->dtype,
                                                    spmd__source_batch(source, rows));
        if (status != SPMD_OK)
            return spmd__io_refine(status, "%s: dataset \"%s\", a batch of %lld rows",
                                   loader->file->path, source->name, (long long)rows);
    }
    return SPMD_OK;
}

static spmd_status open_loader(spmd_loader *loader)
{
    TRY(open_sources(loader));
    TRY(count_batches(loader));
    TRY(measure_window(loader));
    const int64_t rows = loader->ordering.rows, rest = rows % loader->batch;
    if (rows >= loader->batch)
        TRY(check_batch(loader, loader->batch));
    return loader->keep_rest && rest > 0 ? check_batch(loader, rest) : SPMD_OK;
}

spmd_status spmd_loader_create(spmd_mesh *mesh, const char *path, int ndatasets,
                               const char *const names[], const char *const specs[],
                               const spmd_loader_options *options, spmd_loader **loader)
{
    TRY(spmd__file_check_mesh(mesh, __func__, path));
    spmd_loader *made = NULL;
    spmd_status status = check_arguments(ndatasets, names, specs, options, loader);
    uint64_t hash = status == SPMD_OK ? digest(ndatasets, names, specs, options) : 0;
    if (status == SPMD_OK)
        status = spmd__alloc(1, sizeof *made, &made);
    if (status == SPMD_OK)
        status = make(mesh, ndatasets, names, specs, options, made);
    if (status != SPMD_OK && path)
        status = spmd__io_refine(status, "%s", path);
    status = spmd__mesh_agree(mesh, status, spmd__hash_text(hash, __func__));
    if (status == SPMD_OK)
        status = spmd_file_open(mesh, path, &made->file);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh)) {
        QUIETLY(status = open_loader(made));
        status = spmd__mesh_agree(mesh, status, (uint64_t)made->ordering.rows);
    }
    if (status == SPMD_OK)
        *loader = made;
    else
        spmd_loader_free(&made);
    return status;
}
