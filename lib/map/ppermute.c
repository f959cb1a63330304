/* map/ppermute.c - blocks from member to member, as a list says; and pshuffle.
 *
 * The list numbers the members in the order of the mesh's axes, as JAX does here, also where the
 * text has another one. Parts of a group are numbered as their text says. */
#include <string.h>

#include "comm/parcels.h"
#include "core/absent.h"
#include "core/block.h"
#include "core/hash.h"
#include "map/request.h"

/* What a member sends and gets: to whom, from whom; -1: to nobody, from nobody. */
struct route {
    int64_t to, from;
};

static struct route pair_route(const struct operation *op, int64_t index)
{
    const int64_t(*pairs)[2] = op->list; /* from, to */
    struct route route = {-1, -1};
    for (int64_t i = 0; i < op->count; i++) {
        if (pairs[i][0] == index)
            route.to = pairs[i][1];
        if (pairs[i][1] == index)
            route.from = pairs[i][0];
    }
    return route;
}

static struct route shuffle_route(const struct operation *op, int64_t index)
{
    const int64_t *perm = op->list;
    struct route route = {-1, perm[index]};
    for (int64_t k = 0; k < op->count; k++)
        if (perm[k] == index)
            route.to = k;
    return route;
}

/* Marks the members that stand on one side of a list. */
struct marks {
    const struct operation *op;
    int64_t size;
    bool *seen; /* [size] */
};

static spmd_status clear(struct marks *marks)
{
    size_t count = (size_t)marks->size;
    TRY(spmd__arena_take(marks->op->ctx->arena, count, sizeof *marks->seen, &marks->seen));
    memset(marks->seen, 0, count * sizeof *marks->seen);
    return SPMD_OK;
}

static spmd_status mark(struct marks *marks, int64_t member, const char *role)
{
    const struct operation *op = marks->op;
    if (member < 0 || member >= marks->size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s over %s: %s", op->kind->name, op->axes,
                         spmd__absent("member", member, 0, marks->size).text);
    if (marks->seen[member])
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s over %s: member %lld is %s twice", op->kind->name,
                         op->axes, (long long)member, role);
    marks->seen[member] = true;
    return SPMD_OK;
}

static spmd_status check_pairs(const struct operation *op, int64_t size)
{
    const int64_t(*pairs)[2] = op->list; /* from, to */
    struct marks from = {.op = op, .size = size}, to = from;
    if (op->count < 0 || (op->count > 0 && !pairs))
        return spmd_fail(SPMD_ERR_ARGUMENT, "ppermute needs a list of its %lld pairs",
                         (long long)op->count);
    if (op->count > size)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s over %s: %lld pairs of %lld members, so one is a source twice",
                         op->kind->name, op->axes, (long long)op->count, (long long)size);
    TRY(clear(&from));
    TRY(clear(&to));
    for (int64_t i = 0; i < op->count; i++) {
        TRY(mark(&from, pairs[i][0], "a source"));
        TRY(mark(&to, pairs[i][1], "a destination"));
    }
    return SPMD_OK;
}

static spmd_status check_permutation(const struct operation *op, int64_t size)
{
    const int64_t *perm = op->list;
    struct marks marks = {.op = op, .size = size};
    if (!perm)
        return spmd_fail(SPMD_ERR_ARGUMENT, "pshuffle needs a permutation of its %lld members",
                         (long long)size);
    TRY(clear(&marks));
    for (int64_t k = 0; k < size; k++)
        TRY(mark(&marks, perm[k], "a source"));
    return SPMD_OK;
}

