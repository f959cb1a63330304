/* core/arithmetic.c - what reductions do to rows of elements. */
#include "core/arithmetic.h"

#include <math.h>
#include <string.h>

#include "core/clones.h"
#include "core/half.h"

spmd_dtype spmd__carrier(spmd_reduction reduction, spmd_dtype dtype)
{
    if (spmd__is_half(dtype))
        return SPMD_F32;
    return reduction == SPMD_SUM && dtype == SPMD_BOOL ? SPMD_I32 : dtype;
}

const void *spmd__carry(spmd_reduction reduction, spmd_dtype dtype, int64_t count,
                        const void *elements, void *room)
{
    if (spmd__carrier(reduction, dtype) == dtype)
        return elements;
    if (dtype != SPMD_BOOL)
        spmd__widen(dtype, count, elements, room);
    else
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)room)[i] = ((const bool *)elements)[i];
    return room;
}

/* Rows are done in steps of a constant length, which compilers turn into vectors. */
enum { STEP = 32 };

#define ROWS(name, type, result)                                                   \
    CLONES("avx2")                                                                 \
    static void name(int64_t count, const type *restrict in, type *restrict inout) \
    {                                                                              \
        for (; count >= STEP; count -= STEP, in += STEP, inout += STEP)            \
            for (int k = 0; k < STEP; k++)                                         \
                inout[k] = result(in[k], inout[k]);                                \
        for (int k = 0; k < count; k++)                                            \
            inout[k] = result(in[k], inout[k]);                                    \
    }
#define SUM(a, b)     ((a) + (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
/* Quiet, and without a branch; a NaN in b stays, since nothing is greater. */
#define GREATER_OR_NAN(a, b) (isgreater(a, b) | isunordered(a, a) ? (a) : (b))
#define SMALLER_OR_NAN(a, b) (isless(a, b) | isunordered(a, a) ? (a) : (b))

