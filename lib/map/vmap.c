/* map/vmap.c - run a body once for each index of a batch dimension. */
#include "map/vmap.h"

#include <string.h>

#include "core/block.h"
#include "map/batch.h"

spmd_status spmd__vmap_take(struct vmap *vmap, size_t count, size_t size, void *out)
{
    void *memory;
    TRY(spmd__arena_take(vmap->arena, count, size, &memory));
    memset(memory, 0, count * size);
    memcpy(out, &memory, sizeof memory);
    return SPMD_OK;
}

static spmd_status check_arguments(const struct vmap *vmap, const spmd_block *const in[],
                                   const int in_axes[], spmd_block *const out[], spmd_body *fn,
                                   int64_t axis_size)
{
    if (!fn || vmap->nin < 0 || vmap->nout < 0 || (vmap->nin > 0 && (!in || !in_axes)) ||
        (vmap->nout > 0 && (!out || !vmap->out_axes)))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a vmap needs a function, and a block and an axis for each of its %d "
                         "inputs and %d outputs",
                         vmap->nin, vmap->nout);
    if (axis_size < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the option axis_size of a vmap is %lld",
                         (long long)axis_size);
    if (vmap->name)
        TRY(spmd__vmap_check_name(vmap->outer, vmap->name));
    return SPMD_OK;
}

static spmd_status map_inputs(struct vmap *vmap, const spmd_block *const in[], const int in_axes[])
{
    for (int k = 0; k < vmap->nin; k++) {
        struct mapped *mapped = &vmap->in[k];
        mapped->whole = (spmd_block *)in[k]; /* read only */
        mapped->axis = -1;
        if (!in[k])
            continue;
        TRY(spmd__block_check(in[k], spmd__argument(&vmap->names, INPUT, k).text));
        TRY(spmd__batch_axis(&vmap->names, IN_AXIS, k, in_axes[k], in[k]->ndim, &mapped->axis));
    }
    return SPMD_OK;
}

static int64_t size_of(const struct mapped *in)
{
    return in->whole->shape[in->axis];
}

/* How many mapped inputs have as many instances as input `index`; 0 if that is not mapped. */
static int count_alike(const struct vmap *vmap, int index)
{
    int alike = 0;
    for (int k = 0; k < vmap->nin && vmap->in[index].axis >= 0; k++)
        alike += vmap->in[k].axis >= 0 && size_of(&vmap->in[k]) == size_of(&vmap->in[index]);
    return alike;
}

/* Finds the number of instances: what most mapped inputs have must be what all have. */
static spmd_status find_size(struct vmap *vmap, int64_t axis_size)
{
    int most = 0, usual = -1, mapped = 0;
    for (int k = 0; k < vmap->nin; k++) {
        int alike = count_alike(vmap, k);
        mapped += alike > 0;
        usual = alike > most ? k : usual;
        most = alike > most ? alike : most;
    }
    if (usual < 0 && axis_size == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "no input of the vmap is mapped: the option axis_size says how often");
    vmap->size = usual < 0 ? axis_size : size_of(&vmap->in[usual]);
    for (int k = 0; most < mapped && k < vmap->nin; k++) {
        const struct mapped *in = &vmap->in[k];
        if (in->axis >= 0 && size_of(in) != vmap->size)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "%s has %lld instances along dim %d, but %d of %d mapped inputs "
                             "%s %lld, such as %s along dim %d",
                             spmd__argument(&vmap->names, INPUT, k).text, (long long)size_of(in),
                             in->axis, most, mapped, most == 1 ? "has" : "have",
                             (long long)vmap->size, spmd__argument(&vmap->names, INPUT, usual).text,
                             vmap->in[usual].axis);
    }
    if (axis_size > 0 && vmap->size != axis_size)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s has %lld instances along dim %d, but the option axis_size says "
                         "%lld",
                         spmd__argument(&vmap->names, INPUT, usual).text, (long long)vmap->size,
                         vmap->in[usual].axis, (long long)axis_size);
    return SPMD_OK;
}

/* Outputs of no instance at all: their type is not known unless they are given. */
static spmd_status map_outputs(struct vmap *vmap, spmd_block *const out[])
{
    for (int k = 0; k < vmap->nout; k++) {
        if (vmap->size == 0 && !out[k])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "a vmap without instances cannot know the type of %s: give its "
                             "block",
                             spmd__argument(&vmap->names, OUTPUT, k).text);
        if (out[k])
            TRY(spmd__block_check(out[k], spmd__argument(&vmap->names, OUTPUT, k).text));
        vmap->out[k].whole = out[k];
        vmap->out[k].first = -1;
    }
    return SPMD_OK;
}

