/* map/vmap_named.c - instances of a named vmap, each until all wait in the same collective. */
#include <string.h>

#include "map/joint.h"
#include "map/vmap.h"

enum { DEFAULT_STACK = 1 << 20, CALL_BYTES = 256 };

static void fail_instance(const struct instance *instance, spmd_status status)
{
    spmd_fail(status, "instance %lld: %s", (long long)instance->ctx.instance, spmd_error_message());
    spmd__error_keep(&instance->vmap->failure, status);
}

/* What runs on an instance's fibre. */
static void run_on_fibre(void *argument)
{
    struct instance *instance = argument;
    const struct vmap *vmap = instance->vmap;
    spmd_status status = spmd__instance_run(instance, vmap->fn, vmap->user);
    if (status != SPMD_OK)
        fail_instance(instance, status);
}

/* On the instance's fibre: waits until all instances wait, and the collective is done. */
static spmd_status wait_for_all(struct instance *instance, struct operation **ops, int64_t nops)
{
    const struct vmap *vmap = instance->vmap;
    if (instance->fibre != spmd__fibre_running())
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s over %s in a vmap inside of vmap %s was called with a ctx of outside: "
                         "an instance calls with its own",
                         ops[0]->kind->name, ops[0]->axes, vmap->name);
    if (vmap->failure.status == SPMD_OK) {
        instance->ops = ops;
        instance->nops = nops;
        instance->place = spmd__place();
        spmd__fibre_suspend();
        instance->ops = NULL;
    }
    TRY(spmd__error_again(&vmap->failure));
    return spmd__error_again(&vmap->verdict);
}

/* The instance of the innermost named vmap around this body, or of this body. */
static struct instance *named_around(const spmd_ctx *ctx)
{
    struct instance *instance;
    while ((instance = spmd__instance_of(ctx)) && !instance->vmap->name)
        ctx = ctx->outer;
    return instance;
}

/* Local. Whether members may be ranks as well as instances. */
static spmd_status check_members(const struct operation *op, const struct vmap_axes *axes)
{
    for (int i = 0; op->kind->own_lists && i < axes->list.count; i++)
        if (axes->list.axis[i] < axes->in_mesh)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "%s over %s: members have lists of their own, which instances know of "
                             "each other and not of those on other ranks: call it over axes of the "
                             "mesh, or of vmaps",
                             op->kind->name, op->axes);
    return SPMD_OK;
}

/* Local. Finds who the members are. */
static spmd_status find_members(const struct operation *op, int64_t *size)
{
    struct vmap_axes axes;
    TRY(spmd__vmap_axes_read(op->ctx, op->axes, &axes));
    TRY(check_members(op, &axes));
    *size = spmd__axis_list_size(&axes.all, &axes.list);
    return SPMD_OK;
}

spmd_status spmd__vmap_join(struct operation *op)
{
    int64_t size;
    TRY(find_members(op, &size));
    TRY(spmd__collective_check(op, NULL, size));
    struct arena_mark mark = spmd__arena_mark(op->ctx->arena);
    spmd_status status = wait_for_all(named_around(op->ctx), &op, 1);
    spmd__arena_reset(op->ctx->arena, mark);
    return status;
}

spmd_status spmd__vmap_shape(struct operation *op, spmd_shape *shape)
{
    int64_t size;
    TRY(find_members(op, &size));
    TRY(spmd__collective_check_shape(op, NULL, size));
    struct arena_mark mark = spmd__arena_mark(op->ctx->arena);
    spmd_status status =
        op->kind->shape(op, NULL, size, spmd__vmap_axis_index(op->ctx, op->axes), shape);
    spmd__arena_reset(op->ctx->arena, mark);
    return status;
}

/* "psum over batch of f32[3] (solver.c:12)" */
static void describe_call(const struct instance *instance, char call[CALL_BYTES])
{
    struct text text = spmd__text_begin(call, CALL_BYTES);
    spmd__collective_describe(instance->ops[0], NULL, "", &text);
    spmd__place_print(&text, instance->place);
}

static bool does_the_same(const struct instance *a, const struct instance *b)
{
    char calls[2][CALL_BYTES];
    struct text of_a = spmd__text_begin(calls[0], CALL_BYTES);
    struct text of_b = spmd__text_begin(calls[1], CALL_BYTES);
    spmd__collective_describe(a->ops[0], NULL, "", &of_a);
    spmd__collective_describe(b->ops[0], NULL, "", &of_b);
    return a->nops == b->nops && strcmp(calls[0], calls[1]) == 0;
}

static spmd_status tell_difference(const struct instance *instance, const struct instance *first)
{
    char calls[2][CALL_BYTES];
    describe_call(instance, calls[0]);
    describe_call(first, calls[1]);
    if (instance->nops != first->nops)
        return spmd_fail(SPMD_ERR_DISAGREE,
                         "instance %lld calls %s from %lld instances of the vmaps in it, instance "
                         "%lld from %lld: they need equal numbers",
                         (long long)instance->ctx.instance, calls[0], (long long)instance->nops,
                         (long long)first->ctx.instance, (long long)first->nops);
    return spmd_fail(SPMD_ERR_DISAGREE,
                     "instance %lld calls %s, while instance %lld calls %s: instances of a named "
                     "vmap must make the same collectives in the same order",
                     (long long)instance->ctx.instance, calls[0], (long long)first->ctx.instance,
                     calls[1]);
}

