/* map/shard_map.c - run a body on every rank's blocks.
 *
 * The data's way: inputs lie as their in_specs say, or are resharded; the body reads and writes
 * blocks; each written block becomes this rank's part of an output array. What can fail is agreed
 * on at the first run, in few reductions; later runs only run:
 *
 *     agree     on the specs of a one-shot call, and on the inputs
 *     agree     on how the body fared, and on element types
 *     add up    the extents of all outputs, and the shares of the replication check
 *     agree     on whether the blocks fit, and there is memory for the arrays
 */
#include "map/shard_map.h"

#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/place.h"

static spmd_status check_lists(const spmd_shard_map_call *call, spmd_array *const in[],
                               spmd_array *out[])
{
    if ((call->nin > 0 && !in) || (call->nout > 0 && !out))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a shard_map of %d inputs and %d outputs needs a place for each",
                         call->nin, call->nout);
    for (int k = 0; k < call->nout; k++)
        for (int j = 0; out[k] && j < k; j++)
            if (out[j] == out[k])
                return spmd_fail(SPMD_ERR_ARGUMENT, "outputs %d and %d were given the same array",
                                 j, k);
    return SPMD_OK;
}

static const struct call_kind over_all_axes = {"shard_map", .declare = spmd__outputs_declare};
static const struct call_kind over_some_axes = {"shard_map", .declare = spmd__outputs_declare,
                                                .in_array = spmd__inputs_inner,
                                                .out_array = spmd__outputs_take};

/* Collectives may name the manual axes: those of this call, and of all around it. */
static uint32_t bound_axes(const spmd_shard_map_call *call, const spmd_mesh *root)
{
    struct axis_list free = spmd__mesh_axes_in_root(call->mesh, &call->others);
    return spmd__axes_mask(&root->axes) & ~spmd__axis_list_mask(&free);
}

static spmd_status run_body(spmd_shard_map_call *call, void *user, spmd_array *const in[],
                            spmd_array *out[])
{
    spmd_mesh *root = spmd__mesh_root(call->mesh);
    struct place here = spmd__place();
    spmd__outputs_begin(call, in, out);
    spmd_ctx ctx = {.kind = call->others.count == 0 ? &over_all_axes : &over_some_axes,
                    .call = call,
                    .mesh = call->inner,
                    .scope = root,
                    .bound = bound_axes(call, root),
                    .arena = &call->arena,
                    .spare = &call->spare,
                    .instance = -1,
                    .nin = call->nin,
                    .in = call->in,
                    .in_sharding = call->in_sharding,
                    .names = &call->names,
                    .nout = call->nout,
                    .out = call->out};
    spmd_status status = spmd__ctx_run(&ctx, call->body, user);
    spmd__place_restore(here);
    return status;
}

/* What a run can say, and wants to be alike, before anything moves. */
static spmd_status check_run(spmd_shard_map_call *call, spmd_array *const in[], spmd_array *out[],
                             uint64_t *digest)
{
    TRY(check_lists(call, in, out));
    if (spmd__mesh_is_member(call->mesh)) {
        TRY(spmd__inputs_check(call, in));
        *digest ^= spmd__inputs_digest(call, in);
    }
    return SPMD_OK;
}

/* After a body that went well everywhere: types and arrays, if they are not there yet, and the
 * comparison. */
static spmd_status settle(spmd_shard_map_call *call, bool compare)
{
    bool differ;
    TRY(spmd__outputs_sum(call, compare, &differ));
    if (!call->settled)
        TRY(spmd__mesh_agree(call->mesh, spmd__outputs_prepare(call), 0));
    return differ ? spmd__mesh_agree(call->mesh, spmd__outputs_explain(call), 0) : SPMD_OK;
}

/* A run in which everything is agreed on; its arguments already are. */
static spmd_status run_agreed(spmd_shard_map_call *call, void *user, spmd_array *const in[],
                              spmd_array *out[], bool compare)
{
    TRY(spmd__inputs_place(call, in));
    spmd_status status = run_body(call, user, in, out);
    if (status == SPMD_OK && call->settled)
        status = spmd__outputs_prepare(call);
    TRY(spmd__mesh_agree_on_body(call->mesh, status,
                                 status == SPMD_OK ? spmd__outputs_digest(call) : 0));
    if (compare || !call->settled)
        TRY(settle(call, compare));
    spmd__outputs_commit(call, out);
    return SPMD_OK;
}

