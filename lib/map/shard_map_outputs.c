/* map/shard_map_outputs.c - a shard_map's outputs: from blocks that a body wrote to arrays. */
#include <stdio.h>
#include <stdlib.h>

#include "core/block.h"
#include "core/hash.h"
#include "core/mem.h"
#include "map/replication.h"
#include "map/shard_map.h"

/* Whether the memory of an array that was given for an output is nobody else's business. */
static bool may_reuse(const spmd_shard_map_call *plan, spmd_array *const in[],
                      const spmd_array *given)
{
    if (!given || given->holds > 1 || given->sharding->mesh != plan->mesh)
        return false;
    for (int k = 0; k < plan->nin; k++)
        if (in[k] == given)
            return false;
    return true;
}

void spmd__outputs_begin(spmd_shard_map_call *plan, spmd_array *const in[], spmd_array *out[])
{
    for (int k = 0; k < plan->nout; k++) {
        plan->result[k].given = may_reuse(plan, in, out[k]) ? out[k] : NULL;
        plan->result[k].in_place = false;
    }
}

/* The kind's way to find memory for an output: the given array's if it fits, else fresh. */
spmd_status spmd__outputs_declare(spmd_ctx *ctx, int index)
{
    spmd_shard_map_call *plan = ctx->call;
    struct result *result = &plan->result[index];
    spmd_block *block = &ctx->out[index].block;
    const spmd_array *given = result->given;
    result->in_place = given && given->block.dtype == block->dtype &&
                       spmd_shape_equal(spmd_block_shape(&given->block), spmd_block_shape(block));
    if (result->in_place) {
        block->data = given->block.data;
        return SPMD_OK;
    }
    return spmd__alloc_block(spmd__block_bytes(block), &block->data);
}

/* Says which output a failure is about. */
static spmd_status fail_output(spmd_status status, int index)
{
    return spmd_fail(status, "output %d: %s", index, spmd_error_message());
}

/* Local. Whether the blocks of output `index` make an array of shape `global`. */
static spmd_status check_global(const spmd_sharding *sharding, spmd_shape local, spmd_shape global,
                                int index)
{
    spmd_status status = spmd_sharding_check(sharding, global);
    if (status == SPMD_OK)
        status = spmd__array_check_parts(sharding, local, global);
    return status == SPMD_OK ? SPMD_OK : fail_output(status, index);
}

/* Collective. The global type of each output, from the blocks of all ranks. All are inferred even
 * if one has failed: the ranks stay together. */
spmd_status spmd__outputs_fix(spmd_shard_map_call *plan)
{
    spmd_status status = SPMD_OK;
    for (int k = 0; k < plan->nout; k++) {
        struct result *result = &plan->result[k];
        spmd_shape local = spmd_block_shape(&plan->out[k].block), global;
        TRY(spmd__array_infer_shape(result->sharding, local, &global));
        if (status == SPMD_OK)
            status = check_global(result->sharding, local, global, k);
        result->dtype = plan->out[k].block.dtype;
        result->shape = global;
    }
    return status;
}

/* Local. Whether the blocks of a later run are as the first run's. */
spmd_status spmd__outputs_check(const spmd_shard_map_call *plan)
{
    for (int k = 0; k < plan->nout; k++) {
        const struct result *result = &plan->result[k];
        const spmd_block *block = &plan->out[k].block;
        if (block->dtype != result->dtype)
            return spmd_fail(SPMD_ERR_DTYPE, "output %d: %s now, but %s at the plan's first run", k,
                             spmd_dtype_name(block->dtype), spmd_dtype_name(result->dtype));
        if (block->ndim != result->shape.ndim)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "output %d: %d dimensions now, but %d at the plan's first run", k,
                             block->ndim, result->shape.ndim);
        spmd_status status =
            spmd__array_check_parts(result->sharding, spmd_block_shape(block), result->shape);
        if (status != SPMD_OK)
            return fail_output(status, k);
    }
    return SPMD_OK;
}

/* Local. Tells each block its place in the global array, and finds the array that will own it: the
 * one that was given, or a new one. */
spmd_status spmd__outputs_prepare(spmd_shard_map_call *plan)
{
    for (int k = 0; k < plan->nout; k++) {
        struct result *result = &plan->result[k];
        spmd__array_place(result->sharding, result->shape, &plan->out[k].block);
        if (result->in_place)
            result->array = result->given;
        else
            TRY(spmd__array_blank(&result->array));
    }
    return SPMD_OK;
}

/* Local; cannot fail. Hands the blocks over to their arrays, and the arrays to the caller. */
void spmd__outputs_commit(spmd_shard_map_call *plan, spmd_array *out[])
{
    for (int k = 0; k < plan->nout; k++) {
        struct result *result = &plan->result[k];
        spmd__array_become(result->array, result->sharding, result->shape, &plan->out[k].block);
        if (out[k] != result->array)
            spmd_array_free(&out[k]);
        out[k] = result->array;
        result->array = NULL;
        plan->out[k].declared = false;
    }
}

/* What a run that failed leaves: output blocks and arrays that the caller does not get. */
void spmd__outputs_drop(spmd_shard_map_call *plan)
{
    for (int k = 0; k < plan->nout; k++) {
        struct result *result = &plan->result[k];
        if (plan->out[k].declared && !result->in_place)
            free(plan->out[k].block.data);
        if (!result->in_place)
            free(result->array);
        result->array = NULL;
        plan->out[k].declared = false;
    }
}

/* Collective. All outputs are compared even if one has failed: the ranks stay together. */
spmd_status spmd__outputs_compare(const spmd_shard_map_call *plan)
{
    spmd_status status = SPMD_OK;
    char message[ERROR_MESSAGE_BYTES];
    for (int k = 0; k < plan->nout; k++) {
        spmd_status one = spmd__replication_check(plan->result[k].sharding, &plan->out[k].block, k);
        if (one != SPMD_OK && status == SPMD_OK) {
            status = one;
            snprintf(message, sizeof message, "%s", spmd_error_message());
        }
    }
    return status == SPMD_OK ? SPMD_OK : spmd_fail(status, "%s", message);
}

uint64_t spmd__outputs_digest(const spmd_shard_map_call *plan)
{
    uint64_t hash = 0;
    for (int k = 0; k < plan->nout; k++) {
        int type[] = {(int)plan->out[k].block.dtype, plan->out[k].block.ndim};
        hash = spmd__hash(hash, type, sizeof type);
    }
    return hash;
}
