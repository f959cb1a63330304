/* map/reduce.c - psum, pmean, pmax, pmin of blocks. */
#include "core/half.h"
#include "map/collective.h"

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

/* out = the reduction of in over the group, in the type of psum. */
static spmd_status reduce(const struct group *group, spmd_reduction op, const spmd_block *in,
                          void *out)
{
    int64_t count = spmd_block_size(in);
    if (op == SPMD_SUM && in->dtype == SPMD_BOOL) {
        const bool *flags = in->data;
        int32_t *counts = out;
        for (int64_t i = 0; i < count; i++)
            counts[i] = flags[i];
        return spmd__all_reduce(group->comm, op, SPMD_I32, out, out, count);
    }
    return spmd__all_reduce(group->comm, op, in->dtype, in->data, out, count);
}

static spmd_status run_psum(struct operation *op, struct group *group)
{
    return reduce(group, SPMD_SUM, op->in, op->out->data);
}

static spmd_status run_pmax(struct operation *op, struct group *group)
{
    return reduce(group, SPMD_MAX, op->in, op->out->data);
}

static spmd_status run_pmin(struct operation *op, struct group *group)
{
    return reduce(group, SPMD_MIN, op->in, op->out->data);
}

/* mean[i] = sum[i] / size, from psum's type to pmean's; `sum` may be `mean`. f16 and bf16 come as
 * their sums in f32. */
static void divide(spmd_dtype dtype, const void *sum, int64_t count, int64_t size, void *mean)
{
#define DIVIDE(from, to)                \
    for (int64_t i = 0; i < count; i++) \
    ((to *)mean)[i] = (to)((const from *)sum)[i] / (to)size
#define DIVIDE_HALF(round)              \
    for (int64_t i = 0; i < count; i++) \
    ((uint16_t *)mean)[i] = round(((const float *)sum)[i] / (float)size)
    switch (dtype) {
    case SPMD_I8:
        DIVIDE(int8_t, float);
        break;
    case SPMD_I16:
        DIVIDE(int16_t, float);
        break;
    case SPMD_BOOL:
    case SPMD_I32:
        DIVIDE(int32_t, float);
        break;
    case SPMD_I64:
        DIVIDE(int64_t, double);
        break;
    case SPMD_U8:
        DIVIDE(uint8_t, float);
        break;
    case SPMD_U16:
        DIVIDE(uint16_t, float);
        break;
    case SPMD_U32:
        DIVIDE(uint32_t, float);
        break;
    case SPMD_U64:
        DIVIDE(uint64_t, double);
        break;
    case SPMD_F16:
        DIVIDE_HALF(spmd__f32_to_f16);
        break;
    case SPMD_BF16:
        DIVIDE_HALF(spmd__f32_to_bf16);
        break;
    case SPMD_F32:
        DIVIDE(float, float);
        break;
    case SPMD_F64:
        DIVIDE(double, double);
        break;
    case SPMD_C64:
        DIVIDE(float _Complex, float _Complex);
        break;
    case SPMD_C128:
        DIVIDE(double _Complex, double _Complex);
        break;
    case SPMD_DTYPE_NONE:
        break;
    }
#undef DIVIDE
#undef DIVIDE_HALF
}

/* The block in f32, for sums that are rounded once, after the division. */
static spmd_block widen(const spmd_block *half, float *wide)
{
    const uint16_t *bits = half->data;
    for (int64_t i = 0; i < spmd_block_size(half); i++)
        wide[i] = half->dtype == SPMD_F16 ? spmd__f16_to_f32(bits[i]) : spmd__bf16_to_f32(bits[i]);
    return spmd_block_borrow(wide, SPMD_F32, spmd_block_shape(half));
}

static spmd_status check_pmean(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    TRY(spmd__collective_check_out(op, spmd_pmean_dtype(op->in->dtype), spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static spmd_status run_pmean(struct operation *op, struct group *group)
{
    const spmd_block *in = op->in;
    bool half = in->dtype == SPMD_F16 || in->dtype == SPMD_BF16;
    int64_t count = spmd_block_size(in);
    size_t element = half ? sizeof(float) : spmd_dtype_size(spmd_psum_dtype(in->dtype));
    void *sum;
    TRY(spmd__arena_take(op->ctx->arena, (size_t)count * element, &sum));
    spmd_block wide = half ? widen(in, sum) : *in;
    TRY(reduce(group, SPMD_SUM, &wide, sum));
    divide(in->dtype, sum, count, group->size, op->out->data);
    return SPMD_OK;
}

#define ROW(NAME, check_, run_)                 \
    static const struct operation_kind NAME = { \
        .name = #NAME, .reduces = true, .check = check_, .run = run_}
ROW(psum, check_psum, run_psum);
ROW(pmean, check_pmean, run_pmean);
ROW(pmax, check_extreme, run_pmax);
ROW(pmin, check_extreme, run_pmin);

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
