/* core/order.c - the order of elements as that of whole numbers. */
#include "core/order.h"

#include <math.h>
#include <string.h>

#include "core/clones.h"
#include "core/half.h"

/* The sign of an element, and all bits that a key may have: of up to 4 bytes, and of 8. */
#define SIGN UINT64_C(0x8000000000000000)
#define HIGH UINT64_C(0xffffffff00000000)
#define FULL UINT64_MAX

/* The bits of a float grow with its magnitude. With the sign turned, and all bits where it was set,
 * they grow with its value. Adding 0 makes 0 of -0. */
INLINED uint64_t key_of_f32(float value)
{
    uint32_t bits;
    if (isnan(value))
        return HIGH;
    value += 0.0F;
    memcpy(&bits, &value, sizeof bits);
    uint64_t high = (uint64_t)bits << 32;
    return high & SIGN ? high ^ HIGH : high ^ SIGN;
}

INLINED uint64_t key_of_f64(double value)
{
    uint64_t bits;
    if (isnan(value))
        return FULL;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? bits ^ FULL : bits ^ SIGN;
}

/* A key the other way round, but for that of NaN. */
INLINED uint64_t turned(uint64_t key, uint64_t bits)
{
    return key == bits ? key : key ^ bits;
}

void spmd__order(spmd_dtype dtype, bool reversed, int64_t count, const void *elements,
                 uint64_t *keys)
{
#define WHOLE(NAME, key, bits)                         \
    case SPMD_##NAME:                                  \
        for (int64_t i = 0; i < count; i++)            \
            keys[i] = (key) ^ (reversed ? (bits) : 0); \
        break
#define REAL(NAME, key, bits)                                 \
    case SPMD_##NAME:                                         \
        for (int64_t i = 0; i < count; i++) {                 \
            uint64_t plain = (key);                           \
            keys[i] = reversed ? turned(plain, bits) : plain; \
        }                                                     \
        break
#define AT(type) (((const type *)elements)[i])
    switch (dtype) {
    case SPMD_BOOL:
        WHOLE(U8, (uint64_t)AT(uint8_t) << 32, HIGH);
        WHOLE(U16, (uint64_t)AT(uint16_t) << 32, HIGH);
        WHOLE(U32, (uint64_t)AT(uint32_t) << 32, HIGH);
        WHOLE(U64, AT(uint64_t), FULL);
        WHOLE(I8, (uint64_t)AT(int8_t) << 32 ^ SIGN, HIGH);
        WHOLE(I16, (uint64_t)AT(int16_t) << 32 ^ SIGN, HIGH);
        WHOLE(I32, (uint64_t)AT(int32_t) << 32 ^ SIGN, HIGH);
        WHOLE(I64, (uint64_t)AT(int64_t) ^ SIGN, FULL);
        REAL(F16, key_of_f32(spmd__f16_to_f32(AT(uint16_t))), HIGH);
        REAL(BF16, key_of_f32(spmd__bf16_to_f32(AT(uint16_t))), HIGH);
        REAL(F32, key_of_f32(AT(float)), HIGH);
        REAL(F64, key_of_f64(AT(double)), FULL);
    case SPMD_C64:
    case SPMD_C128:
    case SPMD_DTYPE_NONE:
        break;
    }
#undef WHOLE
#undef REAL
#undef AT
}
