/* array/fill.c - arrays are made of what their elements are: zeros, one value, indices, or what a
 * callback says. */
#include <string.h>

#include "array/array.h"
#include "core/block.h"
#include "core/half.h"
#include "core/hash.h"
#include "core/rows.h"

/* Fills this rank's block from `source`; *digest is of what must be the same on all ranks. */
typedef spmd_status fill_block(spmd_array *array, const void *source, uint64_t *digest);

static spmd_status create(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                          fill_block *fill, const void *source, spmd_array **out)
{
    spmd_sharding *sharding = NULL;
    spmd_array *array = NULL;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array needs a mesh, this is NULL");
    uint64_t digest = 0;
    spmd_status status = spmd_sharding_create(mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd__array_check_place(out);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, shape, &array);
    if (status == SPMD_OK && fill)
        status = spmd__array_check_values(sharding);
    if (status == SPMD_OK && fill && spmd__mesh_is_member(mesh)) {
        status = fill(array, source, &digest);
        spmd__array_count_once(array);
    }
    if (!sharding)
        return spmd__mesh_agree(mesh, status, 0);
    status = spmd__array_settle(sharding, status, digest, array, out);
    spmd_sharding_free(&sharding);
    return status;
}

spmd_status spmd_array_zeros(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                             spmd_array **array)
{
    return create(mesh, spec, dtype, shape, NULL, NULL, array);
}

static spmd_status fill_with_value(spmd_array *array, const void *value, uint64_t *digest)
{
    size_t element = spmd_dtype_size(array->dtype);
    char *at = array->block.data;
    if (!value)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array full of a value needs the value, it is NULL");
    for (int64_t i = spmd_block_size(&array->block); i > 0; i--, at += element)
        memcpy(at, value, element);
    *digest = spmd__hash(spmd__hash_text(0, __func__), value, element);
    return SPMD_OK;
}

spmd_status spmd_array_full(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                            const void *value, spmd_array **array)
{
    return create(mesh, spec, dtype, shape, fill_with_value, value, array);
}

/* Writes `count` elements first, first + 1, ... converted to dtype. */
static void write_indices(spmd_dtype dtype, int64_t first, int64_t count, void *out)
{
#define WRITE(type, value)              \
    for (int64_t i = 0; i < count; i++) \
    ((type *)out)[i] = (type)(value)
    switch (dtype) {
    case SPMD_BOOL:
        WRITE(bool, first + i != 0);
        break;
    case SPMD_I8:
    case SPMD_U8:
        WRITE(uint8_t, first + i);
        break;
    case SPMD_I16:
    case SPMD_U16:
        WRITE(uint16_t, first + i);
        break;
    case SPMD_I32:
    case SPMD_U32:
        WRITE(uint32_t, first + i);
        break;
    case SPMD_I64:
    case SPMD_U64:
        WRITE(int64_t, first + i);
        break;
    case SPMD_F16:
        WRITE(uint16_t, spmd__f32_to_f16((float)(first + i)));
        break;
    case SPMD_BF16:
        WRITE(uint16_t, spmd__f32_to_bf16((float)(first + i)));
        break;
    case SPMD_F32:
        WRITE(float, first + i);
        break;
    case SPMD_F64:
        WRITE(double, first + i);
        break;
    case SPMD_C64:
        WRITE(float _Complex, first + i);
        break;
    case SPMD_C128:
        WRITE(double _Complex, first + i);
        break;
    case SPMD_DTYPE_NONE:
        break;
    }
#undef WRITE
}

static spmd_status fill_with_indices(spmd_array *array, const void *source, uint64_t *digest)
{
    (void)source;
    spmd_box box = spmd__block_box(&array->block);
    struct rows rows = spmd__rows_begin(array->shape, &box);
    while (spmd__rows_next(&rows))
        write_indices(array->dtype, rows.first, rows.count,
                      (char *)array->block.data + rows.at * (int64_t)spmd_dtype_size(array->dtype));
    *digest = spmd__hash_text(0, __func__);
    return SPMD_OK;
}

spmd_status spmd_array_arange(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                              spmd_array **array)
{
    return create(mesh, spec, dtype, shape, fill_with_indices, NULL, array);
}

struct callback {
    spmd_fill *fill;
    void *user;
};

static spmd_status fill_by_callback(spmd_array *array, const void *source, uint64_t *digest)
{
    const struct callback *callback = source;
    spmd_box box = spmd__block_box(&array->block);
    if (!callback->fill)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array from a callback needs one, it is NULL");
    *digest = spmd__hash_text(0, __func__);
    if (spmd_box_size(&box) == 0)
        return SPMD_OK;
    return callback->fill(&box, array->block.data, callback->user);
}

spmd_status spmd_array_from_callback(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                     spmd_shape shape, spmd_fill *fill, void *user,
                                     spmd_array **array)
{
    return create(mesh, spec, dtype, shape, fill_by_callback, &(struct callback){fill, user},
                  array);
}
