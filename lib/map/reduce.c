/* map/reduce.c - psum, pmean, pmax, pmin of blocks. */
#include <string.h>

#include "comm/reduce.h"
#include "core/arithmetic.h"
#include "core/block.h"
#include "core/half.h"
#include "map/collective.h"
#include "map/request.h"

spmd_dtype spmd_psum_dtype(spmd_dtype dtype)
{
    return dtype == SPMD_BOOL ? SPMD_I32 : dtype;
}

spmd_dtype spmd_pmean_dtype(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_I64:
    case SPMD_U64:
        return SPMD_F64;
    case SPMD_BOOL:
    case SPMD_I8:
    case SPMD_I16:
    case SPMD_I32:
    case SPMD_U8:
    case SPMD_U16:
    case SPMD_U32:
        return SPMD_F32;
    default:
        return dtype;
    }
}

static spmd_status check_psum(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    TRY(spmd__collective_check_out(op, spmd_psum_dtype(op->in->dtype), spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static spmd_status check_extreme(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    if (op->in->dtype == SPMD_C64 || op->in->dtype == SPMD_C128)
        return spmd_fail(SPMD_ERR_DTYPE, "%s numbers have no order: no maximum, no minimum",
                         spmd_dtype_name(op->in->dtype));
    TRY(spmd__collective_check_out(op, op->in->dtype, spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static spmd_status check_pmean(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    TRY(spmd__collective_check_out(op, spmd_pmean_dtype(op->in->dtype), spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static bool is_half(spmd_dtype dtype)
{
    return dtype == SPMD_F16 || dtype == SPMD_BF16;
}

/* The type that a reduction is carried in. */
static spmd_dtype carried(spmd_reduction reduction, spmd_dtype dtype)
{
    if (is_half(dtype))
        return SPMD_F32;
    return reduction == SPMD_SUM ? spmd_psum_dtype(dtype) : dtype;
}

/* `count` elements from `first` on, in the type that their reduction is carried in: where they lie
 * if that is theirs, else in `room`. */
static const void *load(spmd_reduction reduction, const spmd_block *in, int64_t first,
                        int64_t count, void *room)
{
    const char *from = (const char *)in->data + (size_t)first * spmd_dtype_size(in->dtype);
    spmd_dtype carrier = carried(reduction, in->dtype);
    if (carrier == in->dtype)
        return from;
    if (is_half(in->dtype))
        spmd__widen(in->dtype, count, (const void *)from, room);
    else
        for (int64_t i = 0; i < count; i++) /* flags, counted */
            ((int32_t *)room)[i] = ((const bool *)(const void *)from)[i];
    return room;
}

static spmd_status run_reduction(struct operation *op, struct group *group,
                                 spmd_reduction reduction)
{
    const spmd_block *in = op->in;
    spmd_block *out = op->out;
    int64_t count = spmd_block_size(in);
    const void *from = in->data;
    if (out->dtype != in->dtype)
        from = load(reduction, in, 0, count, out->data);
    return spmd__all_reduce(group, reduction, out->dtype, from, out->data, count, op->ctx->arena);
}

static spmd_status run_psum(struct operation *op, struct group *group)
{
    return run_reduction(op, group, SPMD_SUM);
}

static spmd_status run_pmax(struct operation *op, struct group *group)
{
    return run_reduction(op, group, SPMD_MAX);
}

static spmd_status run_pmin(struct operation *op, struct group *group)
{
    return run_reduction(op, group, SPMD_MIN);
}

/* The quotients of sums that have just come are cheap: piece by piece, while they are near. */
static spmd_status run_pmean(struct operation *op, struct group *group)
{
    const spmd_block *in = op->in;
    int64_t count = spmd_block_size(in);
    spmd_dtype carrier = carried(SPMD_SUM, in->dtype);
    size_t size = spmd_dtype_size(op->out->dtype);
    void *sums;
    TRY(spmd__arena_take(op->ctx->arena,
                         (size_t)spmd__reduce_piece(count) * spmd_dtype_size(carrier), &sums));
    for (int64_t first = 0; first < count; first += REDUCE_PIECE) {
        int64_t piece = spmd__reduce_piece(count - first);
        const void *from = load(SPMD_SUM, in, first, piece, sums);
        TRY(spmd__all_reduce(group, SPMD_SUM, carrier, from, sums, piece, op->ctx->arena));
        spmd__divide(in->dtype, piece, sums, group->size,
                     (char *)op->out->data + (size_t)first * size);
    }
    return SPMD_OK;
}

/* The f32 copy of f16 and bf16 that is being reduced has become the result. */
static spmd_status finish_half(spmd_request *request)
{
    const spmd_block *out = request->op.out;
    spmd__narrow(out->dtype, spmd_block_size(out), request->state, out->data);
    return SPMD_OK;
}

static spmd_status start_reduction(struct operation *op, struct group *group, spmd_request *request,
                                   spmd_reduction reduction)
{
    spmd_dtype carrier = carried(reduction, op->in->dtype);
    int64_t count = spmd_block_size(op->in);
    void *to = op->out->data;
    if (is_half(op->in->dtype)) {
        TRY(spmd__arena_take(&request->arena, (size_t)count * sizeof(float), &to));
        request->state = to;
        request->finish = finish_half;
    }
    TRY(spmd__request_reserve(request, spmd__all_reduce_calls(carrier, count)));
    const void *from = load(reduction, op->in, 0, count, to);
    return spmd__all_reduce_start(group, reduction, carrier, from, to, count, request->pending);
}

static spmd_status start_psum(struct operation *op, struct group *group, spmd_request *request)
{
    return start_reduction(op, group, request, SPMD_SUM);
}

static spmd_status start_pmax(struct operation *op, struct group *group, spmd_request *request)
{
    return start_reduction(op, group, request, SPMD_MAX);
}

static spmd_status start_pmin(struct operation *op, struct group *group, spmd_request *request)
{
    return start_reduction(op, group, request, SPMD_MIN);
}

/* A reduction among members that are all here. */
struct gathering {
    struct operation *const *ops; /* [n] */
    int64_t n;
    spmd_reduction reduction;
    bool mean;
    spmd_dtype carrier;
    void *total, *term, *result; /* a piece of carriers, and of out's elements */
};

/* total = the reduction of `count` elements from `first` on. */
static void gather_piece(const struct gathering *g, int64_t first, int64_t count)
{
    const void *from = load(g->reduction, g->ops[0]->in, first, count, g->total);
    if (from != g->total)
        memcpy(g->total, from, (size_t)count * spmd_dtype_size(g->carrier));
    for (int64_t m = 1; m < g->n; m++)
        spmd__accumulate(g->reduction, g->carrier, count,
                         load(g->reduction, g->ops[m]->in, first, count, g->term), g->total);
}

/* The total as elements of the result. */
static const void *round_piece(const struct gathering *g, int64_t count)
{
    spmd_dtype dtype = g->ops[0]->in->dtype;
    if (g->mean)
        spmd__divide(dtype, count, g->total, g->n, g->result);
    else if (is_half(dtype))
        spmd__narrow(dtype, count, g->total, g->result);
    else
        return g->total;
    return g->result;
}

static spmd_status reduce_locally(struct operation *const ops[], int64_t n,
                                  spmd_reduction reduction, bool mean)
{
    const spmd_block *in = ops[0]->in;
    struct arena *arena = ops[0]->ctx->arena;
    spmd_dtype carrier = carried(reduction, in->dtype);
    struct gathering g = {
        .ops = ops, .n = n, .reduction = reduction, .mean = mean, .carrier = carrier};
    int64_t count = spmd_block_size(in), most = spmd__reduce_piece(count);
    size_t size = spmd_dtype_size(carrier), result = sizeof(double _Complex);
    TRY(spmd__arena_take(arena, (size_t)most * size, &g.total));
    TRY(spmd__arena_take(arena, (size_t)most * size, &g.term));
    TRY(spmd__arena_take(arena, (size_t)most * result, &g.result));
    for (int64_t first = 0; first < count; first += REDUCE_PIECE) {
        int64_t piece = spmd__reduce_piece(count - first);
        gather_piece(&g, first, piece);
        spmd__collective_give(ops, n, first, piece, round_piece(&g, piece));
    }
    return SPMD_OK;
}

static spmd_status local_psum(struct operation *const ops[], int64_t n)
{
    return reduce_locally(ops, n, SPMD_SUM, false);
}

static spmd_status local_pmean(struct operation *const ops[], int64_t n)
{
    return reduce_locally(ops, n, SPMD_SUM, true);
}

static spmd_status local_pmax(struct operation *const ops[], int64_t n)
{
    return reduce_locally(ops, n, SPMD_MAX, false);
}

static spmd_status local_pmin(struct operation *const ops[], int64_t n)
{
    return reduce_locally(ops, n, SPMD_MIN, false);
}

static const struct operation_kind psum = {.name = "psum",
                                           .reduces = true,
                                           .check = check_psum,
                                           .run = run_psum,
                                           .start = start_psum,
                                           .local = local_psum};
static const struct operation_kind pmean = {
    .name = "pmean", .reduces = true, .check = check_pmean, .run = run_pmean, .local = local_pmean};
static const struct operation_kind pmax = {.name = "pmax",
                                           .reduces = true,
                                           .check = check_extreme,
                                           .run = run_pmax,
                                           .start = start_pmax,
                                           .local = local_pmax};
static const struct operation_kind pmin = {.name = "pmin",
                                           .reduces = true,
                                           .check = check_extreme,
                                           .run = run_pmin,
                                           .start = start_pmin,
                                           .local = local_pmin};

static spmd_status reduce_block(const struct operation_kind *kind, spmd_ctx *ctx,
                                const spmd_block *in, const char *axes, spmd_block *out)
{
    struct operation op = {.kind = kind, .ctx = ctx, .in = in, .axes = axes, .out = out};
    return spmd__collective_run(&op);
}

spmd_status spmd_psum(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return reduce_block(&psum, ctx, in, axes, out);
}

spmd_status spmd_pmean(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return reduce_block(&pmean, ctx, in, axes, out);
}

spmd_status spmd_pmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return reduce_block(&pmax, ctx, in, axes, out);
}

spmd_status spmd_pmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return reduce_block(&pmin, ctx, in, axes, out);
}

static spmd_status start_block(const struct operation_kind *kind, spmd_ctx *ctx,
                               const spmd_block *in, const char *axes, spmd_block *out,
                               spmd_request **request)
{
    struct operation op = {.kind = kind, .ctx = ctx, .in = in, .axes = axes, .out = out};
    return spmd__request_start(&op, request);
}

spmd_status spmd_psum_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request)
{
    return start_block(&psum, ctx, in, axes, out, request);
}

spmd_status spmd_pmax_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request)
{
    return start_block(&pmax, ctx, in, axes, out, request);
}

spmd_status spmd_pmin_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out,
                            spmd_request **request)
{
    return start_block(&pmin, ctx, in, axes, out, request);
}
