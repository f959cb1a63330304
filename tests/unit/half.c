/* half.c - unit tests of f16 and bf16, against arithmetic on doubles. */
#include <math.h>
#include <stdbool.h>

#include "core/half.h"
#include "unit.h"

struct format {
    int mantissa; /* bits */
    int least;    /* exponent of the least normal number */
    int most;     /* and of the largest */
    float (*widen)(uint16_t);
    uint16_t (*narrow)(float);
};

static const struct format f16 = {10, -14, 15, spmd__f16_to_f32, spmd__f32_to_f16};
static const struct format bf16 = {7, -126, 127, spmd__bf16_to_f32, spmd__f32_to_bf16};

/* What the bits of a half mean. */
static double meaning(const struct format *format, unsigned half)
{
    const double sign = half & 0x8000 ? -1 : 1;
    const unsigned fraction = half & ((1u << format->mantissa) - 1);
    const int exponent = (int)((half & 0x7fff) >> format->mantissa);
    if (exponent == format->most - format->least + 2)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, format->least - format->mantissa);
    const unsigned significand = fraction + (1u << format->mantissa);
    return sign * ldexp(significand, exponent - 1 + format->least - format->mantissa);
}

/* The nearest number of the format, the even one of two. */
static double nearest(const struct format *format, double value)
{
    if (value == 0 || !isfinite(value))
        return value;
    const int exponent = ilogb(value) > format->least ? ilogb(value) : format->least;
    const double step = ldexp(1, exponent - format->mantissa);
    const double rounded = nearbyint(value / step) * step;
    return fabs(rounded) < ldexp(1, format->most + 1) ? rounded : copysign(INFINITY, value);
}

static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_narrow(const struct format *format, float value)
{
    const double expected = nearest(format, value);
    const double got = meaning(format, format->narrow(value));
    if (!is_same(got, expected))
        ck_abort_msg("%a: %a instead of %a", (double)value, got, expected);
}

/* Calls `check` for all halves of both formats. */
static void for_all(void (*check)(const struct format *format, uint16_t half))
{
    for (unsigned half = 0; half <= UINT16_MAX; half++) {
        check(&f16, (uint16_t)half);
        check(&bf16, (uint16_t)half);
    }
}

static void check_widen(const struct format *format, uint16_t half)
{
    const double expected = meaning(format, half), got = (double)format->widen(half);
    if (!is_same(got, expected))
        ck_abort_msg("%#x: %a instead of %a", half, got, expected);
}

START_TEST(every_half_is_widened)
{
    for_all(check_widen);
}
END_TEST

static void check_return(const struct format *format, uint16_t half)
{
    const float wide = format->widen(half);
    const uint16_t back = format->narrow(wide);
    if (isnan(wide) ? !isnan(format->widen(back)) : back != half)
        ck_abort_msg("%#x came back as %#x", half, back);
}

START_TEST(every_half_comes_back)
{
    for_all(check_return);
}
END_TEST

/* Between a half and the next one, away from zero: the tie and its neighbours. */
static void check_tie(const struct format *format, uint16_t half)
{
    const double here = meaning(format, half), next = meaning(format, (half + 1u) & UINT16_MAX);
    if (!isfinite(here) || isnan(next))
        return;
    const double beyond = copysign(ldexp(1, format->most + 1), here);
    const float tie = (float)((here + (isinf(next) ? beyond : next)) / 2);
    check_narrow(format, tie);
    check_narrow(format, nextafterf(tie, 0));
    check_narrow(format, nextafterf(tie, (float)beyond * 2));
}

START_TEST(ties_go_to_even)
{
    for_all(check_tie);
    ck_assert_uint_eq(spmd__f32_to_f16(65519.996f), 0x7bff);
    ck_assert_uint_eq(spmd__f32_to_f16(65520.0f), 0x7c00);
    ck_assert_uint_eq(spmd__f32_to_f16(0x1p-25f), 0);
    ck_assert_uint_eq(spmd__f32_to_f16(-0x1.8p-24f), 0x8002);
    ck_assert_uint_eq(spmd__f32_to_bf16(0x1.01p0f), 0x3f80);
    ck_assert_uint_eq(spmd__f32_to_bf16(0x1.03p0f), 0x3f82);
    ck_assert_uint_eq(spmd__f32_to_bf16(0x1.fffffep127f), 0x7f80);
}
END_TEST

/* All exponents and leading bits of an f32, with a few of its last bits. */
START_TEST(floats_are_narrowed)
{
    static const uint32_t tails[] = {0, 1, 0x1000, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (uint32_t head = 0; head <= UINT16_MAX; head++)
        for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
            const uint32_t bits = head << 16 | tails[i];
            float value;
            memcpy(&value, &bits, sizeof value);
            check_narrow(&f16, value);
            check_narrow(&bf16, value);
        }
}
END_TEST

UNIT_MAIN("half", every_half_is_widened, every_half_comes_back, ties_go_to_even,
          floats_are_narrowed)
