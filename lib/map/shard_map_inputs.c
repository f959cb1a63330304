/* map/shard_map_inputs.c - a shard_map's inputs: found in place, or brought there. */
#include "array/reshard.h"
#include "core/hash.h"
#include "map/shard_map.h"

/* What can be said of the inputs before anything moves. */
static spmd_status check_input(const spmd_shard_map_call *plan, const spmd_array *array, int index)
{
    if (!spmd_mesh_equal(array->sharding->mesh, plan->mesh))
        return spmd_fail(SPMD_ERR_MESH,
                         "input %d lies on another mesh than the shard_map: reshard it first",
                         index);
    if (spmd_sharding_check(plan->input[index].wanted, array->shape) != SPMD_OK)
        return spmd_fail(SPMD_ERR_SPEC, "input %d: %s", index, spmd_error_message());
    return SPMD_OK;
}

spmd_status spmd__inputs_check(const spmd_shard_map_call *plan, spmd_array *const in[])
{
    for (int k = 0; k < plan->nin; k++)
        if (in[k])
            TRY(check_input(plan, in[k], k));
    return SPMD_OK;
}

uint64_t spmd__inputs_digest(const spmd_shard_map_call *plan, spmd_array *const in[])
{
    uint64_t hash = 0;
    for (int k = 0; k < plan->nin; k++) {
        uint64_t one = in[k] ? spmd__array_digest(in[k]->sharding, in[k]->dtype, in[k]->shape) : 0;
        hash = spmd__hash(hash, &one, sizeof one);
    }
    return hash;
}

/* Whether an input lies as its in_spec says; a sharding that did is known again by its address. */
static bool is_in_place(struct input *input, const spmd_array *array)
{
    if (array->sharding == input->seen)
        return true;
    if (!spmd_sharding_is_equivalent(array->sharding, input->wanted, array->shape.ndim))
        return false;
    spmd_sharding_free(&input->seen);
    input->seen = spmd__sharding_hold(array->sharding);
    return true;
}

/* Collective where something has to move. */
spmd_status spmd__inputs_place(spmd_shard_map_call *plan, spmd_array *const in[])
{
    for (int k = 0; k < plan->nin; k++) {
        struct input *input = &plan->input[k];
        const spmd_array *array = in[k];
        if (array && array->sharding != input->seen)
            TRY(check_input(plan, array, k));
        if (array && !is_in_place(input, array)) {
            TRY(spmd__reshard(in[k], input->wanted, &input->moved));
            array = input->moved;
        }
        plan->in[k] = array ? &array->block : NULL;
    }
    return SPMD_OK;
}

void spmd__inputs_drop(spmd_shard_map_call *plan)
{
    for (int k = 0; k < plan->nin; k++)
        spmd_array_free(&plan->input[k].moved);
}
