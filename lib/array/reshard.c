/* array/reshard.c - the same array under another sharding, at once. */
#include "array/reshard.h"

#include <string.h>

#include "core/block.h"
#include "core/hash.h"
#include "core/pool.h"

/* The move of a plan that has begun. */
static spmd_status move(spmd_reshard_call *plan, const spmd_array *array, spmd_array **out)
{
    spmd_array *made = NULL;
    spmd_status status = spmd__array_check_place(out);
    if (status == SPMD_OK)
        status = spmd__array_alloc_unset(plan->to, plan->dtype, plan->shape, &made);
    if (status == SPMD_OK)
        status = spmd__reshard_draft(plan);
    status = spmd__reshard_agree(plan, status);
    if (status == SPMD_OK)
        status = spmd__reshard_move(plan, &array->block, &made->block);
    if (status == SPMD_OK) {
        spmd__array_note_empty(made);
        *out = made;
    } else {
        spmd_array_free(&made);
    }
    return status;
}

spmd_status spmd__reshard(spmd_array *array, const spmd_sharding *sharding, spmd_array **out)
{
    spmd_reshard_call plan;
    spmd_status status =
        spmd__reshard_begin(array->sharding, sharding, array->dtype, array->shape, &plan);
    if (status == SPMD_OK && plan.nothing) {
        status = spmd__array_check_place(out);
        if (status == SPMD_OK)
            *out = spmd_array_hold(array);
    } else if (status == SPMD_OK) {
        status = move(&plan, array, out);
    }
    spmd__reshard_end(&plan);
    return status;
}

/* MPI's collectives take no source that lies in their target: *copy, to be given back, is one that
 * does not. */
static spmd_status copy_source(const spmd_reshard_call *plan, const spmd_block *source,
                               spmd_block *copy)
{
    *copy = *source;
    copy->data = NULL;
    if (!plan->collective.group)
        return SPMD_OK;
    TRY(spmd__pool_take(spmd__block_bytes(source), false, &copy->data));
    memcpy(copy->data, source->data, spmd__block_bytes(source));
    return SPMD_OK;
}

spmd_status spmd__reshard_into(const spmd_array *array, spmd_array *target)
{
    spmd_reshard_call plan;
    spmd_block copy = {.data = NULL};
    spmd_status status =
        spmd__reshard_begin(array->sharding, target->sharding, array->dtype, array->shape, &plan);
    if (status == SPMD_OK && !plan.nothing) {
        status = spmd__reshard_draft(&plan);
        if (status == SPMD_OK)
            status = copy_source(&plan, &array->block, &copy);
        status = spmd__reshard_agree(&plan, status);
        if (status == SPMD_OK)
            status = spmd__reshard_move(&plan, copy.data ? &copy : &array->block, &target->block);
    }
    spmd__pool_give(copy.data);
    spmd__reshard_end(&plan);
    return status;
}

spmd_status spmd__array_values(spmd_array *array, spmd_array **values)
{
    const spmd_sharding *sharding = array->sharding;
    spmd_sharding *plain;
    if (sharding->spec.unreduced == 0) {
        *values = spmd_array_hold(array);
        return SPMD_OK;
    }
    spmd_status status = spmd__sharding_of_values(sharding, &plain);
    uint64_t digest = spmd__array_digest(sharding, array->dtype, array->shape);
    TRY(spmd__mesh_agree(sharding->mesh, status, spmd__hash_text(digest, __func__)));
    status = spmd__reshard(array, plain, values);
    spmd_sharding_free(&plain);
    return status;
}

uint64_t spmd__reshard_digest(const spmd_sharding *from, const spmd_sharding *to, spmd_dtype dtype,
                              spmd_shape shape)
{
    uint64_t words[] = {spmd__array_digest(from, dtype, shape),
                        spmd__array_digest(to, dtype, shape), spmd__mesh_digest(to->mesh)};
    return spmd__hash(0, words, sizeof words);
}

spmd_status spmd__reshard_agree_on_call(const spmd_array *array, const spmd_sharding *sharding,
                                        spmd_status status)
{
    spmd_mesh *mesh = array->sharding->mesh;
    uint64_t digest = 0;
    if (status == SPMD_OK && !sharding)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the sharding is NULL");
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        digest = spmd__reshard_digest(array->sharding, sharding, array->dtype, array->shape);
    return spmd__mesh_agree(mesh, status, digest);
}

spmd_status spmd_reshard_to(spmd_array *array, const spmd_sharding *sharding, spmd_array **out)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the array is NULL");
    /* Ranks that only the target mesh has are asked in the move. */
    bool member = spmd__mesh_is_member(array->sharding->mesh);
    TRY(spmd__reshard_agree_on_call(array, sharding,
                                    member ? spmd__array_check_place(out) : SPMD_OK));
    return spmd__reshard(array, sharding, out);
}

spmd_status spmd_reshard(spmd_array *array, const char *spec, spmd_array **out)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the array is NULL");
    spmd_sharding *sharding = NULL;
    spmd_status status = spmd_sharding_create(array->sharding->mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd__array_check_place(out);
    status = spmd__reshard_agree_on_call(array, sharding, status);
    if (status == SPMD_OK)
        status = spmd__reshard(array, sharding, out);
    spmd_sharding_free(&sharding);
    return status;
}
