/* core/random_float.c - uniform and normal numbers, and coins. See spmd/random.h. */
#include <math.h>

#include "core/clones.h"
#include "core/draw.h"
#include "core/erfinv.h"
#include "core/error.h"
#include "core/half.h"
#include "core/threefry.h"

#define SQRT2 1.41421356237309504880

struct half {
    int mantissa; /* bits, taken above the `spare` lowest of the random ones */
    int spare;    /* of 16 bits for f16, of 8 for bf16 */
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
};

static const struct half f16 = {10, 6, spmd__f16_to_f32, spmd__f32_to_f16};
static const struct half bf16 = {7, 1, spmd__bf16_to_f32, spmd__f32_to_bf16};

/* Bounds and their distance are exact in the type that is drawn. */
struct floats {
    spmd_key key;
    double minval;
    double span;
    const struct half *half; /* of f16 and bf16 */
};

/* Numbers in [0, 1): as many bits as the type's mantissa has. */
INLINED float unit32(uint32_t bits)
{
    return (float)(bits >> 9) * 0x1p-23f;
}

INLINED double unit64(uint64_t bits)
{
    return (double)(int64_t)(bits >> 12) * 0x1p-52;
}

static inline float round_half(const struct half *half, float value)
{
    return half->widen(half->narrow(value));
}

static double round_to(spmd_dtype dtype, double value)
{
    switch (dtype) {
    case SPMD_F16:
        return round_half(&f16, (float)value);
    case SPMD_BF16:
        return round_half(&bf16, (float)value);
    case SPMD_F32:
        return (float)value;
    default:
        return value;
    }
}

static struct floats floats_of(spmd_key key, spmd_dtype dtype, double minval, double maxval)
{
    struct floats floats = {.key = key, .minval = round_to(dtype, minval)};
    floats.span = round_to(dtype, round_to(dtype, maxval) - floats.minval);
    floats.half = dtype == SPMD_F16 ? &f16 : dtype == SPMD_BF16 ? &bf16 : NULL;
    return floats;
}

/* In half precision each operation rounds; f32 and f64 fuse them, as XLA does on CPUs. Rounding
 * may not lead below minval, and NaN is kept. */
static void uniform_half(const void *how, uint64_t first, size_t count, void *out)
{
    const struct floats *floats = how;
    const struct half *half = floats->half;
    const float minval = (float)floats->minval, span = (float)floats->span;
    const float step = ldexpf(1, -half->mantissa);
    const uint32_t mask = (UINT32_C(1) << half->mantissa) - 1;
    uint32_t bits[DRAW_RUN];
    spmd__threefry_bits32(floats->key, first, count, bits);
    uint16_t *to = out;
    for (size_t i = 0; i < count; i++) {
        float unit = (float)(bits[i] >> half->spare & mask) * step;
        float value = round_half(half, round_half(half, unit * span) + minval);
        to[i] = half->narrow(minval > value ? minval : value);
    }
}

CLONES("fma") static void uniform_f32(const void *how, uint64_t first, size_t count, void *out)
{
    const struct floats *floats = how;
    const float minval = (float)floats->minval, span = (float)floats->span;
    uint32_t bits[DRAW_RUN];
    spmd__threefry_bits32(floats->key, first, count, bits);
    float *to = out;
    for (size_t i = 0; i < count; i++) {
        float value = fmaf(unit32(bits[i]), span, minval);
        to[i] = minval > value ? minval : value;
    }
}

CLONES("fma") static void uniform_f64(const void *how, uint64_t first, size_t count, void *out)
{
    const struct floats *floats = how;
    uint64_t bits[DRAW_RUN];
    spmd__threefry_bits64(floats->key, first, count, bits);
    double *to = out;
    for (size_t i = 0; i < count; i++) {
        double value = fma(unit64(bits[i]), floats->span, floats->minval);
        to[i] = floats->minval > value ? floats->minval : value;
    }
}

static draw_run *uniform_run(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_F16:
    case SPMD_BF16:
        return uniform_half;
    case SPMD_F32:
        return uniform_f32;
    case SPMD_F64:
        return uniform_f64;
    default:
        return NULL;
    }
}

spmd_status spmd_random_uniform(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                                const spmd_box *box, double minval, double maxval, void *out)
{
    draw_run *run = uniform_run(dtype);
    if (!run)
        return spmd_fail(SPMD_ERR_DTYPE, "uniform numbers are f16, bf16, f32 or f64, not %s",
                         spmd_dtype_name(dtype));
    const struct floats floats = floats_of(key, dtype, minval, maxval);
    return spmd__draw(run, &floats, spmd_dtype_size(dtype), shape, box, out);
}

