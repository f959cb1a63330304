/* map/reduce.c - psum, pmean, pmax, pmin of blocks. */
#include <stdlib.h>

#include "core/half.h"
#include "core/mem.h"
#include "core/shape.h"
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

spmd_status spmd_psum(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__collective_begin(ctx, "psum", in, axes, spmd_psum_dtype, out, &group));
    return reduce(group, SPMD_SUM, in, out->data);
}

static spmd_status extreme(spmd_ctx *ctx, const char *call, spmd_reduction op, const spmd_block *in,
                           const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__collective_begin(ctx, call, in, axes, NULL, out, &group));
    return reduce(group, op, in, out->data);
}

spmd_status spmd_pmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return extreme(ctx, "pmax", SPMD_MAX, in, axes, out);
}

spmd_status spmd_pmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return extreme(ctx, "pmin", SPMD_MIN, in, axes, out);
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

spmd_status spmd_pmean(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__collective_begin(ctx, "pmean", in, axes, spmd_pmean_dtype, out, &group));
    bool half = in->dtype == SPMD_F16 || in->dtype == SPMD_BF16;
    int64_t count = spmd_block_size(in);
    void *sum;
    TRY(spmd__alloc_block((size_t)count *
                              (half ? sizeof(float) : spmd_dtype_size(spmd_psum_dtype(in->dtype))),
                          &sum));
    spmd_block wide = half ? widen(in, sum) : *in;
    spmd_status status = reduce(group, SPMD_SUM, &wide, sum);
    if (status == SPMD_OK)
        divide(in->dtype, sum, count, group->size, out->data);
    free(sum);
    return status;
}
