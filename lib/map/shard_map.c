/* map/shard_map.c - run a body on every rank's blocks.
 *
 * The data's way: inputs lie as their in_specs say, or are resharded; the body reads and writes
 * blocks; each written block becomes this rank's part of an output array. What can fail is
 * agreed on before and after the body, at the first run; later runs only run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/reshard.h"
#include "comm/agree.h"
#include "core/block.h"
#include "core/hash.h"
#include "core/mem.h"
#include "map/ctx.h"
#include "map/replication.h"
#include "map/request.h"

struct input {
    spmd_sharding *wanted; /* by its in_spec */
    spmd_sharding *seen;   /* held: the sharding that was last found to be the wanted one */
    spmd_array *moved;     /* held during a run: the array that was resharded for it */
};

struct result {
    spmd_sharding *sharding; /* by its out_spec */
    spmd_dtype dtype;        /* fixed by the first run */
    spmd_shape shape;
    spmd_array *given; /* during a run: an array whose memory the output may use; not held */
    bool in_place;     /* during a run: it does */
    spmd_array *array; /* during a run: what the caller will get */
};

struct spmd_shard_map_call {
    spmd_mesh *mesh; /* held */
    spmd_body *body;
    int nin, nout;
    struct input *input;               /* [nin] */
    struct result *result;             /* [nout] */
    const spmd_block **in;             /* [nin] during a run, for the ctx */
    const spmd_sharding **in_sharding; /* [nin] the wanted ones, for the ctx */
    struct output *out;                /* [nout] during a run, for the ctx */
    struct arena arena;                /* the body's scratch memory, kept from run to run */
    spmd_request *spare;               /* the body's requests, kept as well */
    spmd_replication replication;
    bool agree;
    bool settled; /* a first run has fixed the output types */
    bool running; /* its body must not run it again */
};

static spmd_status read_environment(spmd_replication *replication)
{
    static const char *const names[] = {[SPMD_REPLICATION_ALWAYS] = "always",
                                        [SPMD_REPLICATION_FIRST] = "first",
                                        [SPMD_REPLICATION_NEVER] = "never"};
    const char *value = getenv("SPMD_REPLICATION");
    if (!value || value[0] == '\0')
        value = "first";
    for (int mode = SPMD_REPLICATION_ALWAYS; mode <= SPMD_REPLICATION_NEVER; mode++)
        if (strcmp(value, names[mode]) == 0) {
            *replication = (spmd_replication)mode;
            return SPMD_OK;
        }
    return spmd_fail(SPMD_ERR_ARGUMENT,
                     "SPMD_REPLICATION=%s in the environment: it is always, first or never", value);
}

static spmd_status check_counts(int nin, const char *const in_specs[], int nout,
                                const char *const out_specs[])
{
    if (nin < 0 || nout < 0 || (nin > 0 && !in_specs) || (nout > 0 && !out_specs))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a shard_map of %d inputs and %d outputs needs a spec for each", nin,
                         nout);
    return SPMD_OK;
}

static spmd_status parse_specs(spmd_shard_map_call *plan, const char *const in_specs[],
                               const char *const out_specs[])
{
    for (int k = 0; k < plan->nin; k++) {
        spmd_status status = spmd_sharding_create(plan->mesh, in_specs[k], &plan->input[k].wanted);
        if (status != SPMD_OK)
            return spmd_fail(status, "in_specs[%d]: %s", k, spmd_error_message());
        plan->in_sharding[k] = plan->input[k].wanted;
    }
    for (int k = 0; k < plan->nout; k++) {
        spmd_status status =
            spmd_sharding_create(plan->mesh, out_specs[k], &plan->result[k].sharding);
        if (status != SPMD_OK)
            return spmd_fail(status, "out_specs[%d]: %s", k, spmd_error_message());
        if (plan->result[k].sharding->spec.unreduced)
            return spmd_fail(SPMD_ERR_SPEC,
                             "out_specs[%d]: %s: an output's blocks are its values, "
                             "not contributions: reduce them in the body",
                             k, out_specs[k]);
    }
    return SPMD_OK;
}

static spmd_status alloc_plan(spmd_shard_map_call *plan)
{
    size_t nin = (size_t)plan->nin, nout = (size_t)plan->nout;
    TRY(spmd__alloc(nin, sizeof *plan->input, &plan->input));
    TRY(spmd__alloc(nin, sizeof *plan->in, &plan->in));
    TRY(spmd__alloc(nin, sizeof *plan->in_sharding, &plan->in_sharding));
    TRY(spmd__alloc(nout, sizeof *plan->result, &plan->result));
    return spmd__alloc(nout, sizeof *plan->out, &plan->out);
}