/* sqrt(2) erfinv(u), of u in (-1, 1). */
static void normal_half(const void *how, uint64_t first, size_t count, void *out)
{
    const struct half *half = ((const struct floats *)how)->half;
    const float sqrt2 = round_half(half, (float)SQRT2);
    float value[DRAW_RUN];
    uint16_t *to = out;
    uniform_half(how, first, count, to);
    for (size_t i = 0; i < count; i++)
        value[i] = half->widen(to[i]);
    spmd__erfinv32(count, value);
    for (size_t i = 0; i < count; i++)
        to[i] = half->narrow(sqrt2 * round_half(half, value[i]));
}

static void normal_f32(const void *how, uint64_t first, size_t count, void *out)
{
    float *to = out;
    uniform_f32(how, first, count, to);
    spmd__erfinv32(count, to);
    for (size_t i = 0; i < count; i++)
        to[i] *= (float)SQRT2;
}

static void normal_f64(const void *how, uint64_t first, size_t count, void *out)
{
    double *to = out;
    uniform_f64(how, first, count, to);
    spmd__erfinv64(count, to);
    for (size_t i = 0; i < count; i++)
        to[i] *= SQRT2;
}

/* Both parts have variance 1/2. */
static void normal_c64(const void *how, uint64_t first, size_t count, void *out)
{
    const struct floats *part = how;
    float value[DRAW_RUN], *to = out;
    for (int k = 0; k < 2; k++) {
        normal_f32(&part[k], first, count, value);
        for (size_t i = 0; i < count; i++)
            to[2 * i + (size_t)k] = value[i] * (1 / (float)SQRT2);
    }
}

static void normal_c128(const void *how, uint64_t first, size_t count, void *out)
{
    const struct floats *part = how;
    double value[DRAW_RUN], *to = out;
    for (int k = 0; k < 2; k++) {
        normal_f64(&part[k], first, count, value);
        for (size_t i = 0; i < count; i++)
            to[2 * i + (size_t)k] = value[i] * (1 / SQRT2);
    }
}

/* What a type needs for normal numbers: the type that they, or their parts, are made in, and
 * its number just above -1. */
static const struct normal {
    spmd_dtype dtype;
    spmd_dtype real;
    double least;
    draw_run *run;
} normals[] = {
    {SPMD_F16, SPMD_F16, -1 + 0x1p-11, normal_half},
    {SPMD_BF16, SPMD_BF16, -1 + 0x1p-8, normal_half},
    {SPMD_F32, SPMD_F32, -1 + 0x1p-24, normal_f32},
    {SPMD_F64, SPMD_F64, -1 + 0x1p-53, normal_f64},
    {SPMD_C64, SPMD_F32, -1 + 0x1p-24, normal_c64},
    {SPMD_C128, SPMD_F64, -1 + 0x1p-53, normal_c128},
};

static const struct normal *normal_of(spmd_dtype dtype)
{
    for (size_t i = 0; i < sizeof normals / sizeof *normals; i++)
        if (normals[i].dtype == dtype)
            return &normals[i];
    return NULL;
}

spmd_status spmd_random_normal(spmd_key key, spmd_dtype dtype, spmd_shape shape,
                               const spmd_box *box, void *out)
{
    const struct normal *normal = normal_of(dtype);
    if (!normal)
        return spmd_fail(SPMD_ERR_DTYPE,
                         "normal numbers are f16, bf16, f32, f64, c64 or c128, not %s",
                         spmd_dtype_name(dtype));
    spmd_key keys[2] = {key, key};
    if (normal->real != dtype)
        spmd_key_split(key, 2, keys);
    struct floats parts[2];
    for (int k = 0; k < 2; k++)
        parts[k] = floats_of(keys[k], normal->real, normal->least, 1);
    return spmd__draw(normal->run, parts, spmd_dtype_size(dtype), shape, box, out);
}

struct coins {
    spmd_key key;
    double p;
};

static void run_coins(const void *how, uint64_t first, size_t count, void *out)
{
    const struct coins *coins = how;
    uint64_t bits[DRAW_RUN];
    spmd__threefry_bits64(coins->key, first, count, bits);
    bool *to = out;
    for (size_t i = 0; i < count; i++)
        to[i] = unit64(bits[i]) < coins->p;
}

spmd_status spmd_random_bernoulli(spmd_key key, double p, spmd_shape shape, const spmd_box *box,
                                  bool *out)
{
    if (!(p >= 0 && p <= 1))
        return spmd_fail(SPMD_ERR_ARGUMENT, "a probability lies in 0 ... 1, not at %g", p);
    const struct coins coins = {key, p};
    return spmd__draw(run_coins, &coins, sizeof *out, shape, box, out);
}