static spmd_status check_same(const struct vmap *vmap)
{
    for (int64_t i = 1; i < vmap->size; i++)
        if (!does_the_same(&vmap->instances[i], &vmap->instances[0]))
            return tell_difference(&vmap->instances[i], &vmap->instances[0]);
    return SPMD_OK;
}

static spmd_status tell_who_returned(const struct vmap *vmap)
{
    const struct instance *waiting = NULL, *returned = NULL;
    char call[CALL_BYTES];
    for (int64_t i = vmap->size - 1; i >= 0; i--)
        *(vmap->instances[i].ops ? &waiting : &returned) = &vmap->instances[i];
    describe_call(waiting, call);
    return spmd_fail(SPMD_ERR_DISAGREE,
                     "instance %lld has returned, while instance %lld waits in %s: instances of a "
                     "named vmap must make the same collectives in the same order",
                     (long long)returned->ctx.instance, (long long)waiting->ctx.instance, call);
}

/* All instances wait in the same: does it, or waits with all of it in the vmap further out that the
 * text names as well. */
static spmd_status run_collective(const struct vmap *vmap)
{
    const struct operation *first = vmap->instances[0].ops[0];
    int64_t nops = vmap->instances[0].nops, total = nops * vmap->size;
    struct operation **ops;
    TRY(spmd__arena_take(first->ctx->arena, (size_t)total, sizeof *ops, &ops));
    for (int64_t i = 0; i < vmap->size; i++)
        memcpy(&ops[i * nops], vmap->instances[i].ops, (size_t)nops * sizeof *ops);
    if (spmd__vmap_binds(vmap->outer, first->axes))
        return wait_for_all(named_around(vmap->outer), ops, total);
    return spmd__joint_run(ops);
}

/* What comes of it that `waiting` instances wait, and the others have returned. */
static void settle(struct vmap *vmap, int64_t waiting)
{
    struct place here = spmd__place();
    if (vmap->failure.status != SPMD_OK)
        return;
    spmd_status status = waiting == vmap->size ? check_same(vmap) : tell_who_returned(vmap);
    if (status != SPMD_OK) {
        spmd__error_keep(&vmap->failure, status);
        return;
    }
    spmd__place_restore(vmap->instances[0].place);
    vmap->verdict.status = SPMD_OK;
    spmd__error_keep(&vmap->verdict, run_collective(vmap));
    spmd__place_restore(here);
}

static spmd_status begin(struct instance *instance)
{
    const struct vmap *vmap = instance->vmap;
    return spmd__fibre_make(vmap->stack_bytes ? vmap->stack_bytes : DEFAULT_STACK, run_on_fibre,
                            instance, &instance->fibre);
}

/* Runs an instance until it waits, or has returned. */
static void advance(struct instance *instance)
{
    if (!instance->fibre)
        return;
    spmd__fibre_resume(instance->fibre);
    if (spmd__fibre_has_returned(instance->fibre))
        spmd__fibre_free(&instance->fibre);
}

/* The first round begins the instances, as long as none has failed. */
static void begin_all(struct vmap *vmap)
{
    for (int64_t i = 0; i < vmap->size && vmap->failure.status == SPMD_OK; i++) {
        spmd_status status = begin(&vmap->instances[i]);
        if (status != SPMD_OK)
            fail_instance(&vmap->instances[i], status);
        advance(&vmap->instances[i]);
    }
}

static int64_t count_waiting(const struct vmap *vmap)
{
    int64_t waiting = 0;
    for (int64_t i = 0; i < vmap->size; i++)
        waiting += vmap->instances[i].ops != NULL;
    return waiting;
}

static spmd_status make_instances(struct vmap *vmap)
{
    TRY(spmd__vmap_take(vmap, (size_t)vmap->size, sizeof *vmap->instances, &vmap->instances));
    for (int64_t i = 0; i < vmap->size; i++)
        TRY(spmd__instance_make(vmap, i, &vmap->instances[i].arena, &vmap->instances[i]));
    return SPMD_OK;
}

spmd_status spmd__vmap_run_named(struct vmap *vmap)
{
    int64_t waiting;
    TRY(make_instances(vmap));
    begin_all(vmap);
    while ((waiting = count_waiting(vmap)) > 0) {
        settle(vmap, waiting);
        for (int64_t i = 0; i < vmap->size; i++)
            advance(&vmap->instances[i]);
    }
    for (int64_t i = 0; i < vmap->size; i++)
        spmd__arena_free(&vmap->instances[i].arena);
    return spmd__error_again(&vmap->failure);
}
