/* map/shard_map_plan.c - what a shard_map knows before it runs: its specs as shardings, its
 * options. */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "map/request.h"
#include "map/shard_map.h"

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