#define ROWS_OF(name, type, greater, smaller) \
    ROWS(max_##name, type, greater)           \
    ROWS(min_##name, type, smaller)
ROWS_OF(i8, int8_t, GREATER, SMALLER)
ROWS_OF(i16, int16_t, GREATER, SMALLER)
ROWS_OF(i32, int32_t, GREATER, SMALLER)
ROWS_OF(i64, int64_t, GREATER, SMALLER)
ROWS_OF(u8, uint8_t, GREATER, SMALLER)
ROWS_OF(u16, uint16_t, GREATER, SMALLER)
ROWS_OF(u32, uint32_t, GREATER, SMALLER)
ROWS_OF(u64, uint64_t, GREATER, SMALLER)
ROWS_OF(f32, float, GREATER_OR_NAN, SMALLER_OR_NAN)
ROWS_OF(f64, double, GREATER_OR_NAN, SMALLER_OR_NAN)
/* Unsigned: signed sums are the same bits, and may not overflow. */
#define WRAPPED8(a, b)  ((uint8_t)((a) + (b)))
#define WRAPPED16(a, b) ((uint16_t)((a) + (b)))
ROWS(sum_8, uint8_t, WRAPPED8)
ROWS(sum_16, uint16_t, WRAPPED16)
ROWS(sum_32, uint32_t, SUM)
ROWS(sum_64, uint64_t, SUM)
ROWS(sum_f32, float, SUM)
ROWS(sum_f64, double, SUM)

static void sum(spmd_dtype dtype, int64_t count, const void *in, void *inout)
{
    switch (dtype) {
    case SPMD_I8:
    case SPMD_U8:
        sum_8(count, in, inout);
        break;
    case SPMD_I16:
    case SPMD_U16:
        sum_16(count, in, inout);
        break;
    case SPMD_I32:
    case SPMD_U32:
        sum_32(count, in, inout);
        break;
    case SPMD_I64:
    case SPMD_U64:
        sum_64(count, in, inout);
        break;
    case SPMD_F32:
        sum_f32(count, in, inout);
        break;
    case SPMD_F64:
        sum_f64(count, in, inout);
        break;
    case SPMD_C64:
        sum_f32(2 * count, in, inout);
        break;
    case SPMD_C128:
        sum_f64(2 * count, in, inout);
        break;
    case SPMD_BOOL:
    case SPMD_F16:
    case SPMD_BF16:
    case SPMD_DTYPE_NONE:
        break;
    }
}

void spmd__accumulate(spmd_reduction reduction, spmd_dtype dtype, int64_t count, const void *in,
                      void *inout)
{
#define EXTREME(NAME, name)               \
    case SPMD_##NAME:                     \
        if (reduction == SPMD_MAX)        \
            max_##name(count, in, inout); \
        else                              \
            min_##name(count, in, inout); \
        break
    if (reduction == SPMD_SUM) {
        sum(dtype, count, in, inout);
        return;
    }
    switch (dtype) {
        EXTREME(I8, i8);
        EXTREME(I16, i16);
        EXTREME(I32, i32);
        EXTREME(I64, i64);
    case SPMD_BOOL:
        EXTREME(U8, u8);
        EXTREME(U16, u16);
        EXTREME(U32, u32);
        EXTREME(U64, u64);
        EXTREME(F32, f32);
        EXTREME(F64, f64);
    case SPMD_F16:
    case SPMD_BF16:
    case SPMD_C64:
    case SPMD_C128:
    case SPMD_DTYPE_NONE:
        break;
    }
#undef EXTREME
}

/* A step goes through memory of its own, so that `mean` may be `sums`. */
#define QUOTIENTS(name, from, to, real, result)                                     \
    static void divide_##name(int64_t count, const from *sums, real size, to *mean) \
    {                                                                               \
        to step[STEP];                                                              \
        for (; count >= STEP; count -= STEP, sums += STEP, mean += STEP) {          \
            for (int k = 0; k < STEP; k++)                                          \
                step[k] = result((real)sums[k] / size);                             \
            memcpy(mean, step, sizeof step);                                        \
        }                                                                           \
        for (int k = 0; k < count; k++)                                             \
            mean[k] = result((real)sums[k] / size);                                 \
    }
QUOTIENTS(i8, int8_t, float, float, )
QUOTIENTS(i16, int16_t, float, float, )
QUOTIENTS(i32, int32_t, float, float, )
QUOTIENTS(i64, int64_t, double, double, )
QUOTIENTS(u8, uint8_t, float, float, )
QUOTIENTS(u16, uint16_t, float, float, )
QUOTIENTS(u32, uint32_t, float, float, )
QUOTIENTS(u64, uint64_t, double, double, )
QUOTIENTS(f16, float, uint16_t, float, spmd__f32_to_f16)
QUOTIENTS(bf16, float, uint16_t, float, spmd__f32_to_bf16)
QUOTIENTS(f32, float, float, float, )
QUOTIENTS(f64, double, double, double, )

void spmd__divide(spmd_dtype dtype, int64_t count, const void *sums, int64_t size, void *mean)
{
#define DIVIDE(NAME, name, real)                      \
    case SPMD_##NAME:                                 \
        divide_##name(count, sums, (real)size, mean); \
        break
    switch (dtype) {
        DIVIDE(I8, i8, float);
        DIVIDE(I16, i16, float);
    case SPMD_BOOL: /* counted */
        DIVIDE(I32, i32, float);
        DIVIDE(I64, i64, double);
        DIVIDE(U8, u8, float);
        DIVIDE(U16, u16, float);
        DIVIDE(U32, u32, float);
        DIVIDE(U64, u64, double);
        DIVIDE(F16, f16, float);
        DIVIDE(BF16, bf16, float);
        DIVIDE(F32, f32, float);
        DIVIDE(F64, f64, double);
    case SPMD_C64: /* by parts */
        divide_f32(2 * count, sums, (float)size, mean);
        break;
    case SPMD_C128:
        divide_f64(2 * count, sums, (double)size, mean);
        break;
    case SPMD_DTYPE_NONE:
        break;
    }
#undef DIVIDE
}
