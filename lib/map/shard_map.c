/* map/shard_map.c - run a body on every rank's blocks.
 *
 * The data's way: inputs lie as their in_specs say, or are resharded; the body reads and writes
 * blocks; each written block becomes this rank's part of an output array. What can fail is
 * agreed on before and after the body, at the first run; later runs only run. */
#include "map/shard_map.h"

#include "comm/agree.h"

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

static const struct call_kind shard_map_kind = {"shard_map", spmd__outputs_declare};

static spmd_status run_body(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                            spmd_array *out[])
{
    spmd__outputs_begin(plan, in, out);
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

/* A run in which everything is agreed on. */
static spmd_status run_agreed(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                              spmd_array *out[], bool check)
{
    spmd_mesh *mesh = plan->mesh;
    spmd_status status = check_lists(plan, in, out);
    if (status == SPMD_OK)
        status = spmd__inputs_check(plan, in);
    TRY(spmd__mesh_agree(mesh, status, status == SPMD_OK ? spmd__inputs_digest(plan, in) : 0));
    TRY(spmd__inputs_place(plan, in));
    status = run_body(plan, user, in, out);
    status = spmd__agree_or_abort(mesh->control, mesh->rank, status,
                                  status == SPMD_OK ? spmd__outputs_digest(plan) : 0);
    if (status != SPMD_OK)
        return status;
    status = plan->settled ? spmd__outputs_check(plan) : spmd__outputs_fix(plan);
    if (status == SPMD_OK)
        status = spmd__outputs_prepare(plan);
    TRY(spmd__mesh_agree(mesh, status, 0));
    if (check)
        TRY(spmd__mesh_agree(mesh, spmd__outputs_compare(plan), 0));
    spmd__outputs_commit(plan, out);
    return SPMD_OK;
}

/* A run that moves data and nothing else. */
static spmd_status run_trusting(spmd_shard_map_call *plan, void *user, spmd_array *const in[],
                                spmd_array *out[])
{
    TRY(check_lists(plan, in, out));
    TRY(spmd__inputs_place(plan, in));
    spmd_status status = run_body(plan, user, in, out);
    if (status == SPMD_OK)
        status = spmd__outputs_check(plan);
    if (status == SPMD_OK)
        status = spmd__outputs_prepare(plan);
    if (status != SPMD_OK) {
        spmd_fail(status, "rank %d: %s", plan->mesh->rank, spmd_error_message());
        spmd__abort(spmd_error_message());
    }
    spmd__outputs_commit(plan, out);
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
    spmd__outputs_drop(plan);
    spmd__inputs_drop(plan);
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
