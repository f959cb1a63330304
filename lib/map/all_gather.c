/* map/all_gather.c - all members' blocks in everybody's. */
#include "comm/near.h"
#include "core/block.h"
#include "core/shape.h"
#include "map/parts.h"
#include "map/request.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    bool tiled = op->tiling == SPMD_TILED;
    TRY(spmd__collective_resolve_dim(op, op->in->ndim + !tiled, &op->dim));
    TRY(spmd__collective_check_even(op, group));
    op->free_dims = tiled ? spmd__collective_free_dim(op, op->dim) : 0;
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, ", %s along dim %d", op->tiling == SPMD_TILED ? "joined" : "stacked",
                   op->dim);
}

/* A gather under way: the result as parts, one of each member. */
struct gather {
    struct parts parts;
    void *packed; /* where the parts arrive one after the other: `out`, or scratch memory */
};

/* `extents` of the members' blocks along dim; untiled gathers have none. */
static spmd_status plan(const struct operation *op, int64_t size, const int64_t extents[],
                        struct arena *arena, struct parts *parts)
{
    bool tiled = op->tiling == SPMD_TILED;
    spmd_shape shape = spmd_block_shape(op->in);
    *parts = (struct parts){.shape = tiled ? shape : spmd__shape_with(shape, op->dim, size),
                            .element = spmd_dtype_size(op->in->dtype),
                            .dim = op->dim,
                            .thin = !tiled,
                            .count = size};
    return spmd__parts_take(arena, parts, extents);
}

static spmd_status plan_among(const struct operation *op, const struct group *group, int64_t size,
                              struct arena *arena, struct parts *parts)
{
    int64_t *extents = NULL;
    if (op->tiling == SPMD_TILED)
        TRY(spmd__collective_extents(op, group, size, op->dim, arena, &extents));
    return plan(op, size, extents, arena, parts);
}

static spmd_status shape(const struct operation *op, const struct group *group, int64_t size,
                         int64_t index, spmd_shape *shape)
{
    struct parts parts;
    (void)index;
    TRY(plan_among(op, group, size, op->ctx->arena, &parts));
    *shape = parts.shape;
    return SPMD_OK;
}

static spmd_status begin(const struct operation *op, const struct group *group, struct arena *arena,
                         struct gather *gather, struct pending *pending)
{
    int64_t *bytes;
    const void *in;
    TRY(plan_among(op, group, group->size, arena, &gather->parts));
    TRY(spmd__collective_check_out(op, op->in->dtype, gather->parts.shape));
    TRY(spmd__collective_keep_input(op, arena, &in));
    TRY(spmd__parts_all_bytes(&gather->parts, arena, &bytes));
    TRY(spmd__parts_room(&gather->parts, arena, op->out->data, &gather->packed));
    bool done = false;
    if (!pending)
        TRY(spmd__near_all_gather(group, in, bytes, gather->packed, arena, &done));
    if (done)
        return SPMD_OK;
    return spmd__all_gather(group->comm, in, bytes, gather->packed, arena, pending);
}

static void end(const struct operation *op, const struct gather *gather)
{
    spmd__parts_unpack(&gather->parts, gather->packed, op->out->data);
}

static spmd_status run(struct operation *op, struct group *group)
{
    struct gather gather;
    TRY(begin(op, group, op->ctx->arena, &gather, NULL));
    end(op, &gather);
    return SPMD_OK;
}

static spmd_status finish(spmd_request *request)
{
    end(&request->op, request->state);
    return SPMD_OK;
}

static spmd_status start(struct operation *op, struct group *group, spmd_request *request)
{
    TRY(spmd__arena_take(&request->arena, 1, sizeof(struct gather), &request->state));
    request->finish = finish;
    return begin(op, group, &request->arena, request->state, &request->pending);
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    struct parts parts;
    int64_t *extents = NULL;
    const void **in;
    TRY(spmd__collective_keep_inputs(ops, n, &in));
    if (ops[0]->tiling == SPMD_TILED)
        TRY(spmd__collective_local_extents(ops, n, ops[0]->dim, &extents));
    TRY(plan(ops[0], n, extents, ops[0]->ctx->arena, &parts));
    for (int64_t k = 0; k < n; k++)
        if (ops[k]->out)
            TRY(spmd__collective_check_out(ops[k], ops[k]->in->dtype, parts.shape));
    for (int64_t k = 0; k < n; k++)
        for (int64_t m = 0; m < n && ops[k]->out; m++) {
            struct view to = spmd__parts_view(&parts, ops[k]->out->data, m);
            struct view from = spmd__view_like(&to, (void *)in[m], parts.element);
            spmd__view_copy(&to, &from, parts.element);
        }
    return SPMD_OK;
}

static const struct operation_kind all_gather = {.name = "all_gather",
                                                 .joins = true,
                                                 .check = check,
                                                 .describe = describe,
                                                 .run = run,
                                                 .start = start,
                                                 .local = local,
                                                 .shape = shape};

spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out)
{
    struct operation op = spmd__operation_along(&all_gather, ctx, in, axes, dim, dim, tiling, out);
    return spmd__collective_run(&op);
}

spmd_status spmd_all_gather_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_block *out, spmd_request **request)
{
    struct operation op = spmd__operation_along(&all_gather, ctx, in, axes, dim, dim, tiling, out);
    return spmd__request_start(&op, request);
}

spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape)
{
    struct operation op = spmd__operation_along(&all_gather, ctx, in, axes, dim, dim, tiling, NULL);
    return spmd__collective_shape(&op, shape);
}
