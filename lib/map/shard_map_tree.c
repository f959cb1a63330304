/* map/shard_map_tree.c - shard_map over trees: a shard_map over their leaves. */
#include <stdlib.h>

#include "array/array.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/tree_match.h"
#include "core/tree_text.h"
#include "map/shard_map.h"
#include "map/tree_lists.h"

struct spmd_shard_map_tree_call {
    spmd_shard_map_call *flat;
    spmd_mesh *mesh;     /* held */
    spmd_tree *in, *out; /* structures */
    struct tree_lists lists;
    struct tree_call call; /* for the bodies */
    bool agree;
    bool settled; /* a first run has been agreed on */
    bool running; /* its body must not run it again */
    bool freed;   /* by its body: it goes at the end of the run */
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
    TRY(spmd__tree_parse_specs(wanted->in_specs, "in_specs", &wanted->specs[0]));
    return spmd__tree_parse_specs(wanted->out_specs, "out_specs", &wanted->specs[1]);
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
    TRY(spmd__tree_lists_make(plan->in, plan->out, &plan->lists));
    plan->agree = wanted->options && wanted->options->agree;
    plan->call = (struct tree_call){.body = wanted->body,
                                    .out = plan->out,
                                    .statics = plan->lists.statics,
                                    .seen = plan->lists.seen};
    TRY(spread_specs(wanted, 0, wanted->in, plan->lists.nin));
    return spread_specs(wanted, 1, out, plan->lists.nout);
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
    return spmd__shard_map_plan_named(plan->mesh, spmd__tree_body, plan->lists.nin, wanted->text[0],
                                      plan->lists.nout, wanted->text[1], wanted->options, &names,
                                      &plan->flat);
}

spmd_status spmd_shard_map_tree_plan(spmd_mesh *mesh, spmd_body *body, const spmd_tree *in,
                                     const char *in_specs, const spmd_tree *out,
                                     const char *out_specs, const spmd_shard_map_options *options,
                                     spmd_shard_map_tree_call **plan)
{
    struct wanted wanted = {.body = body,
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
    if (plan->running) {
        plan->freed = true;
        return;
    }
    spmd_shard_map_free(&plan->flat);
    spmd_mesh_free(&plan->mesh);
    spmd__tree_free(&plan->in);
    spmd__tree_free(&plan->out);
    spmd__tree_lists_free(&plan->lists);
    free(plan);
}

/* Local. Whether the trees of a run fit the plan, and takes them in. */
static spmd_status take(spmd_shard_map_tree_call *plan, const spmd_tree *in, spmd_tree *const *out,
                        uint64_t *digest)
{
    struct tree_lists *lists = &plan->lists;
    if (!in || !out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a run needs a tree, and a place for one, not NULL");
    TRY(spmd__tree_compare(plan->in, "the plan's in", in, "in"));
    TRY(spmd__tree_lists_take(lists, in, digest));
    for (int k = 0; k < lists->nin; k++)
        if (!lists->arrays[k] && spmd__spec_used(&plan->flat->input[k].named->spec) != 0)
            return spmd__tree_lists_fail_split(lists, in, k, "its spec is P() or None");
    if (*out)
        TRY(spmd__tree_compare(plan->out, "the plan's out", *out, "out"));
    return spmd__tree_lists_take_out(lists, out);
}

static spmd_status run(spmd_shard_map_tree_call *plan, void *user, const spmd_tree *in,
                       spmd_tree **out)
{
    struct tree_lists *lists = &plan->lists;
    uint64_t digest = 0;
    bool agrees = plan->agree || !plan->settled;
    spmd_status status = take(plan, in, out, agrees ? &digest : NULL);
    if (agrees)
        status = spmd__tree_agree(plan->mesh, status, digest);
    if (status != SPMD_OK)
        return status;
    plan->call.user = user;
    plan->call.in = in;
    status = spmd_shard_map_run(plan->flat, &plan->call, lists->arrays, lists->results);
    return spmd__tree_lists_give(lists, status, plan->out, out);
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
    if (plan->freed)
        spmd_shard_map_tree_free(&plan);
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
