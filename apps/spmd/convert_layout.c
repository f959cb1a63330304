/* convert_layout.c - how a dataset is to be stored, by how it is and what was asked for. */
#include <string.h>

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

static bool is_named(const struct convert_options *options, const char *name)
{
    for (int i = 0; i < options->nnames; i++)
        if (strcmp(options->names[i], name) == 0)
            return true;
    return false;
}

/* Chunks are not larger than the dataset, where it cannot grow. */
static void set_chunk(spmd_shape shape, spmd_shape chunk, spmd_dataset_options *layout)
{
    for (int d = 0; d < shape.ndim; d++) {
        bool grows = d == 0 && layout->unlimited;
        layout->chunk[d] = grows || chunk.dim[d] < shape.dim[d] ? chunk.dim[d] : shape.dim[d];
        if (layout->chunk[d] == 0)
            layout->chunk[d] = 1;
    }
}

/* The chunk that was asked for, for an array of this shape; ndim -1 if there is none. */
static spmd_status wanted_chunk(const struct convert_options *options, spmd_shape shape,
                                spmd_shape *chunk)
{
    *chunk = options->chunk;
    if (!options->blocks)
        return SPMD_OK;
    spmd_box box;
    SPMD_TRY(spmd_sharding_box(options->blocks, shape, 0, &box)); /* the largest is the first */
    *chunk = spmd_box_shape(&box);
    return SPMD_OK;
}

/* Chunks that do not fit an array are meant for others, unless it was named. */
static spmd_status change_chunk(const struct convert_options *options, const char *name,
                                spmd_shape shape, spmd_dataset_options *layout)
{
    spmd_shape chunk = {.ndim = -1};
    spmd_status status = wanted_chunk(options, shape, &chunk);
    if (status == SPMD_OK && chunk.ndim >= 0 && chunk.ndim != shape.ndim)
        status = spmd_fail(SPMD_ERR_SHAPE, "dataset \"%s\" has %d dimension%s, the chunks have %d",
                           name, shape.ndim, plural(shape.ndim), chunk.ndim);
    if (status != SPMD_OK)
        return options->nnames > 0 ? status : SPMD_OK;
    if (chunk.ndim > 0)
        set_chunk(shape, chunk, layout);
    return SPMD_OK;
}

static void change_type(const struct convert_options *options, spmd_dtype *dtype)
{
    if (options->dtype == SPMD_DTYPE_NONE)
        return;
    if (options->nnames > 0 || kind_of(options->dtype) == kind_of(*dtype))
        *dtype = options->dtype;
}

static spmd_status change(const struct convert_options *options, const char *name, spmd_shape shape,
                          spmd_dtype *dtype, spmd_dataset_options *layout)
{
    change_type(options, dtype);
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
    if (options->nnames == 0 || is_named(options, name))
        SPMD_TRY(change(options, name, shape, dtype, layout));
    /* A scalar, and what has no elements and never will, are one piece. */
    if (shape.ndim == 0 || (spmd_shape_size(shape) == 0 && !layout->unlimited))
        *layout = (spmd_dataset_options){.fill = layout->fill};
    return SPMD_OK;
}
