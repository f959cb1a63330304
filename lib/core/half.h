/* core/half.h - f16 and bf16 as storage types: to and from f32, rounding to nearest even. */
#ifndef CORE_HALF_H
#define CORE_HALF_H

#include <stdint.h>

float spmd__f16_to_f32(uint16_t half);
uint16_t spmd__f32_to_f16(float value);
float spmd__bf16_to_f32(uint16_t half);
uint16_t spmd__f32_to_bf16(float value);

#endif