static spmd_status make_plan(spmd_shard_map_call *plan, spmd_mesh *mesh, spmd_body *body, int nin,
                             const char *const in_specs[], int nout, const char *const out_specs[],
                             const spmd_shard_map_options *options)
{
    TRY(check_counts(nin, in_specs, nout, out_specs));
    if (!body)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a body, it is NULL");
    plan->body = body;
    plan->nin = nin;
    plan->nout = nout;
    plan->replication = options ? options->replication : SPMD_REPLICATION_DEFAULT;
    plan->agree = options && options->agree;
    if (plan->replication == SPMD_REPLICATION_DEFAULT)
        TRY(read_environment(&plan->replication));
    if (mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks to run a body on");
    TRY(alloc_plan(plan));
    return parse_specs(plan, in_specs, out_specs);
}

static uint64_t digest_plan(const spmd_shard_map_call *plan)
{
    int counts[] = {plan->nin, plan->nout, plan->replication, plan->agree};
    uint64_t hash = spmd__hash(0, counts, sizeof counts);
    for (int k = 0; k < plan->nin; k++)
        hash = spmd__hash(hash, &plan->input[k].wanted->spec, sizeof(struct spec));
    for (int k = 0; k < plan->nout; k++)
        hash = spmd__hash(hash, &plan->result[k].sharding->spec, sizeof(struct spec));
    return hash;
}

spmd_status spmd_shard_map_plan(spmd_mesh *mesh, spmd_body *body, int nin,
                                const char *const in_specs[], int nout,
                                const char *const out_specs[],
                                const spmd_shard_map_options *options, spmd_shard_map_call **out)
{
    spmd_shard_map_call *plan;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a mesh, this is NULL");
    TRY(spmd__alloc(1, sizeof *plan, &plan));
    plan->mesh = spmd__mesh_hold(mesh);
    spmd_status status = make_plan(plan, mesh, body, nin, in_specs, nout, out_specs, options);
    status = spmd__mesh_agree(mesh, status, status == SPMD_OK ? digest_plan(plan) : 0);
    if (status == SPMD_OK)
        *out = plan;
    else
        spmd_shard_map_free(&plan);
    return status;
}

void spmd_shard_map_free(spmd_shard_map_call **handle)
{
    spmd_shard_map_call *plan = *handle;
    *handle = NULL;
    if (!plan)
        return;
    for (int k = 0; plan->input && k < plan->nin; k++) {
        spmd_sharding_free(&plan->input[k].wanted);
        spmd_sharding_free(&plan->input[k].seen);
    }
    for (int k = 0; plan->result && k < plan->nout; k++)
        spmd_sharding_free(&plan->result[k].sharding);
    spmd_mesh_free(&plan->mesh);
    spmd__requests_free(&plan->spare);
    spmd__arena_free(&plan->arena);
    free(plan->input);
    free(plan->in);
    free(plan->in_sharding);
    free(plan->result);
    free(plan->out);
    free(plan);
}

static spmd_status check_lists(const spmd_shard_map_call *plan, spmd_array *const in[],
                               spmd_array *out[])
{
    if ((plan->nin > 0 && !in) || (plan->nout > 0 && !out))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a shard_map of %d inputs and %d outputs needs a place for each",
                         plan->nin, plan->nout);
    for (int k = 0; k < plan->nout; k++)
        for (int j = 0; out[k] && j < k; j++)
            if (out[j] == out[k])
                return spmd_fail(SPMD_ERR_ARGUMENT, "outputs %d and %d were given the same array",
                                 j, k);
    return SPMD_OK;
}

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

static spmd_status check_inputs(const spmd_shard_map_call *plan, spmd_array *const in[])
{
    for (int k = 0; k < plan->nin; k++)
        if (in[k])
            TRY(check_input(plan, in[k], k));
    return SPMD_OK;
}

static uint64_t digest_inputs(const spmd_shard_map_call *plan, spmd_array *const in[])
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
static spmd_status place_inputs(spmd_shard_map_call *plan, spmd_array *const in[])
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

static void drop_moved(spmd_shard_map_call *plan)
{
    for (int k = 0; k < plan->nin; k++)
        spmd_array_free(&plan->input[k].moved);
}

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

/* The kind's way to find memory for an output: the given array's if it fits, else fresh. */
static spmd_status declare(spmd_ctx *ctx, int index)
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

static const struct call_kind shard_map_kind = {"shard_map", declare};

