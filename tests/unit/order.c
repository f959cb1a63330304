/* order.c - unit tests of elements as whole numbers of the same order. */
#include <math.h>
#include <stdint.h>

#include "core/order.h"
#include "unit.h"

/* Keys of `count` elements that grow: strictly, but where `ties` says that one is as its
 * neighbour before. */
static void expect_growing(spmd_dtype dtype, int64_t count, const void *elements, const bool *ties)
{
    uint64_t keys[16], reversed[16];
    spmd__order(dtype, false, count, elements, keys);
    spmd__order(dtype, true, count, elements, reversed);
    for (int64_t i = 1; i < count; i++) {
        bool tie = ties && ties[i];
        ck_assert_msg(tie ? keys[i] == keys[i - 1] : keys[i] > keys[i - 1], "%s: key %d",
                      spmd_dtype_name(dtype), (int)i);
        ck_assert_msg(tie ? reversed[i] == reversed[i - 1] : reversed[i] < reversed[i - 1],
                      "%s: reversed key %d", spmd_dtype_name(dtype), (int)i);
    }
    if (spmd_dtype_size(dtype) <= 4)
        for (int64_t i = 0; i < count; i++)
            ck_assert_uint_eq((keys[i] | reversed[i]) & UINT32_MAX, 0);
}

START_TEST(whole_numbers)
{
    const bool flags[] = {false, true};
    const int8_t i8[] = {INT8_MIN, -1, 0, 1, INT8_MAX};
    const int16_t i16[] = {INT16_MIN, -1, 0, 1, INT16_MAX};
    const int32_t i32[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    const int64_t i64[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    const uint8_t u8[] = {0, 1, 127, 128, UINT8_MAX};
    const uint16_t u16[] = {0, 1, UINT16_MAX};
    const uint32_t u32[] = {0, 1, UINT32_MAX - 1, UINT32_MAX};
    const uint64_t u64[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
    expect_growing(SPMD_BOOL, 2, flags, NULL);
    expect_growing(SPMD_I8, 5, i8, NULL);
    expect_growing(SPMD_I16, 5, i16, NULL);
    expect_growing(SPMD_I32, 5, i32, NULL);
    expect_growing(SPMD_I64, 7, i64, NULL);
    expect_growing(SPMD_U8, 5, u8, NULL);
    expect_growing(SPMD_U16, 3, u16, NULL);
    expect_growing(SPMD_U32, 4, u32, NULL);
    expect_growing(SPMD_U64, 4, u64, NULL);
}
END_TEST

START_TEST(floats)
{
    const float f32[] = {-INFINITY, -2, -1, -1e-45F, -0.0F, 0, 1e-45F, 1, 2, INFINITY};
    const double f64[] = {-INFINITY, -2, -1, -5e-324, -0.0, 0, 5e-324, 1, 2, INFINITY};
    const uint16_t f16[] = {0xfc00, 0xc000, 0xbc00, 0x8001, 0x8000, 0, 1, 0x3c00, 0x4000, 0x7c00};
    const uint16_t bf16[] = {0xff80, 0xc000, 0xbf80, 0x8001, 0x8000, 0, 1, 0x3f80, 0x4000, 0x7f80};
    const bool ties[10] = {[5] = true}; /* 0 is -0 */
    expect_growing(SPMD_F32, 10, f32, ties);
    expect_growing(SPMD_F64, 10, f64, ties);
    expect_growing(SPMD_F16, 10, f16, ties);
    expect_growing(SPMD_BF16, 10, bf16, ties);
}
END_TEST

static void expect_nan_on_top(spmd_dtype dtype, const void *elements)
{
    uint64_t keys[4];
    for (int reversed = 0; reversed < 2; reversed++) {
        spmd__order(dtype, reversed, 4, elements, keys);
        ck_assert_uint_eq(keys[0], keys[1]);
        ck_assert_uint_gt(keys[0], keys[2]);
        ck_assert_uint_gt(keys[0], keys[3]);
    }
}

START_TEST(not_a_number_is_greatest_both_ways)
{
    expect_nan_on_top(SPMD_F32, (const float[]){NAN, -NAN, INFINITY, -INFINITY});
    expect_nan_on_top(SPMD_F64, (const double[]){NAN, -NAN, INFINITY, -INFINITY});
    expect_nan_on_top(SPMD_F16, (const uint16_t[]){0x7e00, 0xfc01, 0x7c00, 0xfc00});
    expect_nan_on_top(SPMD_BF16, (const uint16_t[]){0x7fc0, 0xff81, 0x7f80, 0xff80});
}
END_TEST

UNIT_MAIN("order", whole_numbers, floats, not_a_number_is_greatest_both_ways)
