/* map/shard_map_inputs.c - a shard_map's inputs: found in place, or brought there. */
#include "array/reshard.h"
#include "core/hash.h"
#include "map/shard_map.h"

/* What a shard_map over some axes takes from how an array lies: its axes of the others. */
static struct spec rest_of(const spmd_shard_map_call *call, const struct spec *spec)
{
    int to[SPMD_MAX_AXES];
    for (int a = 0; a < SPMD_MAX_AXES; a++)
        to[a] = spmd__axis_list_has(&call->others, a) ? a : -1;
    return spmd__spec_rename(spec, to);
}

/* Finds how the body wants an array that lies as `sharding`. */
static spmd_status find_wanted(spmd_shard_map_call *call, int index, const spmd_sharding *sharding)
{
    struct input *input = &call->input[index];
    if (call->others.count == 0)
        return SPMD_OK;
    struct spec rest = rest_of(call, &sharding->spec);
    struct spec wanted = spmd__spec_join(&input->named->spec, &rest);
    if (spmd__spec_equal(&wanted, &input->wanted->spec))
        return SPMD_OK;
    spmd_sharding *made;
    TRY(spmd__sharding_make(call->mesh, &wanted, &made));
    spmd_sharding_free(&input->wanted);
    call->in_sharding[index] = input->wanted = made;
    return SPMD_OK;
}

/* Whether an input lies as it is wanted; a sharding that did is known again by its address. */
static spmd_status find_place(spmd_shard_map_call *call, int index, const spmd_array *array,
                              bool *in_place)
{
    struct input *input = &call->input[index];
    *in_place = array->sharding == input->seen;
    if (*in_place)
        return SPMD_OK;
    spmd_sharding_free(&input->seen);
    TRY(find_wanted(call, index, array->sharding));
    *in_place = spmd_sharding_is_equivalent(array->sharding, input->wanted, array->shape.ndim);
    if (*in_place)
        input->seen = spmd__sharding_hold(array->sharding);
    return SPMD_OK;
}

/* What can be said of an input before anything moves. */
static spmd_status check_input(const spmd_shard_map_call *call, const spmd_array *array, int index)
{
    if (array->sharding == call->input[index].seen)
        return SPMD_OK;
    if (!spmd_mesh_equal(array->sharding->mesh, call->mesh))
        return spmd_fail(SPMD_ERR_MESH,
                         "%s lies on another mesh than the shard_map: reshard it first",
                         spmd__argument(&call->names, INPUT, index).text);
    if (spmd_sharding_check(call->input[index].named, array->shape) != SPMD_OK)
        return spmd_fail(SPMD_ERR_SPEC, "%s: %s", spmd__argument(&call->names, INPUT, index).text,
                         spmd_error_message());
    return SPMD_OK;
}

uint64_t spmd__inputs_digest(const spmd_shard_map_call *call, spmd_array *const in[])
{
    uint64_t hash = 0;
    for (int k = 0; k < call->nin; k++) {
        uint64_t one = in[k] ? spmd__array_digest(in[k]->sharding, in[k]->dtype, in[k]->shape) : 0;
        hash = spmd__hash(hash, &one, sizeof one);
    }
    return hash;
}

/* What the option strict has against an input that would have to move. */
static spmd_status refuse(const spmd_shard_map_call *call, const spmd_array *array, int index)
{
    char lies[256], named[256];
    spmd_sharding_format(lies, sizeof lies, array->sharding);
    spmd_sharding_format(named, sizeof named, call->input[index].named);
    return spmd_fail(SPMD_ERR_SPEC,
                     "%s lies as %s, the in_spec says %s: reshard it first, or leave the "
                     "option strict out",
                     spmd__argument(&call->names, INPUT, index).text, lies, named);
}

/* The option strict refuses an input before anything moves, so that the ranks can agree on it. */
static spmd_status check_place(spmd_shard_map_call *call, const spmd_array *array, int index)
{
    bool in_place;
    TRY(find_place(call, index, array, &in_place));
    return in_place ? SPMD_OK : refuse(call, array, index);
}

spmd_status spmd__inputs_check(spmd_shard_map_call *call, spmd_array *const in[])
{
    for (int k = 0; k < call->nin; k++)
        if (in[k]) {
            TRY(check_input(call, in[k], k));
            if (call->strict)
                TRY(check_place(call, in[k], k));
        }
    return SPMD_OK;
}

static spmd_status place_input(spmd_shard_map_call *call, spmd_array *array, int index)
{
    struct input *input = &call->input[index];
    bool in_place = true;
    if (array) {
        TRY(check_input(call, array, index));
        TRY(find_place(call, index, array, &in_place));
    }
    if (!in_place && call->strict)
        return refuse(call, array, index);
    if (!in_place) {
        TRY(spmd__reshard(array, input->wanted, &input->moved));
        spmd__inputs_note(call, array, index);
    }
    input->array = in_place ? array : input->moved;
    call->in[index] = input->array ? &input->array->block : NULL;
    return SPMD_OK;
}

spmd_status spmd__inputs_place(spmd_shard_map_call *call, spmd_array *const in[])
{
    for (int k = 0; k < call->nin; k++)
        TRY(place_input(call, in[k], k));
    return SPMD_OK;
}

/* What the array has of the others, on their view. */
static struct spec inner_spec(const spmd_shard_map_call *call, const struct spec *wanted)
{
    int to[SPMD_MAX_AXES];
    for (int a = 0; a < SPMD_MAX_AXES; a++)
        to[a] = -1;
    for (int i = 0; i < call->others.count; i++)
        to[call->others.axis[i]] = i;
    return spmd__spec_rename(wanted, to);
}

spmd_status spmd__inputs_inner(spmd_ctx *ctx, int index, spmd_array **array)
{
    spmd_shard_map_call *call = ctx->call;
    struct input *input = &call->input[index];
    if (input->array && !input->inner) {
        spmd_box box =
            spmd__sharding_box_of(input->named, input->array->shape, call->mesh->position);
        struct spec spec = inner_spec(call, &input->wanted->spec);
        spmd_sharding *sharding;
        TRY(spmd__sharding_make(call->inner, &spec, &sharding));
        spmd_status status =
            spmd__array_lend(input->array, sharding, spmd_box_shape(&box), &input->inner);
        spmd_sharding_free(&sharding);
        TRY(status);
    }
    *array = input->inner;
    return SPMD_OK;
}

void spmd__inputs_drop(spmd_shard_map_call *call)
{
    for (int k = 0; k < call->nin; k++) {
        struct input *input = &call->input[k];
        spmd_array_free(&input->inner);
        spmd_array_free(&input->moved);
        input->array = NULL;
    }
}
