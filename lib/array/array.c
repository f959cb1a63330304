/* array/array.c - sharded arrays: made in place, held, freed, described. */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/pool.h"
#include "core/shape.h"
#include "core/steps.h"
#include "core/tell.h"

spmd_status spmd__array_check_mesh(const spmd_mesh *mesh)
{
    if (mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks that could hold an array");
    return SPMD_OK;
}

spmd_status spmd__array_check_layout(const spmd_sharding *sharding, spmd_dtype dtype,
                                     spmd_shape shape)
{
    int64_t bytes;
    TRY(spmd__type_check(dtype, shape, &bytes));
    TRY(spmd_sharding_check(sharding, shape));
    return spmd__steps_check_unreduced(&sharding->mesh->axes, &sharding->spec, dtype);
}

/* Everything that can be wrong with an array's type, on the ranks that hold it. */
spmd_status spmd__array_check_type(const spmd_sharding *sharding, spmd_dtype dtype,
                                   spmd_shape shape)
{
    TRY(spmd__array_check_mesh(sharding->mesh));
    return spmd__array_check_layout(sharding, dtype, shape);
}

spmd_status spmd__array_check_values(const spmd_sharding *sharding)
{
    return spmd__steps_check_fill(&sharding->mesh->axes, &sharding->spec, sharding->spec.unreduced);
}

void spmd__array_count_once(spmd_array *array)
{
    const spmd_sharding *sharding = array->sharding;
    const spmd_mesh *mesh = sharding->mesh;
    if (!spmd__axes_is_first_along(&mesh->axes, sharding->spec.unreduced, mesh->position))
        memset(array->block.data, 0, spmd__block_bytes(&array->block));
}

void spmd__array_place(const spmd_sharding *sharding, spmd_shape shape, spmd_block *block)
{
    int64_t position = sharding->mesh->position;
    spmd_box box = spmd__sharding_box_of(sharding, shape, position);
    memcpy(block->offset, box.lo, sizeof box.lo);
    memcpy(block->global, shape.dim, sizeof shape.dim);
    block->replica = spmd_sharding_replica(sharding, position);
}

static spmd_status alloc_block(spmd_array *array, bool zeroed)
{
    spmd_box box =
        spmd__sharding_box_of(array->sharding, array->shape, array->sharding->mesh->position);
    spmd_block block = spmd_block_borrow(NULL, array->dtype, spmd_box_shape(&box));
    TRY(spmd__pool_take(spmd__block_bytes(&block), zeroed, &block.data));
    spmd__array_place(array->sharding, array->shape, &block);
    array->block = block;
    return SPMD_OK;
}

spmd_status spmd__array_blank(spmd_array **array)
{
    spmd_array *made;
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->holds = 1;
    *array = made;
    return SPMD_OK;
}

void spmd__array_become(spmd_array *array, const spmd_sharding *sharding, spmd_shape shape,
                        const spmd_block *block)
{
    spmd_sharding *before = array->sharding;
    array->sharding = spmd__sharding_hold(sharding);
    array->dtype = block->dtype;
    array->shape = shape;
    array->block = *block;
    spmd_sharding_free(&before);
}

spmd_status spmd__array_lend(spmd_array *lender, const spmd_sharding *sharding, spmd_shape shape,
                             spmd_array **array)
{
    spmd_block block = lender->block;
    spmd_array *made;
    TRY(spmd__array_blank(&made));
    spmd__array_place(sharding, shape, &block);
    spmd__array_become(made, sharding, shape, &block);
    made->lender = spmd_array_hold(lender);
    *array = made;
    return SPMD_OK;
}

static spmd_status alloc_array(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                               bool zeroed, spmd_array **array)
{
    bool member = spmd__mesh_is_member(sharding->mesh);
    if (member || sharding->mesh->abstract)
        TRY(spmd__array_check_type(sharding, dtype, shape));
    spmd_array *made;
    TRY(spmd__array_blank(&made));
    made->sharding = spmd__sharding_hold(sharding);
    made->dtype = dtype;
    made->shape = shape;
    spmd_status status = member ? alloc_block(made, zeroed) : SPMD_OK;
    if (status == SPMD_OK)
        *array = made;
    else
        spmd_array_free(&made);
    return status;
}

spmd_status spmd__array_alloc(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                              spmd_array **array)
{
    return alloc_array(sharding, dtype, shape, true, array);
}

spmd_status spmd__array_alloc_unset(const spmd_sharding *sharding, spmd_dtype dtype,
                                    spmd_shape shape, spmd_array **array)
{
    return alloc_array(sharding, dtype, shape, false, array);
}

/* Whether some position gets nothing of a dimension that is not empty. */
static bool leaves_ranks_empty(const spmd_array *array)
{
    const struct spec *spec = &array->sharding->spec;
    for (int d = 0; d < spec->ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        if (spmd__axis_list_size(&array->sharding->mesh->axes, &entry) > array->shape.dim[d])
            return spmd_shape_size(array->shape) > 0;
    }
    return false;
}

void spmd__array_note_empty(const spmd_array *array)
{
    spmd_mesh *mesh = array->sharding->mesh;
    if (mesh->position != 0 || mesh->quiet || !leaves_ranks_empty(array) ||
        !spmd__tell_first(&mesh->noted_empty))
        return;
    int64_t size = spmd_mesh_size(mesh), empty = 0;
    for (int64_t p = 0; p < size; p++) {
        spmd_box box = spmd__sharding_box_of(array->sharding, array->shape, p);
        empty += spmd_box_size(&box) == 0;
    }
    char type[512];
    spmd_array_format(type, sizeof type, array);
    spmd__tell_note("%s: %lld of %lld ranks hold nothing", type, (long long)empty, (long long)size);
}

uint64_t spmd__array_digest(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape)
{
    uint64_t hash = spmd__hash((uint64_t)dtype, shape.dim, sizeof *shape.dim * (size_t)shape.ndim);
    return spmd__hash(hash, &sharding->spec, sizeof sharding->spec);
}

spmd_status spmd__array_settle(const spmd_sharding *sharding, spmd_status status, uint64_t digest,
                               spmd_array *array, spmd_array **out)
{
    if (array && spmd__mesh_is_member(sharding->mesh))
        digest ^= spmd__array_digest(sharding, array->dtype, array->shape);
    status = spmd__mesh_agree(sharding->mesh, status, digest);
    if (status == SPMD_OK) {
        spmd__array_note_empty(array);
        *out = array;
    } else {
        spmd_array_free(&array);
    }
    return status;
}

spmd_status spmd__array_check_place(spmd_array *const *out)
{
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new array, it is NULL");
    return SPMD_OK;
}

spmd_status spmd__array_check_host(const spmd_array *array, const char *call, const void *host,
                                   int64_t count)
{
    int64_t size = spmd_shape_size(array->shape);
    if (count != size) {
        char type[512];
        spmd_array_format(type, sizeof type, array);
        return spmd_fail(SPMD_ERR_SHAPE, "%s: host has %lld elements, %s has %lld", call,
                         (long long)count, type, (long long)size);
    }
    if (!host && size > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: the host array is NULL", call);
    return SPMD_OK;
}

spmd_array *spmd_array_hold(spmd_array *array)
{
    array->holds++;
    return array;
}

void spmd_array_free(spmd_array **handle)
{
    spmd_array *array = *handle;
    *handle = NULL;
    if (!array || --array->holds > 0)
        return;
    if (array->lender)
        spmd_array_free(&array->lender);
    else
        spmd__pool_give(array->block.data);
    spmd_sharding_free(&array->sharding);
    free(array);
}

spmd_shape spmd_array_shape(const spmd_array *array)
{
    return array->shape;
}

spmd_dtype spmd_array_dtype(const spmd_array *array)
{
    return array->dtype;
}

const spmd_sharding *spmd_array_sharding(const spmd_array *array)
{
    return array->sharding;
}

int spmd_array_format(char *buffer, size_t size, const spmd_array *array)
{
    return spmd_sharding_format_type(buffer, size, array->sharding, array->dtype, array->shape);
}

const spmd_block *spmd_array_block(const spmd_array *array)
{
    return spmd__mesh_is_member(array->sharding->mesh) ? &array->block : NULL;
}
