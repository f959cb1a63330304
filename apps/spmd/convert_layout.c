/* convert_layout.c - how a dataset is to be stored, by how it is and what was asked for. */
#include "convert.h"

#include "plural.h"

/* Numbers that a conversion of all arrays turns into each other. */
enum kind { FLAGS, INTEGERS, FLOATS, COMPLEX };

static enum kind kind_of(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_BOOL:
        return FLAGS;
    case SPMD_F16:
    case SPMD_BF16:
    case SPMD_F32:
    case SPMD_F64:
        return FLOATS;
    case SPMD_C64:
    case SPMD_C128:
        return COMPLEX;
    default:
        return INTEGERS;
    }
}

/* The extent that a dimension can have at most. */
static int64_t most_of(spmd_shape shape, const spmd_dataset_options *layout, int d)
{
    int64_t most = d == 0 && layout->unlimited ? SPMD_UNLIMITED : layout->most[d];
    return most > shape.dim[d] ? most : shape.dim[d];
}

static bool can_grow(spmd_shape shape, const spmd_dataset_options *layout)
{
    for (int d = 0; d < shape.ndim; d++)
        if (most_of(shape, layout, d) > shape.dim[d])
            return true;
    return false;
}

/* Chunks are not larger than the dataset can become. */
static void set_chunk(spmd_shape shape, spmd_shape chunk, spmd_dataset_options *layout)
{
    for (int d = 0; d < shape.ndim; d++) {
        int64_t most = most_of(shape, layout, d);
        layout->chunk[d] = chunk.dim[d] < most ? chunk.dim[d] : most;
        if (layout->chunk[d] == 0)
            layout->chunk[d] = 1;
    }
}

/* The chunk that was asked for, for an array of this shape; ndim -1 if there is none. */
static spmd_status wanted_chunk(const struct convert_options *options, const char *name,
                                spmd_shape shape, spmd_shape *chunk)
{
    *chunk = options->chunk;
    if (options->blocks) {
        spmd_box box;
        SPMD_TRY(spmd_sharding_box(options->blocks, shape, 0, &box)); /* the largest is the first */
        *chunk = spmd_box_shape(&box);
    }
    if (chunk->ndim >= 0 && chunk->ndim != shape.ndim)
        return spmd_fail(SPMD_ERR_SHAPE, "dataset \"%s\" has %d dimension%s, the chunks have %d",
                         name, shape.ndim, plural(shape.ndim), chunk->ndim);
    return SPMD_OK;
}

/* Chunks that do not fit an array are meant for others, unless it was named. */
static spmd_status change_chunk(const struct convert_options *options, const char *name,
                                spmd_shape shape, spmd_dataset_options *layout)
{
    spmd_shape chunk = {.ndim = -1};
    spmd_status status = wanted_chunk(options, name, shape, &chunk);
    if (status != SPMD_OK)
        return convert_meaning(options, name) == CONVERT_NAMED ? status : SPMD_OK;
    if (chunk.ndim > 0)
        set_chunk(shape, chunk, layout);
    return SPMD_OK;
}

static void change_type(const struct convert_options *options, const char *name, spmd_dtype *dtype)
{
    if (options->dtype == SPMD_DTYPE_NONE)
        return;
    if (convert_meaning(options, name) == CONVERT_NAMED ||
        kind_of(options->dtype) == kind_of(*dtype))
        *dtype = options->dtype;
}

static spmd_status change(const struct convert_options *options, const char *name, spmd_shape shape,
                          spmd_dtype *dtype, spmd_dataset_options *layout)
{
    change_type(options, name, dtype);
    if (options->contiguous)
        *layout = (spmd_dataset_options){.fill = layout->fill};
    layout->unlimited = layout->unlimited || options->unlimited;
    layout->shuffle = layout->shuffle || options->shuffle;
    layout->fletcher32 = layout->fletcher32 || options->fletcher32;
    if (options->deflate >= 0)
        layout->deflate = (int)options->deflate;
    return change_chunk(options, name, shape, layout);
}

spmd_status convert_layout(const struct convert_options *options, const char *name,
                           spmd_shape shape, spmd_dtype *dtype, spmd_dataset_options *layout)
{
    if (convert_meaning(options, name) != CONVERT_NOT)
        SPMD_TRY(change(options, name, shape, dtype, layout));
    /* A scalar, and what has no elements and never will, are one piece. */
    if (shape.ndim == 0 || (spmd_shape_size(shape) == 0 && !can_grow(shape, layout)))
        *layout = (spmd_dataset_options){.fill = layout->fill};
    return SPMD_OK;
}

spmd_status convert_check_chunks(const struct convert_options *options,
                                 const spmd_file_listing *listing)
{
    spmd_status status = SPMD_OK;
    for (int i = 0; i < listing->count; i = convert_next(listing, i)) {
        const spmd_file_entry *entry = &listing->entry[i];
        spmd_shape chunk;
        if (!convert_is_array(entry) || convert_meaning(options, entry->name) == CONVERT_NOT)
            continue;
        status = wanted_chunk(options, entry->name, entry->shape, &chunk);
        if (status == SPMD_OK)
            return SPMD_OK;
    }
    if (status == SPMD_OK)
        return SPMD_OK;
    return spmd_fail(status, "%s: --chunks fits no array: %s", options->in, spmd_error_message());
}