static spmd_status run_body(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                            spmd_array *out[])
{
    for (int k = 0; k < plan->nout; k++) {
        plan->result[k].given = may_reuse(plan, in, out[k]) ? out[k] : NULL;
        plan->result[k].in_place = false;
    }
    spmd_ctx ctx = {.kind = &shard_map_kind,
                    .call = plan,
                    .mesh = plan->mesh,
                    .scope = plan->mesh,
                    .bound = spmd__axes_mask(&plan->mesh->axes),
                    .arena = &plan->arena,
                    .spare = &plan->spare,
                    .instance = -1,
                    .nin = plan->nin,
                    .in = plan->in,
                    .in_sharding = plan->in_sharding,
                    .nout = plan->nout,
                    .out = plan->out};
    return spmd__ctx_run(&ctx, plan->body, user);
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
static spmd_status fix_types(spmd_shard_map_call *plan)
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
static spmd_status check_types(const spmd_shard_map_call *plan)
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
static spmd_status prepare_arrays(spmd_shard_map_call *plan)
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
static void commit_arrays(spmd_shard_map_call *plan, spmd_array *out[])
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
static void drop_outputs(spmd_shard_map_call *plan)
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
static spmd_status check_replication(const spmd_shard_map_call *plan)
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

static uint64_t digest_outputs(const spmd_shard_map_call *plan)
{
    uint64_t hash = 0;
    for (int k = 0; k < plan->nout; k++) {
        int type[] = {(int)plan->out[k].block.dtype, plan->out[k].block.ndim};
        hash = spmd__hash(hash, type, sizeof type);
    }
    return hash;
}

/* A run in which everything is agreed on. */
static spmd_status run_agreed(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                              spmd_array *out[], bool check)
{
    spmd_mesh *mesh = plan->mesh;
    spmd_status status = check_lists(plan, in, out);
    if (status == SPMD_OK)
        status = check_inputs(plan, in);
    TRY(spmd__mesh_agree(mesh, status, status == SPMD_OK ? digest_inputs(plan, in) : 0));
    TRY(place_inputs(plan, in));
    status = run_body(plan, user, in, out);
    status = spmd__agree_or_abort(mesh->control, mesh->rank, status,
                                  status == SPMD_OK ? digest_outputs(plan) : 0);
    if (status != SPMD_OK)
        return status;
    status = plan->settled ? check_types(plan) : fix_types(plan);
    if (status == SPMD_OK)
        status = prepare_arrays(plan);
    TRY(spmd__mesh_agree(mesh, status, 0));
    if (check)
        TRY(spmd__mesh_agree(mesh, check_replication(plan), 0));
    commit_arrays(plan, out);
    return SPMD_OK;
}

/* A run that moves data and nothing else. */
static spmd_status run_trusting(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                                spmd_array *out[])
{
    TRY(check_lists(plan, in, out));
    TRY(place_inputs(plan, in));
    spmd_status status = run_body(plan, user, in, out);
    if (status == SPMD_OK)
        status = check_types(plan);
    if (status == SPMD_OK)
        status = prepare_arrays(plan);
    if (status != SPMD_OK) {
        spmd_fail(status, "rank %d: %s", plan->mesh->rank, spmd_error_message());
        spmd__abort(spmd_error_message());
    }
    commit_arrays(plan, out);
    return SPMD_OK;
}

/* A run on an idle rank. The outputs' shapes are known to the members alone; what was given may
 * have lain on another mesh. */
static spmd_status run_idle(const spmd_shard_map_call *plan, spmd_array *const in[],
                            spmd_array *out[])
{
    TRY(check_lists(plan, in, out));
    for (int k = 0; k < plan->nout; k++) {
        const spmd_sharding *sharding = plan->result[k].sharding;
        spmd_array *array;
        TRY(spmd__array_unknown(sharding, SPMD_DTYPE_NONE, sharding->spec.ndim, &array));
        spmd_array_free(&out[k]);
        out[k] = array;
    }
    return SPMD_OK;
}

spmd_status spmd_shard_map_run(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                               spmd_array *out[])
{
    if (!plan)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a run needs its plan, this is NULL");
    if (!spmd__mesh_is_member(plan->mesh))
        return run_idle(plan, in, out);
    if (plan->running)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a body cannot run the plan that it is run by");
    plan->running = true;
    bool check = plan->replication == SPMD_REPLICATION_ALWAYS ||
                 (plan->replication == SPMD_REPLICATION_FIRST && !plan->settled);
    bool agreed = !plan->settled || plan->agree || check;
    spmd_status status =
        agreed ? run_agreed(plan, user, in, out, check) : run_trusting(plan, user, in, out);
    drop_outputs(plan);
    drop_moved(plan);
    plan->settled = plan->settled || status == SPMD_OK;
    plan->running = false;
    return status;
}

spmd_status spmd_shard_map(spmd_mesh *mesh, spmd_body *body, void *user, int nin,
                           spmd_array *const in[], const char *const in_specs[], int nout,
                           spmd_array *out[], const char *const out_specs[],
                           const spmd_shard_map_options *options)
{
    spmd_shard_map_call *plan;
    TRY(spmd_shard_map_plan(mesh, body, nin, in_specs, nout, out_specs, options, &plan));
    spmd_status status = spmd_shard_map_run(plan, user, in, out);
    spmd_shard_map_free(&plan);
    return status;
}
