/* map/reduce.c - psum, pmean, pmax, pmin of blocks. */
#include "map/reduce.h"

#include "comm/near.h"
#include "comm/reduce.h"
#include "core/arithmetic.h"
#include "core/half.h"
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

static spmd_dtype result_dtype(const struct operation_kind *kind, spmd_dtype dtype)
{
    if (kind->reduction != SPMD_SUM)
        return dtype;
    return kind->mean ? spmd_pmean_dtype(dtype) : spmd_psum_dtype(dtype);
}

spmd_status spmd__reduce_check_order(const struct operation *op)
{
    if (op->in->dtype == SPMD_C64 || op->in->dtype == SPMD_C128)
        return spmd_fail(SPMD_ERR_DTYPE, "%s: %s numbers have no order", op->kind->name,
                         spmd_dtype_name(op->in->dtype));
    return SPMD_OK;
}

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    if (op->kind->reduction != SPMD_SUM)
        TRY(spmd__reduce_check_order(op));
    TRY(spmd__collective_check_out(op, result_dtype(op->kind, op->in->dtype),
                                   spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static spmd_status run(struct operation *op, struct group *group)
{
    const spmd_block *in = op->in;
    spmd_block *out = op->out;
    spmd_reduction reduction = op->kind->reduction;
    int64_t count = spmd_block_size(in);
    const void *from = in->data;
    if (out->dtype != in->dtype)
        from = spmd__carry(reduction, in->dtype, count, in->data, out->data);
    return spmd__all_reduce(group, reduction, out->dtype, from, out->data, count, op->ctx->arena);
}

/* The quotients of sums that have just come are cheap: piece by piece, while they are near. */
static spmd_status run_pmean(struct operation *op, struct group *group)
{
    spmd_dtype dtype = op->in->dtype, carrier = spmd__carrier(SPMD_SUM, dtype);
    int64_t count = spmd_block_size(op->in);
    bool done = false;
    struct near_reduction mean = {.dtype = dtype, .divisor = group->size};
    if (op->out->dtype == dtype)
        TRY(spmd__near_all_reduce(group, mean, op->in->data, op->out->data, count, op->ctx->arena,
                                  &done));
    if (done)
        return SPMD_OK;
    size_t in_size = spmd_dtype_size(dtype), out_size = spmd_dtype_size(op->out->dtype);
    void *scratch;
    TRY(spmd__arena_take(op->ctx->arena, (size_t)spmd__reduce_piece(count),
                         spmd_dtype_size(carrier), &scratch));
    for (int64_t first = 0; first < count; first += REDUCE_PIECE) {
        int64_t piece = spmd__reduce_piece(count - first);
        const char *in = (const char *)op->in->data + (size_t)first * in_size;
        char *out = (char *)op->out->data + (size_t)first * out_size;
        void *sums = carrier == op->out->dtype ? out : scratch;
        const void *from = spmd__carry(SPMD_SUM, dtype, piece, in, sums);
        TRY(spmd__all_reduce(group, SPMD_SUM, carrier, from, sums, piece, op->ctx->arena));
        spmd__divide(dtype, piece, sums, group->size, out);
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

static spmd_status start(struct operation *op, struct group *group, spmd_request *request)
{
    spmd_reduction reduction = op->kind->reduction;
    spmd_dtype dtype = op->in->dtype, carrier = spmd__carrier(reduction, dtype);
    int64_t count = spmd_block_size(op->in);
    void *to = op->out->data;
    if (carrier != op->out->dtype) {
        TRY(spmd__arena_take(&request->arena, (size_t)count, sizeof(float), &to));
        request->state = to;
        request->finish = finish_half;
    }
    const void *from = spmd__carry(reduction, dtype, count, op->in->data, to);
    return spmd__all_reduce_start(group, reduction, carrier, from, to, count, &request->arena,
                                  &request->pending);
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    return spmd__reduce_members(ops, n, NULL);
}

static const struct operation_kind psum = {.name = "psum",
                                           .reduction = SPMD_SUM,
                                           .check = check,
                                           .run = run,
                                           .start = start,
                                           .local = local,
                                           .joint = spmd__reduce_members};
static const struct operation_kind pmean = {.name = "pmean",
                                            .reduction = SPMD_SUM,
                                            .mean = true,
                                            .check = check,
                                            .run = run_pmean,
                                            .local = local,
                                            .joint = spmd__reduce_members};
static const struct operation_kind pmax = {.name = "pmax",
                                           .reduction = SPMD_MAX,
                                           .check = check,
                                           .run = run,
                                           .start = start,
                                           .local = local,
                                           .joint = spmd__reduce_members};
static const struct operation_kind pmin = {.name = "pmin",
                                           .reduction = SPMD_MIN,
                                           .check = check,
                                           .run = run,
                                           .start = start,
                                           .local = local,
                                           .joint = spmd__reduce_members};

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
