/* core/half.h - f16 and bf16 as storage types: to and from f32, rounding to nearest even. */
#ifndef CORE_HALF_H
#define CORE_HALF_H

#include <stdbool.h>
#include <stdint.h>

#include <spmd/types.h>

/* What is added up in f32, and only kept in 16 bits. */
static inline bool spmd__is_half(spmd_dtype dtype)
{
    return dtype == SPMD_F16 || dtype == SPMD_BF16;
}

float spmd__f16_to_f32(uint16_t half);
uint16_t spmd__f32_to_f16(float value);
float spmd__bf16_to_f32(uint16_t half);
uint16_t spmd__f32_to_bf16(float value);

/* A row of `count` elements of SPMD_F16 or SPMD_BF16. */
void spmd__widen(spmd_dtype half, int64_t count, const uint16_t *from, float *to);
void spmd__narrow(spmd_dtype half, int64_t count, const float *from, uint16_t *to);

#endif
