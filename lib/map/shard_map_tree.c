/* map/shard_map_tree.c - shard_map over trees: a shard_map over their leaves. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/tree_match.h"
#include "core/tree_text.h"
#include "map/shard_map.h"
#include "map/tree_body.h"

/* The leaves of the arguments and of the results, for the flat call. */
struct spmd_shard_map_tree_call {
    spmd_shard_map_call *flat;
    spmd_mesh *mesh;     /* held */
    spmd_tree *in, *out; /* structures */
    int nin, nout;
    const spmd_tree **leaves;           /* [nin] during a run */
    spmd_array **arrays;                /* [nin] during a run: of the leaves that are arrays */
    struct key_block *keys;             /* [nin] during a run: of those that are keys */
    const spmd_block **statics, **seen; /* [nin] */
    spmd_tree **places;   /* [nout] during a run: the leaves of a tree that was given */
    spmd_array **results; /* [nout] during a run: held by those, or here */
    bool agree;
    bool settled;
    bool running;
    struct tree_call call;
};

/* A leaf of a structure, whatever its value. */
static const struct leaf_kind blank = {"a leaf", NULL, NULL, NULL};

static spmd_status make_blank(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    (void)old, (void)index, (void)user;
    return spmd__tree_make_leaf(&blank, (union leaf){.pointer = NULL}, leaf);
}

/* What a shard_map is planned from. */
struct wanted {
    spmd_mesh *mesh;
    spmd_body *body;
    const spmd_tree *in;
    const char *in_specs;
    const spmd_tree *out;
    const char *out_specs;
    const spmd_shard_map_options *options;
    spmd_shard_map_tree_call **place;
    spmd_tree *specs[2];       /* parsed: of inputs, of outputs */
    const spmd_tree **spec[2]; /* [nin], [nout] */
    const char **text[2];      /* [nin], [nout] */
};

static spmd_status parse(struct wanted *wanted)
{
    if (!wanted->in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "in: there is no tree, it is NULL");
    if (!wanted->body)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a body, it is NULL");
    const char *texts[] = {wanted->in_specs, wanted->out_specs};
    for (int side = 0; side < 2; side++) {
        spmd_status status = spmd__tree_parse_specs(texts[side], &wanted->specs[side]);
        if (status != SPMD_OK)
            return spmd_fail(status, "%s: %s", side ? "out_specs" : "in_specs",
                             spmd_error_message());
    }
    return SPMD_OK;
}

static spmd_status alloc_plan(spmd_shard_map_tree_call *plan)
{
    size_t nin = (size_t)plan->nin, nout = (size_t)plan->nout;
    TRY(spmd__alloc(nin, sizeof *plan->leaves, &plan->leaves));
    TRY(spmd__alloc(nin, sizeof *plan->arrays, &plan->arrays));
    TRY(spmd__alloc(nin, sizeof *plan->keys, &plan->keys));
    TRY(spmd__alloc(nin, sizeof *plan->statics, &plan->statics));
    TRY(spmd__alloc(nin, sizeof *plan->seen, &plan->seen));
    TRY(spmd__alloc(nout, sizeof *plan->places, &plan->places));
    return spmd__alloc(nout, sizeof *plan->results, &plan->results);
}

/* The spec of each leaf, as the flat call takes it. */
static spmd_status spread_specs(struct wanted *wanted, int side, const spmd_tree *structure,
                                int count)
{
    static const char *const names[2][2] = {{"in_specs", "in"}, {"out_specs", "out"}};
    const spmd_tree ***spec = &wanted->spec[side];
    TRY(spmd__alloc((size_t)count, sizeof **spec, spec));
    TRY(spmd__alloc((size_t)count, sizeof *wanted->text[side], &wanted->text[side]));
    TRY(spmd__tree_broadcast(wanted->specs[side], names[side][0], structure, names[side][1],
                             *spec));
    for (int k = 0; k < count; k++) {
        bool none = (*spec)[k]->kind == TREE_NONE;
        if (none && side == 1) {
            spmd_fail(SPMD_ERR_SPEC, "None is no out_spec of an array: P() promises equal blocks");
            return spmd__tree_fail_leaf(SPMD_ERR_SPEC, "out", structure, k);
        }
        wanted->text[side][k] = none ? "P()" : (*spec)[k]->value.pointer;
    }
    return SPMD_OK;
}