/* A run that moves data and nothing else. */
static spmd_status run_trusting(spmd_shard_map_call *call, void *user, spmd_array *const in[],
                                spmd_array *out[])
{
    TRY(check_lists(call, in, out));
    if (!spmd__mpi_is_alive())
        return spmd_fail(SPMD_ERR_MPI, "a run of a plan after MPI_Finalize");
    TRY(spmd__inputs_place(call, in));
    spmd_status status = run_body(call, user, in, out);
    if (status == SPMD_OK)
        status = spmd__outputs_prepare(call);
    if (status != SPMD_OK)
        spmd__abort_as(call->mesh->rank);
    spmd__outputs_commit(call, out);
    return SPMD_OK;
}

/* A run on an idle rank. The outputs' shapes are known to the members alone; what was given may
 * have lain on another mesh. */
static spmd_status run_idle(const spmd_shard_map_call *call, spmd_array *out[])
{
    for (int k = 0; k < call->nout; k++) {
        const spmd_sharding *sharding = call->result[k].sharding;
        spmd_array *array;
        TRY(spmd__array_unknown(sharding, SPMD_DTYPE_NONE, sharding->spec.ndim, &array));
        spmd_array_free(&out[k]);
        out[k] = array;
    }
    return SPMD_OK;
}

/* Ends a run, of which only a success fixes types. */
static spmd_status end_run(spmd_shard_map_call *call, spmd_status status)
{
    spmd__outputs_drop(call);
    spmd__inputs_drop(call);
    call->settled = call->settled || status == SPMD_OK;
    call->running = false;
    if (call->freed)
        spmd_shard_map_free(&call);
    return status;
}

spmd_status spmd_shard_map_run(spmd_shard_map_call *call, void *user, spmd_array *const in[],
                               spmd_array *out[])
{
    uint64_t digest = 0;
    if (!call)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a run needs its plan, this is NULL");
    if (call->running)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a body cannot run the plan that it is run by");
    bool compare = call->replication == SPMD_REPLICATION_ALWAYS ||
                   (call->replication == SPMD_REPLICATION_FIRST && !call->settled);
    if (!spmd__mesh_is_member(call->mesh)) {
        TRY(check_lists(call, in, out));
        return run_idle(call, out);
    }
    call->running = true;
    if (call->settled && !call->agree && !compare && !spmd__watch_checks(call->mesh->watch))
        return end_run(call, run_trusting(call, user, in, out));
    spmd_status status = check_run(call, in, out, &digest);
    status = spmd__mesh_agree(call->mesh, status, digest);
    if (status == SPMD_OK)
        status = run_agreed(call, user, in, out, compare);
    return end_run(call, status);
}

/* The one run of a plan that nobody else has, agreed on together with it. */
static spmd_status run_once(spmd_shard_map_call *call, void *user, spmd_array *const in[],
                            spmd_array *out[])
{
    TRY(spmd__shard_map_open(call));
    if (!spmd__mesh_is_member(call->mesh))
        return run_idle(call, out);
    return end_run(call,
                   run_agreed(call, user, in, out, call->replication != SPMD_REPLICATION_NEVER));
}

spmd_status spmd_shard_map(spmd_mesh *mesh, spmd_body *body, void *user, int nin,
                           spmd_array *const in[], const char *const in_specs[], int nout,
                           spmd_array *out[], const char *const out_specs[],
                           const spmd_shard_map_options *options)
{
    spmd_shard_map_call *call = NULL;
    uint64_t digest = 0;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a mesh, this is NULL");
    spmd_status status =
        spmd__shard_map_draft(mesh, body, nin, in_specs, nout, out_specs, options, NULL, &call);
    if (status == SPMD_OK) {
        digest = spmd__shard_map_digest(call);
        status = check_run(call, in, out, &digest);
    }
    status = spmd__mesh_agree(mesh, status, digest);
    if (status == SPMD_OK)
        status = run_once(call, user, in, out);
    spmd_shard_map_free(&call);
    return status;
}
