/* map/all_to_all.c - part k of each member's block to member k; and pswapaxes. */
#include "comm/near.h"
#include "core/block.h"
#include "core/shape.h"
#include "map/parts.h"
#include "map/request.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    const spmd_block *in = op->in;
    TRY(spmd__collective_resolve_dim(op, in->ndim, &op->dim));
    TRY(spmd__collective_resolve_dim(op, in->ndim, &op->to_dim));
    TRY(spmd__collective_check_even(op, group));
    if (op->tiling == SPMD_UNTILED && in->shape[op->dim] != size)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s over %s deals out dim %d of %d, one index to each of %lld members, "
                         "but has %lld: a tiled all_to_all splits it",
                         op->kind->name, op->axes, op->dim, in->ndim, (long long)size,
                         (long long)in->shape[op->dim]);
    op->free_dims = op->tiling == SPMD_TILED ? spmd__collective_free_dim(op, op->to_dim) : 0;
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, ", %s from dim %d to dim %d", op->tiling == SPMD_TILED ? "split" : "dealt",
                   op->dim, op->to_dim);
}

/* One under way: what is sent as parts of `in`, and what comes as parts of `out`. */
struct swap {
    struct parts send, recv;
    struct volume volume;
    void *packed; /* where the parts arrive one after the other: `out`, or scratch memory */
};

/* Each index of dim is a part, and an index of to_dim where it comes to. */
static spmd_status plan_untiled(const struct operation *op, int64_t size, struct arena *arena,
                                struct swap *swap)
{
    TRY(spmd__parts_take(arena, &swap->send, NULL));
    swap->recv.shape = spmd__shape_without(swap->recv.shape, op->dim);
    swap->recv.shape = spmd__shape_with(swap->recv.shape, op->to_dim, size);
    TRY(spmd__parts_take(arena, &swap->recv, NULL));
    int64_t each = spmd__parts_bytes(&swap->send, 0);
    swap->volume = (struct volume){each, each * size * size};
    return SPMD_OK;
}

/* Whether extents are one and the same, which parts of the same size can be made of. */
static bool divide_alike(int64_t size, const int64_t extents[], bool split)
{
    for (int64_t m = 0; m < size; m++)
        if (extents[m] != extents[0] || (split && extents[m] % size != 0))
            return false;
    return true;
}

/* `extents` of the members' blocks along to_dim. */
static spmd_status plan_tiled(const struct operation *op, const struct group *group, int64_t size,
                              int64_t index, const int64_t extents[], struct arena *arena,
                              struct swap *swap)
{
    bool same_dim = op->dim == op->to_dim;
    int64_t split = op->in->shape[op->dim], total = 0, *part;
    int64_t slab = spmd__parts_slab(swap->send.shape, op->to_dim, swap->send.element);
    TRY(spmd__arena_take(arena, (size_t)size, sizeof *part, &part));
    spmd__parts_split(group, size, split, part);
    TRY(spmd__parts_take(arena, &swap->send, part));
    swap->recv.shape.dim[op->dim] = part[index];
    for (int64_t m = 0; m < size; m++) {
        total += slab * extents[m];
        part[m] = same_dim ? spmd__parts_split_one(group, size, extents[m], index) : extents[m];
    }
    TRY(spmd__parts_take(arena, &swap->recv, part));
    bool even = divide_alike(size, extents, same_dim) && (same_dim || split % size == 0);
    swap->volume = (struct volume){even ? spmd__parts_bytes(&swap->send, 0) : -1, total};
    return SPMD_OK;
}

static spmd_status plan(const struct operation *op, const struct group *group, int64_t size,
                        int64_t index, const int64_t extents[], struct arena *arena,
                        struct swap *swap)
{
    bool tiled = op->tiling == SPMD_TILED;
    struct parts parts = {.shape = spmd_block_shape(op->in),
                          .element = spmd_dtype_size(op->in->dtype),
                          .dim = op->dim,
                          .thin = !tiled,
                          .count = size};
    *swap = (struct swap){.send = parts, .recv = parts};
    swap->recv.dim = op->to_dim;
    if (tiled)
        return plan_tiled(op, group, size, index, extents, arena, swap);
    return plan_untiled(op, size, arena, swap);
}

static spmd_status plan_among(const struct operation *op, const struct group *group, int64_t size,
                              int64_t index, struct arena *arena, struct swap *swap)
{
    int64_t *extents = NULL;
    if (op->tiling == SPMD_TILED)
        TRY(spmd__collective_extents(op, group, size, op->to_dim, arena, &extents));
    return plan(op, group, size, index, extents, arena, swap);
}

static spmd_status shape(const struct operation *op, const struct group *group, int64_t size,
                         int64_t index, spmd_shape *shape)
{
    struct swap swap;
    TRY(plan_among(op, group, size, index, op->ctx->arena, &swap));
    *shape = swap.recv.shape;
    return SPMD_OK;
}

/* What this member, `index`, gets, must be the shape of `out`, which learns its place along the
 * dimension that is split; where that is joined as well, it has none. */