/* Local. All of a plan but the flat call's. */
static spmd_status prepare(spmd_shard_map_tree_call *plan, struct wanted *wanted)
{
    TRY(parse(wanted));
    const spmd_tree *out = wanted->out ? wanted->out : wanted->specs[1];
    TRY(spmd__tree_unflatten(wanted->in, make_blank, NULL, &plan->in));
    TRY(spmd__tree_unflatten(out, make_blank, NULL, &plan->out));
    plan->nin = spmd__tree_nleaves(plan->in);
    plan->nout = spmd__tree_nleaves(plan->out);
    TRY(alloc_plan(plan));
    plan->agree = wanted->options && wanted->options->agree;
    plan->call = (struct tree_call){
        .body = wanted->body, .out = plan->out, .statics = plan->statics, .seen = plan->seen};
    TRY(spread_specs(wanted, 0, wanted->in, plan->nin));
    return spread_specs(wanted, 1, out, plan->nout);
}

static uint64_t digest_plan(const spmd_shard_map_tree_call *plan)
{
    uint64_t structures[] = {spmd__tree_digest(plan->in), spmd__tree_digest(plan->out)};
    return spmd__hash(0, structures, sizeof structures);
}

static void end(struct wanted *wanted)
{
    for (int side = 0; side < 2; side++) {
        spmd__tree_free(&wanted->specs[side]);
        free(wanted->spec[side]);
        free(wanted->text[side]);
    }
}

/* Collective. */
static spmd_status make_plan(spmd_shard_map_tree_call *plan, struct wanted *wanted)
{
    spmd_status status = prepare(plan, wanted);
    if (status == SPMD_OK && !wanted->place)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the plan, it is NULL");
    TRY(spmd__tree_agree(plan->mesh, status, status == SPMD_OK ? digest_plan(plan) : 0));
    struct names names = {plan->in, plan->out};
    return spmd__shard_map_plan_named(plan->mesh, spmd__tree_body, plan->nin, wanted->text[0],
                                      plan->nout, wanted->text[1], wanted->options, &names,
                                      &plan->flat);
}

spmd_status spmd_shard_map_tree_plan(spmd_mesh *mesh, spmd_body *body, const spmd_tree *in,
                                     const char *in_specs, const spmd_tree *out,
                                     const char *out_specs, const spmd_shard_map_options *options,
                                     spmd_shard_map_tree_call **plan)
{
    struct wanted wanted = {.mesh = mesh,
                            .body = body,
                            .in = in,
                            .in_specs = in_specs,
                            .out = out,
                            .out_specs = out_specs,
                            .options = options,
                            .place = plan};
    spmd_shard_map_tree_call *made;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a shard_map needs a mesh, this is NULL");
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->mesh = spmd__mesh_hold(mesh);
    spmd_status status = make_plan(made, &wanted);
    end(&wanted);
    if (status == SPMD_OK)
        *plan = made;
    else
        spmd_shard_map_tree_free(&made);
    return status;
}

void spmd_shard_map_tree_free(spmd_shard_map_tree_call **handle)
{
    spmd_shard_map_tree_call *plan = *handle;
    *handle = NULL;
    if (!plan)
        return;
    spmd_shard_map_free(&plan->flat);
    spmd_mesh_free(&plan->mesh);
    spmd__tree_free(&plan->in);
    spmd__tree_free(&plan->out);
    free(plan->leaves);
    free(plan->arrays);
    free(plan->keys);
    free(plan->statics);
    free(plan->seen);
    free(plan->places);
    free(plan->results);
    free(plan);
}

/* Local. Takes in what is no array; *digest goes on over what must be the same everywhere. */
static spmd_status take_static(spmd_shard_map_tree_call *plan, int index, uint64_t *digest)
{
    const spmd_tree *leaf = plan->leaves[index];
    if (spmd__tree_block(leaf))
        return spmd_fail(SPMD_ERR_ARGUMENT, "it is a block, and a shard_map runs over arrays: "
                                            "spmd_tree_device_put makes them");
    if (spmd__spec_used(&plan->flat->input[index].named->spec) != 0)
        return spmd_fail(SPMD_ERR_SPEC,
                         "it is %s, which the spec cannot split: its spec is P() or None",
                         leaf->leaf->what);
    char text[1024];
    int length = spmd_tree_format(text, sizeof text, leaf);
    bool fits = length < (int)sizeof text;
    *digest = spmd__hash(*digest, text, fits ? (size_t)length : sizeof text);
    if (leaf->leaf == &spmd__leaf_key)
        plan->statics[index] = spmd__key_block(&plan->keys[index], leaf->value.key);
    return SPMD_OK;
}