static spmd_status check(struct operation *op, const struct group *group, spmd_status list)
{
    TRY(list);
    TRY(spmd__collective_check_out(op, op->in->dtype, spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static spmd_status check_ppermute(struct operation *op, const struct group *group, int64_t size)
{
    struct arena_mark before = spmd__arena_mark(op->ctx->arena);
    spmd_status status = check_pairs(op, size);
    spmd__arena_reset(op->ctx->arena, before);
    op->list_bytes = (size_t)op->count * 2 * sizeof(int64_t);
    return check(op, group, status);
}

static spmd_status check_pshuffle(struct operation *op, const struct group *group, int64_t size)
{
    struct arena_mark before = spmd__arena_mark(op->ctx->arena);
    spmd_status status = check_permutation(op, size);
    spmd__arena_reset(op->ctx->arena, before);
    op->count = size;
    op->list_bytes = (size_t)size * sizeof(int64_t);
    return check(op, group, status);
}

/* Long lists as far as they tell something, and then their digest. */
enum { SHOWN = 8 };

static void describe_rest(const struct operation *op, struct text *text)
{
    if (op->count > SHOWN)
        spmd__text_add(text, " ... of %lld, digest %016llx", (long long)op->count,
                       (unsigned long long)spmd__hash(0, op->list, op->list_bytes));
}

static void describe_ppermute(const struct operation *op, struct text *text)
{
    const int64_t(*pairs)[2] = op->list; /* from, to */
    spmd__text_add(text, ", by");
    for (int64_t i = 0; i < op->count && i < SHOWN; i++)
        spmd__text_add(text, " %lld>%lld", (long long)pairs[i][0], (long long)pairs[i][1]);
    describe_rest(op, text);
}

static void describe_pshuffle(const struct operation *op, struct text *text)
{
    const int64_t *perm = op->list;
    spmd__text_add(text, ", from");
    for (int64_t k = 0; k < op->count && k < SHOWN; k++)
        spmd__text_add(text, " %lld", (long long)perm[k]);
    describe_rest(op, text);
}

/* The axes of a group in the order that lists go by. */
static struct axis_list listed_axes(const struct group *group)
{
    if (group->partition.count > 0)
        return group->axes;
    return spmd__axis_list_of_mask(spmd__axis_list_mask(&group->axes));
}

/* This rank's number in lists. */
static int64_t own_number(const struct group *group)
{
    struct axis_list listed = listed_axes(group);
    if (spmd__axis_list_equal(&listed, &group->axes))
        return group->index;
    return spmd__axis_list_index(&group->mesh->axes, &listed, group->mesh->position);
}

/* The member that has a number in lists. */
static int member_of(const struct group *group, int64_t number)
{
    struct axis_list listed = listed_axes(group);
    if (spmd__axis_list_equal(&listed, &group->axes))
        return (int)number;
    const struct axes *axes = &group->mesh->axes;
    int64_t position = spmd__axis_list_member(axes, &listed, group->mesh->position, number);
    return (int)spmd__axis_list_index(axes, &group->axes, position);
}

/* Who gets nothing has zeros. */
static spmd_status move(const struct operation *op, const struct group *group, struct route route,
                        struct arena *arena, struct pending *pending)
{
    int64_t bytes = (int64_t)spmd__block_bytes(op->in);
    const void *in = op->in->data;
    struct parcel send, recv;
    bool sends = route.to >= 0, receives = route.from >= 0;
    if (sends) {
        TRY(spmd__collective_keep_input(op, arena, &in));
        send = (struct parcel){member_of(group, route.to), (void *)in, bytes}; /* read only */
    }
    if (receives)
        recv = (struct parcel){member_of(group, route.from), op->out->data, bytes};
    else if (bytes > 0)
        memset(op->out->data, 0, (size_t)bytes);
    return spmd__parcels_move(group->comm, sends, &send, receives, &recv, arena, pending);
}

static spmd_status run_ppermute(struct operation *op, struct group *group)
{
    return move(op, group, pair_route(op, own_number(group)), op->ctx->arena, NULL);
}

static spmd_status run_pshuffle(struct operation *op, struct group *group)
{
    return move(op, group, shuffle_route(op, own_number(group)), op->ctx->arena, NULL);
}

static spmd_status start_ppermute(struct operation *op, struct group *group, spmd_request *request)
{
    struct route route = pair_route(op, own_number(group));
    return move(op, group, route, &request->arena, &request->pending);
}

/* `from` is who sends to the member. */
static void take_block(const struct operation *op, const void *const in[], int64_t from)
{
    size_t bytes = spmd__block_bytes(op->in);
    if (bytes == 0 || !op->out)
        return;
    if (from < 0)
        memset(op->out->data, 0, bytes);
    else if (op->out->data != in[from])
        memcpy(op->out->data, in[from], bytes);
}

static spmd_status local_ppermute(struct operation *const ops[], int64_t n)
{
    const void **in;
    TRY(spmd__collective_keep_inputs(ops, n, &in));
    for (int64_t k = 0; k < n; k++)
        take_block(ops[k], in, pair_route(ops[k], k).from);
    return SPMD_OK;
}

static spmd_status local_pshuffle(struct operation *const ops[], int64_t n)
{
    const void **in;
    TRY(spmd__collective_keep_inputs(ops, n, &in));
    for (int64_t k = 0; k < n; k++)
        take_block(ops[k], in, ((const int64_t *)ops[k]->list)[k]);
    return SPMD_OK;
}

static const struct operation_kind ppermute = {.name = "ppermute",
                                               .check = check_ppermute,
                                               .describe = describe_ppermute,
                                               .run = run_ppermute,
                                               .start = start_ppermute,
                                               .local = local_ppermute};
static const struct operation_kind pshuffle = {.name = "pshuffle",
                                               .check = check_pshuffle,
                                               .describe = describe_pshuffle,
                                               .run = run_pshuffle,
                                               .local = local_pshuffle};

static struct operation operation(const struct operation_kind *kind, spmd_ctx *ctx,
                                  const spmd_block *in, const char *axes, int64_t count,
                                  const void *list, spmd_block *out)
{
    return (struct operation){
        .kind = kind, .ctx = ctx, .in = in, .out = out, .axes = axes, .count = count, .list = list};
}

spmd_status spmd_ppermute(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t npairs,
                          const int64_t perm[][2], spmd_block *out)
{
    struct operation op = operation(&ppermute, ctx, in, axes, npairs, perm, out);
    return spmd__collective_run(&op);
}

spmd_status spmd_ppermute_start(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                int64_t npairs, const int64_t perm[][2], spmd_block *out,
                                spmd_request **request)
{
    struct operation op = operation(&ppermute, ctx, in, axes, npairs, perm, out);
    return spmd__request_start(&op, request);
}

spmd_status spmd_pshuffle(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                          const int64_t perm[], spmd_block *out)
{
    struct operation op = operation(&pshuffle, ctx, in, axes, 0, perm, out);
    return spmd__collective_run(&op);
}