/* Whether two dense blocks have memory in common. */
static bool overlap(const spmd_block *a, const spmd_block *b)
{
    const char *first = a->data, *other = b->data;
    return first < other + spmd__block_bytes(b) && other < first + spmd__block_bytes(a);
}

/* Outputs are zeroed before the instances that read have run. */
static spmd_status check_apart(const struct vmap *vmap, const spmd_block *const in[],
                               spmd_block *const out[])
{
    for (int k = 0; k < vmap->nout; k++)
        for (int j = 0; out[k] && j < vmap->nin; j++)
            if (in[j] && spmd__block_is_dense(in[j]) && overlap(in[j], out[k]))
                return spmd_fail(SPMD_ERR_ARGUMENT,
                                 "%s of a vmap lies in the memory of %s: give it memory of its own",
                                 spmd__argument(&vmap->names, OUTPUT, k).text,
                                 spmd__argument(&vmap->names, INPUT, j).text);
    return SPMD_OK;
}

/* Without a name: one instance after the other, in the same memory. */
static spmd_status run_loop(struct vmap *vmap, spmd_body *fn, void *user)
{
    struct instance instance = {0};
    struct arena *arena;
    TRY(spmd__arena_inner(vmap->arena, &arena));
    TRY(spmd__instance_make(vmap, 0, arena, &instance));
    for (int64_t i = 0; i < vmap->size; i++) {
        instance.ctx.instance = i;
        spmd_status status = spmd__instance_run(&instance, fn, user);
        if (status != SPMD_OK)
            return spmd_fail(status, "instance %lld: %s", (long long)i, spmd_error_message());
    }
    return SPMD_OK;
}

static spmd_status run_call(struct vmap *vmap, spmd_body *fn, void *user,
                            const spmd_block *const in[], const int in_axes[], spmd_block *out[],
                            int64_t axis_size)
{
    TRY(check_arguments(vmap, in, in_axes, out, fn, axis_size));
    TRY(spmd__vmap_take(vmap, (size_t)vmap->nin, sizeof *vmap->in, &vmap->in));
    TRY(spmd__vmap_take(vmap, (size_t)vmap->nout, sizeof *vmap->out, &vmap->out));
    TRY(map_inputs(vmap, in, in_axes));
    TRY(find_size(vmap, axis_size));
    TRY(map_outputs(vmap, out));
    TRY(check_apart(vmap, in, out));
    vmap->fn = fn;
    vmap->user = user;
    TRY(vmap->name ? spmd__vmap_run_named(vmap) : run_loop(vmap, fn, user));
    for (int k = 0; k < vmap->nout; k++)
        out[k] = vmap->out[k].whole;
    return SPMD_OK;
}

static void drop_made(struct vmap *vmap)
{
    for (int k = 0; vmap->out && k < vmap->nout; k++)
        if (vmap->out[k].made)
            spmd_block_free(&vmap->out[k].whole);
}

spmd_status spmd__vmap_call(spmd_ctx *ctx, spmd_body *fn, void *user, int nin,
                            const spmd_block *const in[], const int in_axes[], int nout,
                            spmd_block *out[], const int out_axes[],
                            const spmd_vmap_options *options, const struct names *names)
{
    struct vmap vmap = {.outer = ctx,
                        .name = options ? options->axis_name : NULL,
                        .stack_bytes = options ? options->stack_bytes : 0,
                        .arena = &vmap.own,
                        .names = names ? *names : (struct names){NULL, NULL},
                        .nin = nin,
                        .nout = nout,
                        .out_axes = out_axes};
    if (ctx)
        TRY(spmd__arena_inner(ctx->arena, &vmap.arena));
    struct arena_mark mark = spmd__arena_mark(vmap.arena);
    spmd_status status =
        run_call(&vmap, fn, user, in, in_axes, out, options ? options->axis_size : 0);
    if (status != SPMD_OK)
        drop_made(&vmap);
    spmd__arena_reset(vmap.arena, mark);
    spmd__arena_free(&vmap.own);
    return status;
}

spmd_status spmd_vmap(spmd_ctx *ctx, spmd_body *fn, void *user, int nin,
                      const spmd_block *const in[], const int in_axes[], int nout,
                      spmd_block *out[], const int out_axes[], const spmd_vmap_options *options)
{
    return spmd__vmap_call(ctx, fn, user, nin, in, in_axes, nout, out, out_axes, options, NULL);
}