static spmd_status take_inputs(spmd_shard_map_tree_call *plan, const spmd_tree *in,
                               uint64_t *digest)
{
    if (!in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "in: there is no tree, it is NULL");
    TRY(spmd__tree_compare(plan->in, "the plan's in", in, "in"));
    spmd__tree_flatten(in, plan->nin, plan->leaves);
    for (int k = 0; k < plan->nin; k++) {
        plan->statics[k] = NULL;
        plan->arrays[k] = spmd__tree_array(plan->leaves[k]);
        spmd_status status = plan->arrays[k] ? SPMD_OK : take_static(plan, k, digest);
        if (status != SPMD_OK)
            return spmd__tree_fail_leaf(status, "in", in, k);
    }
    plan->call.in = in;
    return SPMD_OK;
}

/* Local. The arrays of a tree that is given for the results. */
static spmd_status take_outputs(spmd_shard_map_tree_call *plan, spmd_tree *const *out)
{
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "out: there is no place for the tree, it is NULL");
    memset(plan->results, 0, (size_t)plan->nout * sizeof(spmd_array *));
    if (!*out)
        return SPMD_OK;
    TRY(spmd__tree_compare(plan->out, "the plan's out", *out, "out"));
    spmd__tree_flatten(*out, plan->nout, (const spmd_tree **)plan->places);
    for (int k = 0; k < plan->nout; k++) {
        plan->results[k] = spmd__tree_array(plan->places[k]);
        if (!plan->results[k]) {
            spmd_fail(SPMD_ERR_ARGUMENT, "it is %s, and only arrays are replaced",
                      plan->places[k]->leaf->what);
            return spmd__tree_fail_leaf(SPMD_ERR_ARGUMENT, "out", *out, k);
        }
    }
    return SPMD_OK;
}

/* Local. The results, as a new tree, which takes over their holds. */
static spmd_status give_tree(spmd_shard_map_tree_call *plan, spmd_tree **out)
{
    spmd_status status = spmd_tree_unflatten_arrays(plan->out, plan->nout, plan->results, out);
    for (int k = 0; k < plan->nout; k++)
        spmd_array_free(&plan->results[k]);
    return status;
}

static spmd_status run(spmd_shard_map_tree_call *plan, void *user, const spmd_tree *in,
                       spmd_tree **out)
{
    uint64_t digest = 0;
    spmd_status status = take_inputs(plan, in, &digest);
    if (status == SPMD_OK)
        status = take_outputs(plan, out);
    if (plan->agree || !plan->settled)
        status = spmd__tree_agree(plan->mesh, status, digest);
    if (status != SPMD_OK)
        return status;
    plan->call.user = user;
    status = spmd_shard_map_run(plan->flat, &plan->call, plan->arrays, plan->results);
    for (int k = 0; *out && k < plan->nout; k++)
        plan->places[k]->value.pointer = plan->results[k];
    if (status == SPMD_OK && !*out)
        status = give_tree(plan, out);
    return status;
}

spmd_status spmd_shard_map_tree_run(spmd_shard_map_tree_call *plan, void *user, const spmd_tree *in,
                                    spmd_tree **out)
{
    if (!plan)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a run needs its plan, this is NULL");
    if (plan->running)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a body cannot run the plan that it is run by");
    plan->running = true;
    spmd_status status = run(plan, user, in, out);
    plan->running = false;
    plan->settled = plan->settled || status == SPMD_OK;
    return status;
}

spmd_status spmd_shard_map_tree(spmd_mesh *mesh, spmd_body *body, void *user, const spmd_tree *in,
                                const char *in_specs, spmd_tree **out, const char *out_specs,
                                const spmd_shard_map_options *options)
{
    spmd_shard_map_tree_call *plan;
    TRY(spmd_shard_map_tree_plan(mesh, body, in, in_specs, out ? *out : NULL, out_specs, options,
                                 &plan));
    spmd_status status = spmd_shard_map_tree_run(plan, user, in, out);
    spmd_shard_map_tree_free(&plan);
    return status;
}
