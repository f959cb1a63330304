/* sweep_data.c - the data set of a sweep: a file, or the one built in. */
#include "sweep.h"

#include <stdio.h>

#include "digest.h"
#include "digits.h"
#include "h5file.h"

const char sweep_builtin_data[] = "digits (built in)";

static spmd_status open_data(struct sweep *sweep, spmd_file **file)
{
    const char *path = sweep->options->data;
    if (!path)
        return spmd_file_open_image(sweep->mesh, spmd_digits, spmd_digits_size, sweep_builtin_data,
                                    file);
    return spmd_file_open(sweep->mesh, path, file);
}

static bool is_number(spmd_dtype dtype)
{
    return dtype != SPMD_BOOL && dtype != SPMD_C64 && dtype != SPMD_C128;
}

static bool is_whole(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_I8:
    case SPMD_I16:
    case SPMD_I32:
    case SPMD_I64:
    case SPMD_U8:
    case SPMD_U16:
    case SPMD_U32:
    case SPMD_U64:
        return true;
    default:
        return false;
    }
}

static spmd_status check_datasets(struct sweep *sweep, spmd_file *file)
{
    const struct sweep_options *options = sweep->options;
    const char *source = sweep->fields[SWEEP_FIELD_SOURCE].value;
    spmd_dtype dtype;
    spmd_shape shape;
    SPMD_TRY(spmd_dataset_info(file, options->x, &dtype, &shape));
    if (shape.ndim != 2 || !is_number(dtype))
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset %s is %d-d of %s, but training takes numbers "
                         "[n, features], 2-d",
                         source, options->x, shape.ndim, spmd_dtype_name(dtype));
    SPMD_TRY(spmd_dataset_info(file, options->y, &dtype, &shape));
    if (shape.ndim != 1 || !is_whole(dtype))
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset %s is %d-d of %s, but labels are whole numbers [n], 1-d",
                         source, options->y, shape.ndim, spmd_dtype_name(dtype));
    return SPMD_OK;
}

static uint64_t digest_array(uint64_t digest, const spmd_array *array)
{
    const spmd_block *block = spmd_array_block(array);
    size_t bytes = (size_t)spmd_block_size(block) * spmd_dtype_size(block->dtype);
    digest = digest_add(digest, block->shape, (size_t)block->ndim * sizeof block->shape[0]);
    return digest_add(digest, block->data, bytes);
}

static void describe_data(struct sweep *sweep, const spmd_array *x, const spmd_array *y)
{
    struct journal_field *field = &sweep->fields[SWEEP_FIELD_DATA];
    spmd_shape shape = spmd_array_shape(x);
    uint64_t digest = digest_array(digest_array(DIGEST_EMPTY, x), y);
    snprintf(field->value, sizeof field->value, "%lldx%lld with digest %016llx",
             (long long)shape.dim[0], (long long)shape.dim[1], (unsigned long long)digest);
}

static spmd_status read_datasets(struct sweep *sweep, spmd_file *file)
{
    SPMD_TRY(check_datasets(sweep, file));
    spmd_array *x = NULL, *y = NULL;
    spmd_status status = spmd_dataset_read(file, sweep->options->x, "P()", SPMD_F32, &x);
    if (status == SPMD_OK)
        status = spmd_dataset_read(file, sweep->options->y, "P()", SPMD_I32, &y);
    if (status == SPMD_OK)
        status = mlp_split(sweep->mesh, x, y, sweep->keys[SWEEP_KEY_SPLIT], sweep->data);
    if (status == SPMD_OK)
        describe_data(sweep, x, y);
    spmd_array_free(&x);
    spmd_array_free(&y);
    return status;
}

spmd_status sweep_read_data(struct sweep *sweep)
{
    spmd_file *file;
    SPMD_TRY(open_data(sweep, &file));
    return h5file_end(&file, read_datasets(sweep, file));
}