static spmd_status settle_out(const struct operation *op, const struct swap *swap, int64_t index)
{
    TRY(spmd__collective_check_out(op, op->in->dtype, swap->recv.shape));
    if (op->dim != op->to_dim)
        spmd__parts_place(&swap->send, op->in, index, op->out);
    return SPMD_OK;
}

/* The parts of `in` one after the other, and not in the memory of `out`. */
static spmd_status pack(const struct operation *op, const struct parts *parts, struct arena *arena,
                        const void **packed)
{
    void *memory;
    if (spmd__parts_in_order(parts))
        return spmd__collective_keep_input(op, arena, packed);
    TRY(spmd__arena_take(arena, spmd__block_bytes(op->in), 1, &memory));
    spmd__parts_pack(parts, op->in->data, memory);
    *packed = memory;
    return SPMD_OK;
}

static spmd_status begin(const struct operation *op, const struct group *group, struct arena *arena,
                         struct swap *swap, struct pending *pending)
{
    int64_t *send, *recv;
    const void *packed;
    TRY(plan_among(op, group, group->size, group->index, arena, swap));
    TRY(settle_out(op, swap, group->index));
    TRY(spmd__parts_all_bytes(&swap->send, arena, &send));
    TRY(spmd__parts_all_bytes(&swap->recv, arena, &recv));
    TRY(pack(op, &swap->send, arena, &packed));
    TRY(spmd__parts_room(&swap->recv, arena, op->out->data, &swap->packed));
    bool done = false;
    if (!pending && swap->volume.each >= 0)
        TRY(spmd__near_all_to_all(group, swap->volume.each, packed, swap->packed, arena, &done));
    if (done)
        return SPMD_OK;
    return spmd__all_to_all(group->comm, swap->volume, packed, send, swap->packed, recv, arena,
                            pending);
}

static void end(const struct operation *op, const struct swap *swap)
{
    spmd__parts_unpack(&swap->recv, swap->packed, op->out->data);
}

static spmd_status run(struct operation *op, struct group *group)
{
    struct swap swap;
    TRY(begin(op, group, op->ctx->arena, &swap, NULL));
    end(op, &swap);
    return SPMD_OK;
}

static spmd_status finish(spmd_request *request)
{
    end(&request->op, request->state);
    return SPMD_OK;
}

static spmd_status start(struct operation *op, struct group *group, spmd_request *request)
{
    TRY(spmd__arena_take(&request->arena, 1, sizeof(struct swap), &request->state));
    request->finish = finish;
    return begin(op, group, &request->arena, request->state, &request->pending);
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    struct arena *arena = ops[0]->ctx->arena;
    int64_t *extents;
    const void **in;
    struct swap *swaps;
    TRY(spmd__collective_keep_inputs(ops, n, &in));
    TRY(spmd__collective_local_extents(ops, n, ops[0]->to_dim, &extents));
    TRY(spmd__arena_take(arena, (size_t)n, sizeof *swaps, &swaps));
    for (int64_t k = 0; k < n; k++) {
        TRY(plan(ops[k], NULL, n, k, extents, arena, &swaps[k]));
        if (ops[k]->out)
            TRY(settle_out(ops[k], &swaps[k], k));
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t m = 0; m < n && ops[k]->out; m++) {
            struct view to = spmd__parts_view(&swaps[k].recv, ops[k]->out->data, m);
            struct view from = spmd__parts_view(&swaps[m].send, (void *)in[m], k); /* read only */
            spmd__view_copy(&to, &from, swaps[k].recv.element);
        }
    return SPMD_OK;
}

#define KIND(name_)                                                                     \
    {                                                                                   \
        .name = name_, .joins = true, .check = check, .describe = describe, .run = run, \
        .start = start, .local = local, .shape = shape                                  \
    }
static const struct operation_kind all_to_all = KIND("all_to_all");
static const struct operation_kind pswapaxes = KIND("pswapaxes");

spmd_status spmd_all_to_all(spmd_ctx *ctx, const spmd_block *in, const char *axes, int split_dim,
                            int concat_dim, spmd_tiling tiling, spmd_block *out)
{
    struct operation op =
        spmd__operation_along(&all_to_all, ctx, in, axes, split_dim, concat_dim, tiling, out);
    return spmd__collective_run(&op);
}

spmd_status spmd_all_to_all_start(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                  int split_dim, int concat_dim, spmd_tiling tiling,
                                  spmd_block *out, spmd_request **request)
{
    struct operation op =
        spmd__operation_along(&all_to_all, ctx, in, axes, split_dim, concat_dim, tiling, out);
    return spmd__request_start(&op, request);
}

spmd_status spmd_all_to_all_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes,
                                  int split_dim, int concat_dim, spmd_tiling tiling,
                                  spmd_shape *shape)
{
    struct operation op =
        spmd__operation_along(&all_to_all, ctx, in, axes, split_dim, concat_dim, tiling, NULL);
    return spmd__collective_shape(&op, shape);
}

spmd_status spmd_pswapaxes(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                           spmd_block *out)
{
    struct operation op =
        spmd__operation_along(&pswapaxes, ctx, in, axes, dim, dim, SPMD_UNTILED, out);
    return spmd__collective_run(&op);
}
