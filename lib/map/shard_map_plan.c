/* map/shard_map_plan.c - what a shard_map knows before it runs: its axes, specs and options. */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "core/setting.h"
#include "map/request.h"
#include "map/shard_map.h"

static spmd_status read_environment(spmd_replication *replication)
{
    /* In the order of SPMD_REPLICATION's words. */
    static const spmd_replication modes[] = {SPMD_REPLICATION_FIRST, SPMD_REPLICATION_ALWAYS,
                                             SPMD_REPLICATION_NEVER};
    int choice;
    TRY(spmd__setting_choose(SPMD_SETTING_REPLICATION, &choice));
    *replication = modes[choice];
    return SPMD_OK;
}

static spmd_status read_options(spmd_shard_map_call *call, const spmd_shard_map_options *options)
{
    static const spmd_shard_map_options defaults;
    struct axis_list manual = {.count = 0};
    const struct axes *axes = &call->mesh->axes;
    if (!options)
        options = &defaults;
    call->agree = options->agree;
    call->strict = options->strict;
    call->replication = options->replication;
    if (call->replication < SPMD_REPLICATION_DEFAULT || call->replication > SPMD_REPLICATION_NEVER)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the option replication of a shard_map is %d",
                         (int)call->replication);
    if (call->replication == SPMD_REPLICATION_DEFAULT)
        TRY(read_environment(&call->replication));
    if (options->axes && spmd__axis_list_parse(options->axes, axes, &manual) != SPMD_OK)
        return spmd_fail(SPMD_ERR_SPEC, "the options of a shard_map: %s", spmd_error_message());
    uint32_t all = spmd__axes_mask(axes);
    call->manual = manual.count > 0 ? spmd__axis_list_mask(&manual) : all;
    call->others = spmd__axis_list_of_mask(all & ~call->manual);
    return SPMD_OK;
}

/* Whether a spec names axes alone that the body runs over. */
static spmd_status check_axes(const spmd_shard_map_call *call, const struct spec *spec)
{
    uint32_t beyond = (spmd__spec_used(spec) | spec->unreduced) & ~call->manual;
    char buffers[3][256];
    if (beyond == 0)
        return SPMD_OK;
    struct text text = spmd__text_begin(buffers[0], sizeof buffers[0]);
    struct text wrong = spmd__text_begin(buffers[1], sizeof buffers[1]);
    struct text manual = spmd__text_begin(buffers[2], sizeof buffers[2]);
    struct axis_list lists[] = {spmd__axis_list_of_mask(beyond),
                                spmd__axis_list_of_mask(call->manual)};
    spmd__spec_print(&text, &call->mesh->axes, spec);
    spmd__axis_list_print(&wrong, &call->mesh->axes, &lists[0]);
    spmd__axis_list_print(&manual, &call->mesh->axes, &lists[1]);
    return spmd_fail(SPMD_ERR_SPEC,
                     "%s names %s, but the option axes has the body run over %s alone: along "
                     "other axes arrays lie as they do, and the specs leave them out",
                     text.buffer, wrong.buffer, manual.buffer);
}

static spmd_status read_spec(const spmd_shard_map_call *call, enum argument_kind kind, int index,
                             const char *text, spmd_sharding **sharding)
{
    spmd_status status = spmd_sharding_create(call->mesh, text, sharding);
    if (status == SPMD_OK)
        status = check_axes(call, &(*sharding)->spec);
    if (status != SPMD_OK)
        return spmd_fail(status, "%s: %s", spmd__argument(&call->names, kind, index).text,
                         spmd_error_message());
    return SPMD_OK;
}

static spmd_status read_in_spec(spmd_shard_map_call *call, int index, const char *text)
{
    struct input *input = &call->input[index];
    TRY(read_spec(call, IN_SPEC, index, text, &input->named));
    input->wanted = spmd__sharding_hold(input->named);
    call->in_sharding[index] = input->wanted;
    return SPMD_OK;
}

static spmd_status read_out_spec(spmd_shard_map_call *call, int index, const char *text)
{
    struct result *result = &call->result[index];
    TRY(read_spec(call, OUT_SPEC, index, text, &result->named));
    result->sharding = spmd__sharding_hold(result->named);
    return SPMD_OK;
}

static void *carve(char **at, size_t count, size_t size)
{
    void *part = *at;
    *at += count * size;
    return part;
}

/* A plan and its lists, in one piece of memory. */
static spmd_status alloc_call(int nin, int nout, spmd_shard_map_call **out)
{
    spmd_shard_map_call *call;
    size_t ins = (size_t)nin, outs = (size_t)nout, sums = outs * SPMD_MAX_DIMS + 1;
    size_t bytes = sizeof *call + ins * (sizeof *call->input + 2 * sizeof *call->in) +
                   outs * (sizeof *call->result + sizeof *call->out) + sums * sizeof *call->sums;
    TRY(spmd__alloc(1, bytes, &call));
    char *at = (char *)(call + 1);
    call->nin = nin;
    call->nout = nout;
    call->input = carve(&at, ins, sizeof *call->input);
    call->in = carve(&at, ins, sizeof *call->in);
    call->in_sharding = carve(&at, ins, sizeof *call->in_sharding);
    call->result = carve(&at, outs, sizeof *call->result);
    call->out = carve(&at, outs, sizeof *call->out);
    call->sums = carve(&at, sums, sizeof *call->sums);
    *out = call;
    return SPMD_OK;
}

