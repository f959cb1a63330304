/* arithmetic.c - unit tests of what reductions do to rows: steps and what is left of them. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/arithmetic.h"
#include "unit.h"

enum { LENGTH = 77 }; /* no multiple of any step */

/* Small numbers of two rows, whose sums fit in each type. */
static int first_of(int64_t i)
{
    return (int)(i * 7 % 50);
}

static int second_of(int64_t i)
{
    return (int)(i * 11 % 50);
}

/* Sum, maximum and minimum of rows of one type; one element more stays as it is. */
#define EXPECT_ROWS(NAME, type)                                                          \
    do {                                                                                 \
        type in[LENGTH + 1], inout[LENGTH + 1];                                          \
        for (int reduction = 0; reduction < 3; reduction++) {                            \
            for (int64_t i = 0; i <= LENGTH; i++)                                        \
                in[i] = (type)first_of(i), inout[i] = (type)second_of(i);                \
            spmd__accumulate((spmd_reduction)reduction, SPMD_##NAME, LENGTH, in, inout); \
            for (int64_t i = 0; i < LENGTH; i++) {                                       \
                int a = first_of(i), b = second_of(i);                                   \
                int expected = reduction == SPMD_SUM   ? a + b                           \
                               : reduction == SPMD_MAX ? (a > b ? a : b)                 \
                                                       : (a < b ? a : b);                \
                ck_assert_msg(inout[i] == (type)expected, #NAME " element %d", (int)i);  \
                ck_assert(in[i] == (type)a);                                             \
            }                                                                            \
            ck_assert(inout[LENGTH] == (type)second_of(LENGTH));                         \
        }                                                                                \
    } while (0)

START_TEST(rows_of_every_type)
{
    EXPECT_ROWS(I8, int8_t);
    EXPECT_ROWS(I16, int16_t);
    EXPECT_ROWS(I32, int32_t);
    EXPECT_ROWS(I64, int64_t);
    EXPECT_ROWS(U8, uint8_t);
    EXPECT_ROWS(U16, uint16_t);
    EXPECT_ROWS(U32, uint32_t);
    EXPECT_ROWS(U64, uint64_t);
    EXPECT_ROWS(F32, float);
    EXPECT_ROWS(F64, double);
}
END_TEST

START_TEST(complex_numbers_and_flags)
{
    float single[] = {1, 2, 3, 4}, singles[] = {10, 20, 30, 40};
    double twice[] = {1, 2}, twices[] = {10, 20};
    bool flags[] = {false, true, false, true}, others[] = {false, false, true, true};
    spmd__accumulate(SPMD_SUM, SPMD_C64, 2, single, singles);
    ck_assert(singles[0] == 11 && singles[1] == 22 && singles[2] == 33 && singles[3] == 44);
    spmd__accumulate(SPMD_SUM, SPMD_C128, 1, twice, twices);
    ck_assert(twices[0] == 11 && twices[1] == 22);
    spmd__accumulate(SPMD_MIN, SPMD_BOOL, 4, flags, others);
    ck_assert(!others[0] && !others[1] && !others[2] && others[3]);
    spmd__accumulate(SPMD_MAX, SPMD_BOOL, 4, flags, others);
    ck_assert(!others[0] && others[1] && !others[2] && others[3]);
}
END_TEST

START_TEST(whole_numbers_wrap)
{
    const int8_t narrow[] = {100};
    int8_t narrows[] = {100};
    const int64_t wide[] = {INT64_MAX};
    int64_t wides[] = {1};
    spmd__accumulate(SPMD_SUM, SPMD_I8, 1, narrow, narrows);
    ck_assert_int_eq(narrows[0], -56);
    spmd__accumulate(SPMD_SUM, SPMD_I64, 1, wide, wides);
    ck_assert_int_eq(wides[0], INT64_MIN);
}
END_TEST

/* Of either row, in a step and behind it. */
START_TEST(not_a_number_wins)
{
    for (int reduction = SPMD_MAX; reduction <= SPMD_MIN; reduction++) {
        float in[LENGTH] = {0}, inout[LENGTH] = {0};
        double ins[LENGTH] = {0}, inouts[LENGTH] = {0};
        in[3] = inout[4] = in[LENGTH - 1] = inout[LENGTH - 2] = NAN;
        ins[3] = inouts[4] = ins[LENGTH - 1] = inouts[LENGTH - 2] = NAN;
        inout[3] = (float)(inouts[3] = reduction == SPMD_MAX ? INFINITY : -INFINITY);
        spmd__accumulate((spmd_reduction)reduction, SPMD_F32, LENGTH, in, inout);
        spmd__accumulate((spmd_reduction)reduction, SPMD_F64, LENGTH, ins, inouts);
        for (int i = 0; i < LENGTH; i++) {
            bool lost = i == 3 || i == 4 || i >= LENGTH - 2;
            ck_assert(lost ? isnan(inout[i]) : inout[i] == 0);
            ck_assert(lost ? isnan(inouts[i]) : inouts[i] == 0);
        }
    }
}
END_TEST

/* Into memory of their own, and in place. */
START_TEST(quotients)
{
    int32_t sums[LENGTH];
    float means[LENGTH];
    double in_place[LENGTH];
    int64_t wide[] = {INT64_MAX};
    double wide_mean;
    for (int i = 0; i < LENGTH; i++) {
        sums[i] = i - 5;
        in_place[i] = i - 5;
    }
    spmd__divide(SPMD_I32, LENGTH, sums, 3, means);
    spmd__divide(SPMD_F64, LENGTH, in_place, 3, in_place);
    for (int i = 0; i < LENGTH; i++) {
        ck_assert(means[i] == (float)(i - 5) / 3.0F);
        ck_assert(in_place[i] == (double)(i - 5) / 3.0);
    }
    spmd__divide(SPMD_I64, 1, wide, 2, &wide_mean);
    ck_assert(wide_mean == 0x1p62);
}
END_TEST

START_TEST(quotients_of_halves_and_parts)
{
    float sums[LENGTH], parts[] = {3, -6};
    uint16_t halves[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        sums[i] = 131008; /* twice the greatest number of f16 */
    spmd__divide(SPMD_F16, LENGTH, sums, 2, halves);
    for (int i = 0; i < LENGTH; i++)
        ck_assert_uint_eq(halves[i], 0x7bff);
    sums[0] = 2;
    spmd__divide(SPMD_BF16, 1, sums, 2, halves);
    ck_assert_uint_eq(halves[0], 0x3f80);
    spmd__divide(SPMD_C64, 1, parts, 3, parts);
    ck_assert(parts[0] == 1 && parts[1] == -2);
}
END_TEST

UNIT_MAIN("arithmetic", rows_of_every_type, complex_numbers_and_flags, whole_numbers_wrap,
          not_a_number_wins, quotients, quotients_of_halves_and_parts)
