/* core/half.c - f16 and bf16 to and from f32. */
#include "core/half.h"

#include <string.h>

enum {
    F16_MANTISSA = 10,
    F16_INFINITY = 0x7c00,
    F16_QUIET = 0x0200,
    BF16_QUIET = 0x0040,
    F32_MANTISSA = 23,
    DROPPED = F32_MANTISSA - F16_MANTISSA, /* mantissa bits that f16 lacks */
    REBIAS = (127 - 15) << F32_MANTISSA,   /* between the two exponents, in place */
};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `bits` without its `count` lowest ones, rounded to nearest even. A carry out of the mantissa
 * steps the exponent up, which is right: past the largest number lies infinity. */
static uint32_t round_off(uint32_t bits, int count)
{
    uint32_t odd = bits >> count & 1;
    return (bits + (UINT32_C(1) << (count - 1)) - 1 + odd) >> count;
}

float spmd__f16_to_f32(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t magnitude = half & 0x7fff;
    if (magnitude >= F16_INFINITY) /* or NaN */
        return float_of(sign | 0x7f800000 | (magnitude - F16_INFINITY) << DROPPED);
    if (magnitude < 1 << F16_MANTISSA) /* subnormal: a multiple of the smallest number */
        return float_of(sign | bits_of((float)magnitude * 0x1p-24f));
    return float_of(sign | ((magnitude << DROPPED) + REBIAS));
}

uint16_t spmd__f32_to_f16(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN: keep what fits of its payload, quiet */
        return (uint16_t)(sign | F16_INFINITY | F16_QUIET | (magnitude >> DROPPED & 0x3ff));
    if (magnitude >= bits_of(65520.0f)) /* half a step past the largest number */
        return (uint16_t)(sign | F16_INFINITY);
    if (magnitude < bits_of(0x1p-14f)) /* subnormal: adding 1/2 rounds to multiples of 2^-24 */
        return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | round_off(magnitude - REBIAS, DROPPED));
}

float spmd__bf16_to_f32(uint16_t half)
{
    return float_of((uint32_t)half << 16);
}

uint16_t spmd__f32_to_bf16(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffff) > 0x7f800000) /* NaN: rounding could make it an infinity */
        return (uint16_t)(bits >> 16 | BF16_QUIET);
    return (uint16_t)round_off(bits, 16);
}

void spmd__widen(spmd_dtype half, int64_t count, const uint16_t *from, float *to)
{
    if (half == SPMD_F16)
        for (int64_t i = 0; i < count; i++)
            to[i] = spmd__f16_to_f32(from[i]);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = spmd__bf16_to_f32(from[i]);
}

void spmd__narrow(spmd_dtype half, int64_t count, const float *from, uint16_t *to)
{
    if (half == SPMD_F16)
        for (int64_t i = 0; i < count; i++)
            to[i] = spmd__f32_to_f16(from[i]);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = spmd__f32_to_bf16(from[i]);
}