static spmd_status check_arguments(const spmd_mesh *mesh, spmd_body *body, int nin,
                                   const char *const in_specs[], int nout,
                                   const char *const out_specs[])
{
    if (nin < 0 || nout < 0 || (nin > 0 && !in_specs) || (nout > 0 && !out_specs))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a shard_map of %d inputs and %d outputs needs a spec for each", nin,
                         nout);
    if (!body)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a body, it is NULL");
    if (mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks to run a body on");
    return SPMD_OK;
}

static spmd_status read_texts(spmd_shard_map_call *call, const char *const in_specs[],
                              const char *const out_specs[], const spmd_shard_map_options *options)
{
    TRY(read_options(call, options));
    for (int k = 0; k < call->nin; k++)
        TRY(read_in_spec(call, k, in_specs[k]));
    for (int k = 0; k < call->nout; k++)
        TRY(read_out_spec(call, k, out_specs[k]));
    return SPMD_OK;
}

spmd_status spmd__shard_map_draft(spmd_mesh *mesh, spmd_body *body, int nin,
                                  const char *const in_specs[], int nout,
                                  const char *const out_specs[],
                                  const spmd_shard_map_options *options, const struct names *names,
                                  spmd_shard_map_call **out)
{
    spmd_shard_map_call *call;
    TRY(check_arguments(mesh, body, nin, in_specs, nout, out_specs));
    TRY(alloc_call(nin, nout, &call));
    call->mesh = call->inner = spmd__mesh_hold(mesh);
    call->body = body;
    call->names = names ? *names : (struct names){NULL, NULL};
    spmd_status status = read_texts(call, in_specs, out_specs, options);
    if (status == SPMD_OK)
        *out = call;
    else
        spmd_shard_map_free(&call);
    return status;
}

uint64_t spmd__shard_map_digest(const spmd_shard_map_call *call)
{
    int words[] = {call->nin,   call->nout,   call->replication,
                   call->agree, call->strict, (int)call->manual};
    uint64_t hash = spmd__hash(0, words, sizeof words);
    for (int k = 0; k < call->nin; k++)
        hash = spmd__hash(hash, &call->input[k].named->spec, sizeof(struct spec));
    for (int k = 0; k < call->nout; k++)
        hash = spmd__hash(hash, &call->result[k].named->spec, sizeof(struct spec));
    return hash;
}

spmd_status spmd__shard_map_open(spmd_shard_map_call *call)
{
    if (call->others.count == 0 || !spmd__mesh_is_member(call->mesh))
        return SPMD_OK;
    return spmd__mesh_agree(call->mesh, spmd__mesh_view(call->mesh, &call->others, &call->inner),
                            0);
}

spmd_status spmd__shard_map_plan_named(spmd_mesh *mesh, spmd_body *body, int nin,
                                       const char *const in_specs[], int nout,
                                       const char *const out_specs[],
                                       const spmd_shard_map_options *options,
                                       const struct names *names, spmd_shard_map_call **out)
{
    spmd_shard_map_call *call = NULL;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a mesh, this is NULL");
    spmd_status status =
        spmd__shard_map_draft(mesh, body, nin, in_specs, nout, out_specs, options, names, &call);
    if (status == SPMD_OK && !out)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the plan, it is NULL");
    status = spmd__mesh_agree(mesh, status, call ? spmd__shard_map_digest(call) : 0);
    if (status == SPMD_OK)
        status = spmd__shard_map_open(call);
    if (status == SPMD_OK)
        *out = call;
    else
        spmd_shard_map_free(&call);
    return status;
}

spmd_status spmd_shard_map_plan(spmd_mesh *mesh, spmd_body *body, int nin,
                                const char *const in_specs[], int nout,
                                const char *const out_specs[],
                                const spmd_shard_map_options *options, spmd_shard_map_call **out)
{
    return spmd__shard_map_plan_named(mesh, body, nin, in_specs, nout, out_specs, options, NULL,
                                      out);
}

void spmd_shard_map_free(spmd_shard_map_call **handle)
{
    spmd_shard_map_call *call = *handle;
    *handle = NULL;
    if (!call)
        return;
    if (call->running) {
        call->freed = true;
        return;
    }
    for (int k = 0; k < call->nin; k++) {
        spmd_sharding_free(&call->input[k].named);
        spmd_sharding_free(&call->input[k].wanted);
        spmd_sharding_free(&call->input[k].seen);
    }
    for (int k = 0; k < call->nout; k++) {
        spmd_sharding_free(&call->result[k].named);
        spmd_sharding_free(&call->result[k].sharding);
        spmd_sharding_free(&call->result[k].seen);
    }
    spmd_mesh_free(&call->mesh);
    spmd__requests_free(&call->spare);
    spmd__arena_free(&call->arena);
    free(call);
}
