/* map/shard_map_outputs.c - a shard_map's outputs: from what a body wrote to arrays. */
#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/block.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/pool.h"
#include "map/replication.h"
#include "map/shard_map.h"

/* Whether the memory of an array that was given for an output is nobody else's business. */
static bool may_reuse(const spmd_shard_map_call *call, spmd_array *const in[],
                      const spmd_array *given)
{
    if (!given || given->holds > 1 || given->lender || given->sharding->mesh != call->mesh)
        return false;
    for (int k = 0; k < call->nin; k++)
        if (in[k] == given)
            return false;
    return true;
}

void spmd__outputs_begin(spmd_shard_map_call *call, spmd_array *const in[], spmd_array *out[])
{
    for (int k = 0; k < call->nout; k++) {
        call->result[k].given = may_reuse(call, in, out[k]) ? out[k] : NULL;
        call->result[k].in_place = false;
    }
}

static bool same_extents(int ndim, const int64_t a[], const int64_t b[])
{
    for (int d = 0; d < ndim; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

static bool same_type(const spmd_block *a, const spmd_block *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim && same_extents(a->ndim, a->shape, b->shape);
}

/* Where the axes of the view stand in the mesh. */
static struct spec outer_spec(const spmd_shard_map_call *call, const struct spec *inner)
{
    int to[SPMD_MAX_AXES] = {0};
    for (int i = 0; i < call->others.count; i++)
        to[i] = call->others.axis[i];
    return spmd__spec_rename(inner, to);
}

static spmd_status fail_sharding(const spmd_shard_map_call *call, const spmd_sharding *now,
                                 int index)
{
    char first[256], later[256];
    spmd_sharding_format(first, sizeof first, call->result[index].sharding);
    spmd_sharding_format(later, sizeof later, now);
    return spmd_fail(SPMD_ERR_SPEC, "%s lies as %s now, but as %s at the plan's first run",
                     spmd__argument(&call->names, OUTPUT, index).text, later, first);
}

/* How an output lies of which the body gives an array on the view, that lies as `inner` says; or,
 * NULL, a block. Fixed by the first run. */
static spmd_status find_sharding(spmd_shard_map_call *call, int index, const spmd_sharding *inner)
{
    struct result *result = &call->result[index];
    struct spec spec = result->named->spec;
    spmd_sharding *made;
    if (result->seen == inner)
        return SPMD_OK;
    if (inner) {
        struct spec rest = outer_spec(call, &inner->spec);
        spec = spmd__spec_join(&spec, &rest);
    }
    TRY(spmd__sharding_make(call->mesh, &spec, &made));
    if (call->settled && !spmd_sharding_is_equivalent(made, result->sharding, result->shape.ndim)) {
        spmd_status status = fail_sharding(call, made, index);
        spmd_sharding_free(&made);
        return status;
    }
    if (call->settled)
        spmd_sharding_free(&made);
    else {
        spmd_sharding_free(&result->sharding);
        result->sharding = made;
    }
    spmd_sharding_free(&result->seen);
    result->seen = inner ? spmd__sharding_hold(inner) : NULL;
    return SPMD_OK;
}

spmd_status spmd__outputs_declare(spmd_ctx *ctx, int index)
{
    spmd_shard_map_call *call = ctx->call;
    struct result *result = &call->result[index];
    spmd_block *block = &ctx->out[index].block;
    const spmd_array *given = result->given;
    TRY(find_sharding(call, index, NULL));
    result->in_place = given && same_type(&given->block, block);
    if (result->in_place) {
        block->data = given->block.data;
        if (!ctx->out[index].unset)
            memset(block->data, 0, spmd__block_bytes(block));
        return SPMD_OK;
    }
    return spmd__pool_take(spmd__block_bytes(block), true, &block->data);
}

spmd_status spmd__outputs_take(spmd_ctx *ctx, int index, spmd_array *array)
{
    spmd_shard_map_call *call = ctx->call;
    struct output *output = &ctx->out[index];
    if (!spmd_mesh_equal(array->sharding->mesh, call->inner))
        return spmd_fail(SPMD_ERR_MESH,
                         "spmd_out_array(ctx, %d, ...): the array lies on mesh %s, not on "
                         "spmd_ctx_mesh(ctx), which is %s around this rank",
                         index, spmd__axes_text(&array->sharding->mesh->axes).text,
                         spmd__axes_text(&call->inner->axes).text);
    TRY(find_sharding(call, index, array->sharding));
    output->block = array->block;
    output->array = spmd_array_hold(array);
    return SPMD_OK;
}

spmd_status spmd__outputs_name(spmd_shard_map_call *call, int index, const char *spec)
{
    struct result *result = &call->result[index];
    spmd_sharding *named;
    TRY(spmd_sharding_create(call->mesh, spec, &named));
    spmd_sharding_free(&result->named);
    spmd_sharding_free(&result->sharding);
    result->named = named;
    result->sharding = spmd__sharding_hold(named);
    return SPMD_OK;
}

uint64_t spmd__outputs_digest(const spmd_shard_map_call *call)
{
    uint64_t hash = 0;
    for (int k = 0; k < call->nout; k++) {
        int type[] = {(int)call->out[k].block.dtype, call->out[k].block.ndim};
        hash = spmd__hash(hash, type, sizeof type);
        hash = spmd__hash(hash, &call->result[k].sharding->spec, sizeof(struct spec));
    }
    return hash;
}

/* What this rank adds to the sums: its part of the extents, then its share in all comparisons. */
static int fill_sums(const spmd_shard_map_call *call, bool compare)
{
    int count = 0;
    uint64_t share = 0;
    for (int k = 0; k < call->nout; k++) {
        const spmd_block *block = &call->out[k].block;
        const spmd_sharding *sharding = call->result[k].sharding;
        if (!call->settled) {
            spmd_shape part = spmd__array_share(sharding, spmd_block_shape(block));
            for (int d = 0; d < part.ndim; d++)
                call->sums[count++] = (uint64_t)part.dim[d];
        }
        if (compare)
            share += spmd__replication_share(sharding, block, k);
    }
    call->sums[count] = share;
    return count + 1;
}

/* Takes the global extents from the sums. */
static void fix_types(spmd_shard_map_call *call)
{
    const uint64_t *at = call->sums;
    for (int k = 0; k < call->nout; k++) {
        struct result *result = &call->result[k];
        const spmd_block *block = &call->out[k].block;
        result->shape = (spmd_shape){.ndim = block->ndim};
        for (int d = 0; d < block->ndim; d++)
            result->shape.dim[d] = (int64_t)*at++;
        result->placed = spmd_block_borrow(NULL, block->dtype, spmd_block_shape(block));
    }
}

spmd_status spmd__outputs_sum(spmd_shard_map_call *call, bool compare, bool *differ)
{
    int count = fill_sums(call, compare);
    TRY_MPI(
        MPI_Allreduce(MPI_IN_PLACE, call->sums, count, MPI_UINT64_T, MPI_SUM, call->mesh->control));
    *differ = call->sums[count - 1] != 0;
    if (!call->settled)
        fix_types(call);
    return SPMD_OK;
}

/* What the body wrote, in its place in the global array. */
static spmd_block placed_block(const struct result *result, const struct output *output)
{
    spmd_block block = result->placed;
    block.data = output->block.data;
    return block;
}

spmd_status spmd__outputs_explain(const spmd_shard_map_call *call)
{
    struct kept_failure first = {.status = SPMD_OK};
    for (int k = 0; k < call->nout; k++) { /* all of them: the ranks stay together */
        struct argument output = spmd__argument(&call->names, OUTPUT, k);
        spmd_block block = placed_block(&call->result[k], &call->out[k]);
        spmd__error_keep(&first,
                         spmd__replication_explain(call->result[k].sharding, &block, output.text));
    }
    return spmd__error_again(&first);
}

/* Whether the blocks of output `index` make an array of the shape that they add up to. If so, each
 * has its place in it. */
static spmd_status place_block(const spmd_shard_map_call *call, int index)
{
    struct result *result = &call->result[index];
    spmd_status status =
        spmd__array_check_type(result->sharding, result->placed.dtype, result->shape);
    if (status == SPMD_OK)
        status = spmd__array_check_parts(result->sharding, spmd_block_shape(&result->placed),
                                         result->shape);
    if (status != SPMD_OK)
        return spmd_fail(status, "%s: %s", spmd__argument(&call->names, OUTPUT, index).text,
                         spmd_error_message());
    spmd__array_place(result->sharding, result->shape, &result->placed);
    return SPMD_OK;
}

/* What is wrong with an output of a later run. */
static spmd_status fail_type(const spmd_shard_map_call *call, const spmd_block *block, int index)
{
    const struct result *result = &call->result[index];
    const spmd_block *first = &result->placed;
    struct argument output = spmd__argument(&call->names, OUTPUT, index);
    if (block->dtype != first->dtype)
        return spmd_fail(SPMD_ERR_DTYPE, "%s: %s now, but %s at the plan's first run", output.text,
                         spmd_dtype_name(block->dtype), spmd_dtype_name(first->dtype));
    if (block->ndim != first->ndim)
        return spmd_fail(SPMD_ERR_SHAPE, "%s: %d dimensions now, but %d at the plan's first run",
                         output.text, block->ndim, first->ndim);
    spmd__array_check_parts(result->sharding, spmd_block_shape(block), result->shape);
    return spmd_fail(SPMD_ERR_SHAPE, "%s: %s", output.text, spmd_error_message());
}

static spmd_status check_output(const spmd_shard_map_call *call, int index)
{
    const struct result *result = &call->result[index];
    const spmd_block *block = &call->out[index].block;
    if (!call->settled)
        return place_block(call, index);
    return same_type(block, &result->placed) ? SPMD_OK : fail_type(call, block, index);
}

/* Finds the array that the caller will get: one that borrows what the body gave, the given one, or
 * a new one. */
static spmd_status find_array(spmd_shard_map_call *call, int index)
{
    struct result *result = &call->result[index];
    const struct output *output = &call->out[index];
    if (output->array)
        return spmd__array_lend(output->array, result->sharding, result->shape, &result->array);
    if (!result->in_place)
        return spmd__array_blank(&result->array);
    result->array = result->given;
    return SPMD_OK;
}

spmd_status spmd__outputs_prepare(spmd_shard_map_call *call)
{
    for (int k = 0; k < call->nout; k++)
        TRY(check_output(call, k));
    for (int k = 0; k < call->nout; k++)
        TRY(find_array(call, k));
    return SPMD_OK;
}

/* Whether an array that lends its memory is already what it will be. */
static bool is_known(const struct result *result)
{
    const spmd_array *array = result->array;
    return result->in_place && array->sharding == result->sharding &&
           array->shape.ndim == result->shape.ndim &&
           same_extents(array->shape.ndim, array->shape.dim, result->shape.dim);
}

static void commit(struct result *result, struct output *output, spmd_array **out)
{
    if (!output->array && !is_known(result)) {
        spmd_block block = placed_block(result, output);
        spmd__array_become(result->array, result->sharding, result->shape, &block);
    }
    if (*out != result->array)
        spmd_array_free(out);
    *out = result->array;
    result->array = NULL;
    spmd_array_free(&output->array);
    output->declared = false;
}

void spmd__outputs_commit(spmd_shard_map_call *call, spmd_array *out[])
{
    for (int k = 0; k < call->nout; k++)
        commit(&call->result[k], &call->out[k], &out[k]);
}

static void drop(struct result *result, struct output *output)
{
    if (output->declared && !output->array && !result->in_place)
        spmd__pool_give(output->block.data);
    if (!result->in_place)
        spmd_array_free(&result->array);
    result->array = NULL;
    spmd_array_free(&output->array);
    output->declared = false;
}

void spmd__outputs_drop(spmd_shard_map_call *call)
{
    for (int k = 0; k < call->nout; k++)
        drop(&call->result[k], &call->out[k]);
}
