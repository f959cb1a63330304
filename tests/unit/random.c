/* random.c - unit tests of random numbers: known answers, and boxes as parts of the whole. */
#include <math.h>

#include "core/erfinv.h"
#include "core/half.h"
#include "core/threefry.h"
#include "unit.h"

#include <spmd/random.h>

enum { LENGTH = 16 };

START_TEST(threefry_has_the_known_answers)
{
    static const struct {
        spmd_key key;
        uint64_t counter;
        uint64_t answer;
    } known[] = {
        {{{0, 0}}, 0, 0x6b20015999ba4efe},
        {{{UINT32_MAX, UINT32_MAX}}, UINT64_MAX, 0x1cb996fcbb002be7},
        {{{0x13198a2e, 0x03707344}}, 0x243f6a8885a308d3, 0xc4923a9c483df7a0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t wide;
        uint32_t folded;
        spmd__threefry_bits64(known[i].key, known[i].counter, 1, &wide);
        spmd__threefry_bits32(known[i].key, known[i].counter, 1, &folded);
        ck_assert_uint_eq(wide, known[i].answer);
        ck_assert_uint_eq(folded, (uint32_t)(wide >> 32) ^ (uint32_t)wide);
    }
}
END_TEST

static void check_key(spmd_key key, uint32_t high, uint32_t low)
{
    ck_assert_uint_eq(key.word[0], high);
    ck_assert_uint_eq(key.word[1], low);
}

START_TEST(keys_come_from_seeds_and_keys)
{
    check_key(spmd_key_create(42), 0, 42);
    check_key(spmd_key_create((uint64_t)7 << 32 | 9), 7, 9);
    check_key(spmd_key_create((uint64_t)-1), UINT32_MAX, UINT32_MAX);
    check_key(spmd_key_fold_in(spmd_key_create(0), 0), 1797259609, 2579123966);
    check_key(spmd_key_fold_in(spmd_key_create(0), 1), 928981903, 3453687069);
    check_key(spmd_key_fold_in(spmd_key_create(0), UINT32_C(1) << 31), 917456828, 636652529);
    check_key(spmd_key_fold_in(spmd_key_create(42), 7), 2547012911, 1371500959);
}
END_TEST

START_TEST(splitting_is_folding_in_the_index)
{
    const spmd_key key = spmd_key_create(42);
    spmd_key keys[100], few[3];
    spmd_key_split(key, 100, keys);
    spmd_key_split(key, 3, few);
    check_key(keys[0], 1832780943, 270669613);
    check_key(keys[1], 64467757, 2916123636);
    ck_assert_mem_eq(keys, few, sizeof few);
    for (uint32_t i = 0; i < 100; i++) {
        spmd_key folded = spmd_key_fold_in(key, i);
        check_key(keys[i], folded.word[0], folded.word[1]);
    }
}
END_TEST

START_TEST(bits_have_all_widths)
{
    const spmd_key key = spmd_key_create(0);
    const spmd_shape shape = SPMD_SHAPE(4);
    uint8_t u8[4];
    uint16_t u16[4];
    uint32_t u32[4];
    uint64_t u64[4];
    ASSERT_OK(spmd_random_bits(key, SPMD_U8, shape, NULL, u8));
    ASSERT_OK(spmd_random_bits(key, SPMD_U16, shape, NULL, u16));
    ASSERT_OK(spmd_random_bits(key, SPMD_U32, shape, NULL, u32));
    ASSERT_OK(spmd_random_bits(key, SPMD_U64, shape, NULL, u64));
    ck_assert_mem_eq(u8, ((uint8_t[]){167, 146, 40, 53}), sizeof u8);
    ck_assert_mem_eq(u16, ((uint16_t[]){20391, 13970, 3624, 43061}), sizeof u16);
    ck_assert_mem_eq(u32, ((uint32_t[]){4070199207, 4202968722, 1427181096, 2012915765}),
                     sizeof u32);
    ck_assert_uint_eq(u64[0], 7719171245655871230);
    ck_assert_uint_eq(u64[1], 3989946895414531357);
}
END_TEST

START_TEST(uniform_numbers_are_jaxs)
{
    const spmd_key key = spmd_key_create(0);
    const spmd_shape shape = SPMD_SHAPE(3);
    float f32[3];
    ASSERT_OK(spmd_random_uniform(key, SPMD_F32, shape, NULL, 0, 1, f32));
    ck_assert_mem_eq(f32, ((float[]){0x1.e5349cp-1f, 0x1.f5086cp-1f, 0x1.544438p-2f}), sizeof f32);
    ASSERT_OK(spmd_random_uniform(key, SPMD_F32, shape, NULL, -2.5, 3, f32));
    ck_assert_mem_eq(f32, ((float[]){0x1.5b2856p+1f, 0x1.70eb94p+1f, -0x1.584466p-1f}), sizeof f32);
    double f64[3];
    ASSERT_OK(spmd_random_uniform(key, SPMD_F64, shape, NULL, 0, 1, f64));
    ck_assert_double_eq(f64[0], 0.41845711171638644);
    ck_assert_double_eq(f64[1], 0.21629545460551136);
    uint16_t half[3];
    ASSERT_OK(spmd_random_uniform(key, SPMD_F16, shape, NULL, 0.1, 0.7, half));
    ck_assert_mem_eq(half, ((uint16_t[]){0x3495, 0x334a, 0x3040}), sizeof half);
    ASSERT_OK(spmd_random_uniform(key, SPMD_BF16, shape, NULL, 0.1, 0.7, half));
    ck_assert_mem_eq(half, ((uint16_t[]){0x3ef9, 0x3ee2, 0x3e46}), sizeof half);
}
END_TEST

START_TEST(uniform_numbers_stay_in_bounds)
{
    enum { COUNT = 5000 };
    static float f32[COUNT];
    static double f64[COUNT];
    static uint16_t half[COUNT];
    const spmd_key key = spmd_key_create(5);
    const spmd_shape shape = SPMD_SHAPE(COUNT);
    ASSERT_OK(spmd_random_uniform(key, SPMD_F32, shape, NULL, 100, 101, f32));
    ASSERT_OK(spmd_random_uniform(key, SPMD_F64, shape, NULL, -1e300, 1e300, f64));
    ASSERT_OK(spmd_random_uniform(key, SPMD_F16, shape, NULL, 0, 1, half));
    for (int i = 0; i < COUNT; i++) {
        ck_assert(f32[i] >= 100 && f32[i] < 101);
        ck_assert(f64[i] >= -1e300 && f64[i] < 1e300);
        ck_assert(spmd__f16_to_f32(half[i]) >= 0 && spmd__f16_to_f32(half[i]) < 1);
    }
}
END_TEST

START_TEST(uniform_numbers_of_odd_bounds)
{
    const spmd_key key = spmd_key_create(5);
    const spmd_shape shape = SPMD_SHAPE(LENGTH);
    double f64[LENGTH];
    float f32[LENGTH];
    uint16_t half[LENGTH];
    for (double maxval = 3; maxval >= -1; maxval -= 4) {
        ASSERT_OK(spmd_random_uniform(key, SPMD_F64, shape, NULL, 3, maxval, f64));
        ASSERT_OK(spmd_random_uniform(key, SPMD_F32, shape, NULL, 3, maxval, f32));
        ASSERT_OK(spmd_random_uniform(key, SPMD_BF16, shape, NULL, 3, maxval, half));
        for (int i = 0; i < LENGTH; i++) {
            ck_assert_double_eq(f64[i], 3);
            ck_assert_float_eq(f32[i], 3);
            ck_assert_float_eq(spmd__bf16_to_f32(half[i]), 3);
        }
    }
    ASSERT_OK(spmd_random_uniform(key, SPMD_F64, shape, NULL, NAN, 3, f64));
    ASSERT_OK(spmd_random_uniform(key, SPMD_F32, shape, NULL, 0, NAN, f32));
    ASSERT_OK(spmd_random_uniform(key, SPMD_F16, shape, NULL, NAN, NAN, half));
    for (int i = 0; i < LENGTH; i++) {
        ck_assert_double_nan(f64[i]);
        ck_assert_float_nan(f32[i]);
        ck_assert_float_nan(spmd__f16_to_f32(half[i]));
    }
}
END_TEST

/* Where 1 - x is 1/2, 1/4, ... down to a type's last bit: all ranges of its polynomials. Squaring
 * such an x loses half of what tells it from 1. */
START_TEST(erfinv_inverts_erf)
{
    for (int k = 1; k <= 53; k++) {
        const double tail = ldexp(1, -k);
        double x[] = {1 - tail, tail - 1, tail};
        spmd__erfinv64(3, x);
        ck_assert_double_eq_tol(erfc(x[0]) / tail, 1, 0x1p-27);
        ck_assert_double_eq(x[1], -x[0]);
        ck_assert_double_eq_tol(erf(x[2]) / tail, 1, 1e-15);
    }
    for (int k = 1; k <= 24; k++) {
        const float tail = ldexpf(1, -k);
        float x[] = {1 - tail, tail - 1, tail};
        spmd__erfinv32(3, x);
        ck_assert_double_eq_tol(erfc((double)x[0]) / (double)tail, 1, 0x1p-13);
        ck_assert_float_eq(x[1], -x[0]);
        ck_assert_double_eq_tol(erf((double)x[2]) / (double)tail, 1, 1e-6);
    }
}
END_TEST

START_TEST(normal_numbers_are_jaxs)
{
    const spmd_key key = spmd_key_create(0);
    const spmd_shape shape = SPMD_SHAPE(2);
    float f32[2];
    ASSERT_OK(spmd_random_normal(key, SPMD_F32, shape, NULL, f32));
    ck_assert_mem_eq(f32, ((float[]){0x1.9f657ap+0f, 0x1.033be0p+1f}), sizeof f32);
    double f64[2];
    ASSERT_OK(spmd_random_normal(key, SPMD_F64, shape, NULL, f64));
    ck_assert_double_eq_tol(f64[0], -0x1.a5909049a141dp-3, 1e-16);
    ck_assert_double_eq_tol(f64[1], -0x1.91ccd1e1b7b4ap-1, 4e-16);
    uint16_t half[2];
    ASSERT_OK(spmd_random_normal(key, SPMD_F16, shape, NULL, half));
    ck_assert_mem_eq(half, ((uint16_t[]){0xb7e6, 0xba5d}), sizeof half);
    ASSERT_OK(spmd_random_normal(key, SPMD_BF16, shape, NULL, half));
    ck_assert_mem_eq(half, ((uint16_t[]){0x3ec6, 0x3e3b}), sizeof half);
    float c64[4];
    ASSERT_OK(spmd_random_normal(key, SPMD_C64, shape, NULL, c64));
    ck_assert_mem_eq(c64,
                     ((float[]){0x1.6b7df2p-1f, -0x1.ba21b8p+0f, -0x1.48210ep-1f, -0x1.707f5ep+0f}),
                     sizeof c64);
    double c128[4];
    ASSERT_OK(spmd_random_normal(key, SPMD_C128, shape, NULL, c128));
    ck_assert_double_eq_tol(c128[0], 0x1.54525f0caf907p+0, 8e-16);
    ck_assert_double_eq_tol(c128[1], -0x1.fb2c99b1646acp-1, 4e-16);
    ck_assert_double_eq_tol(c128[2], -0x1.5c6fd60ee6c42p-2, 2e-16);
    ck_assert_double_eq_tol(c128[3], 0x1.033ef5b249fe3p+0, 8e-16);
}
END_TEST

/* All ranges of the inverse error function: moments, and tails as thin as they should be. */
START_TEST(normal_numbers_are_normal)
{
    enum { COUNT = 1 << 18 };
    static double x[COUNT];
    ASSERT_OK(spmd_random_normal(spmd_key_create(1), SPMD_F64, SPMD_SHAPE(COUNT), NULL, x));
    double sum = 0, squares = 0, fourths = 0;
    int beyond4 = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        fourths += x[i] * x[i] * x[i] * x[i];
        beyond4 += fabs(x[i]) > 4;
        ck_assert(fabs(x[i]) < 9);
    }
    ck_assert_double_eq_tol(sum / COUNT, 0, 0.01);
    ck_assert_double_eq_tol(squares / COUNT, 1, 0.015);
    ck_assert_double_eq_tol(fourths / COUNT, 3, 0.1);
    ck_assert(beyond4 > 2 && beyond4 < 50); /* 16.6 expected */
}
END_TEST

START_TEST(integers_are_jaxs)
{
    const spmd_key key = spmd_key_create(0);
    int32_t i32[8];
    ASSERT_OK(spmd_random_randint(key, SPMD_I32, SPMD_SHAPE(8), NULL, 0, 10, i32));
    ck_assert_mem_eq(i32, ((int32_t[]){9, 0, 2, 3, 1, 7, 2, 3}), sizeof i32);
    ASSERT_OK(spmd_random_randint(spmd_key_create(42), SPMD_I32, SPMD_SHAPE(8), NULL, 0, 10, i32));
    ck_assert_mem_eq(i32, ((int32_t[]){4, 4, 1, 9, 9, 9, 7, 7}), sizeof i32);
    int64_t i64[4];
    ASSERT_OK(spmd_random_randint(key, SPMD_I64, SPMD_SHAPE(4), NULL, 0, 10, i64));
    ck_assert_mem_eq(i64, ((int64_t[]){5, 1, 5, 7}), sizeof i64);
    uint8_t u8[6];
    ASSERT_OK(spmd_random_randint(key, SPMD_U8, SPMD_SHAPE(6), NULL, 0, 256, u8));
    ck_assert_mem_eq(u8, ((uint8_t[]){101, 80, 200, 61, 3, 211}), sizeof u8);
}
END_TEST

START_TEST(integers_of_all_values)
{
    const spmd_key key = spmd_key_create(0);
    int32_t i32[4];
    ASSERT_OK(spmd_random_randint(key, SPMD_I32, SPMD_SHAPE(4), NULL, INT64_MIN, INT64_MAX, i32));
    ck_assert_mem_eq(i32, ((int32_t[]){-2116156571, -2057756336, 349724616, -593401283}),
                     sizeof i32);
    int64_t i64[4];
    ASSERT_OK(spmd_random_randint(key, SPMD_I64, SPMD_SHAPE(4), NULL, INT64_MIN, INT64_MAX, i64));
    ck_assert_mem_eq(i64,
                     ((int64_t[]){-7736114978893213937, 7820475669948582015, 4315659036180353743,
                                  1465598322582991829}),
                     sizeof i64);
    int8_t i8[6];
    ASSERT_OK(spmd_random_randint(key, SPMD_I8, SPMD_SHAPE(6), NULL, -1000, 1000, i8));
    ck_assert_mem_eq(i8, ((int8_t[]){-27, -48, 72, -67, -125, 83}), sizeof i8);
}
END_TEST

START_TEST(integers_of_empty_ranges_are_minval)
{
    const spmd_key key = spmd_key_create(3);
    int16_t i16[LENGTH];
    uint64_t u64[LENGTH];
    uint8_t u8[LENGTH];
    ASSERT_OK(spmd_random_randint(key, SPMD_I16, SPMD_SHAPE(LENGTH), NULL, 9, 2, i16));
    ASSERT_OK(spmd_random_randint(key, SPMD_U64, SPMD_SHAPE(LENGTH), NULL, 7, 7, u64));
    ASSERT_OK(spmd_random_randint(key, SPMD_U8, SPMD_SHAPE(LENGTH), NULL, 300, 400, u8));
    for (int i = 0; i < LENGTH; i++) {
        ck_assert_int_eq(i16[i], 9);
        ck_assert_uint_eq(u64[i], 7);
        ck_assert_uint_eq(u8[i], 255);
    }
}
END_TEST

START_TEST(coins_are_jaxs)
{
    bool coins[LENGTH];
    ASSERT_OK(spmd_random_bernoulli(spmd_key_create(0), 0.1, SPMD_SHAPE(LENGTH), NULL, coins));
    for (int i = 0; i < LENGTH; i++)
        ck_assert_int_eq(coins[i], i == 11);
    ASSERT_OK(spmd_random_bernoulli(spmd_key_create(0), 0, SPMD_SHAPE(LENGTH), NULL, coins));
    for (int i = 0; i < LENGTH; i++)
        ck_assert(!coins[i]);
    ASSERT_OK(spmd_random_bernoulli(spmd_key_create(0), 1, SPMD_SHAPE(LENGTH), NULL, coins));
    for (int i = 0; i < LENGTH; i++)
        ck_assert(coins[i]);
}
END_TEST

/* Every generator with every element type, as one function. */
struct generator {
    enum { BITS, UNIFORM, NORMAL, RANDINT, BERNOULLI } kind;
    spmd_dtype dtype;
};

static const struct generator generators[] = {
    {BITS, SPMD_U8},     {BITS, SPMD_U16},     {BITS, SPMD_U32},       {BITS, SPMD_U64},
    {UNIFORM, SPMD_F16}, {UNIFORM, SPMD_BF16}, {UNIFORM, SPMD_F32},    {UNIFORM, SPMD_F64},
    {NORMAL, SPMD_F16},  {NORMAL, SPMD_BF16},  {NORMAL, SPMD_F32},     {NORMAL, SPMD_F64},
    {NORMAL, SPMD_C64},  {NORMAL, SPMD_C128},  {RANDINT, SPMD_I8},     {RANDINT, SPMD_I16},
    {RANDINT, SPMD_I32}, {RANDINT, SPMD_I64},  {RANDINT, SPMD_U8},     {RANDINT, SPMD_U16},
    {RANDINT, SPMD_U32}, {RANDINT, SPMD_U64},  {BERNOULLI, SPMD_BOOL},
};
enum { GENERATORS = sizeof generators / sizeof *generators };

static spmd_status generate(struct generator generator, spmd_shape shape, const spmd_box *box,
                            void *out)
{
    const spmd_key key = spmd_key_create(3);
    switch (generator.kind) {
    case BITS:
        return spmd_random_bits(key, generator.dtype, shape, box, out);
    case UNIFORM:
        return spmd_random_uniform(key, generator.dtype, shape, box, -2, 7, out);
    case NORMAL:
        return spmd_random_normal(key, generator.dtype, shape, box, out);
    case RANDINT:
        return spmd_random_randint(key, generator.dtype, shape, box, 3, 119, out);
    case BERNOULLI:
        return spmd_random_bernoulli(key, 0.4, shape, box, out);
    }
    return SPMD_ERR_ARGUMENT;
}

/* 0 ... below - 1, chosen by the position in a sequence of draws. */
static int64_t pick(int64_t below)
{
    static uint64_t position = 0;
    uint64_t bits;
    spmd__threefry_bits64(spmd_key_create(99), position++, 1, &bits);
    return (int64_t)(bits % (uint64_t)below);
}

static spmd_shape pick_shape(int ndim)
{
    spmd_shape shape = {.ndim = ndim};
    for (int d = 0; d < ndim; d++)
        shape.dim[d] = ndim == 1 || (ndim == 2 && d == 1) ? 1 + pick(900) : 1 + pick(7);
    return shape;
}

/* Whole in a dimension as often as not, so that rows of all lengths occur; empty at times. */
static spmd_box pick_box(spmd_shape shape)
{
    spmd_box box = spmd_box_whole(shape);
    for (int d = 0; d < shape.ndim; d++)
        if (pick(2)) {
            box.lo[d] = pick(shape.dim[d] + 1);
            box.hi[d] = box.lo[d] + pick(shape.dim[d] - box.lo[d] + 1);
        }
    return box;
}

/* The box's elements of a dense array, one at a time. */
static void copy_box(const char *whole, spmd_shape shape, const spmd_box *box, size_t element,
                     char *part)
{
    const spmd_shape extents = spmd_box_shape(box);
    for (int64_t i = 0, size = spmd_box_size(box); i < size; i++) {
        int64_t from = 0, stride = 1, rest = i;
        for (int d = shape.ndim - 1; d >= 0; d--) {
            from += (box->lo[d] + rest % extents.dim[d]) * stride;
            rest /= extents.dim[d];
            stride *= shape.dim[d];
        }
        memcpy(part + (size_t)i * element, whole + (size_t)from * element, element);
    }
}

START_TEST(boxes_are_parts_of_the_whole)
{
    enum { ELEMENTS = 7 * 7 * 900, ROUNDS = 8 };
    static _Alignas(16) char whole[ELEMENTS * 16], part[ELEMENTS * 16], expected[ELEMENTS * 16];
    for (int g = 0; g < GENERATORS; g++)
        for (int ndim = 0; ndim <= 4; ndim++)
            for (int round = 0; round < ROUNDS; round++) {
                const size_t element = spmd_dtype_size(generators[g].dtype);
                const spmd_shape shape = pick_shape(ndim);
                const spmd_box box = pick_box(shape);
                const size_t bytes = (size_t)spmd_box_size(&box) * element;
                ASSERT_OK(generate(generators[g], shape, NULL, whole));
                memset(part, 0x5a, bytes + 1);
                ASSERT_OK(generate(generators[g], shape, &box, part));
                copy_box(whole, shape, &box, element, expected);
                ck_assert_mem_eq(part, expected, bytes);
                ck_assert_int_eq(part[bytes], 0x5a);
            }
}
END_TEST

static spmd_box range(int64_t lo, int64_t hi)
{
    return (spmd_box){.ndim = 1, .lo = {lo}, .hi = {hi}};
}

START_TEST(indices_have_64_bits)
{
    const spmd_key key = spmd_key_create(3);
    const int64_t wrap = INT64_C(1) << 32;
    spmd_box box = range(wrap - 2, wrap + 2);
    uint32_t u32[4];
    ASSERT_OK(spmd_random_bits(key, SPMD_U32, SPMD_SHAPE(2 * wrap), &box, u32));
    ck_assert_mem_eq(u32, ((uint32_t[]){0xeb85f5e9, 0x5ec9d581, 0xc6739a0b, 0x25c75123}),
                     sizeof u32);
    uint64_t u64;
    const int64_t far = (INT64_C(1) << 62) + 12345;
    box = range(far, far + 1);
    ASSERT_OK(spmd_random_bits(key, SPMD_U64, SPMD_SHAPE(INT64_MAX), &box, &u64));
    ck_assert_uint_eq(u64, 0xa71e8b012dbb56f6);
}
END_TEST

START_TEST(boxes_of_huge_arrays)
{
    const spmd_key key = spmd_key_create(8);
    const int64_t rows = INT64_C(1) << 31, columns = (INT64_C(1) << 31) - 5;
    const spmd_shape huge = SPMD_SHAPE(rows, columns);
    const spmd_box corner = {2, {rows - 2, columns - 3}, {rows, columns}};
    float part[6], line[3];
    ASSERT_OK(spmd_random_normal(key, SPMD_F32, huge, &corner, part));
    for (int64_t r = 0; r < 2; r++) {
        const int64_t end = (rows - 1 + r) * columns;
        const spmd_box box = range(end - 3, end);
        ASSERT_OK(spmd_random_normal(key, SPMD_F32, SPMD_SHAPE(rows * columns), &box, line));
        ck_assert_mem_eq(line, &part[3 * r], sizeof line);
    }
    const spmd_box last = {3, {rows - 1, 0, 0}, {rows, 2, 3}};
    const spmd_box same = range(6 * rows - 6, 6 * rows);
    float joined[6];
    ASSERT_OK(spmd_random_normal(key, SPMD_F32, SPMD_SHAPE(rows, 2, 3), &last, part));
    ASSERT_OK(spmd_random_normal(key, SPMD_F32, SPMD_SHAPE(6 * rows), &same, joined));
    ck_assert_mem_eq(part, joined, sizeof part);
}
END_TEST

START_TEST(empty_boxes_write_nothing)
{
    const spmd_box empty = {2, {1, 5}, {3, 5}};
    for (int g = 0; g < GENERATORS; g++) {
        ASSERT_OK(generate(generators[g], SPMD_SHAPE(3, 8), &empty, NULL));
        ASSERT_OK(generate(generators[g], SPMD_SHAPE(3, 0, 4), NULL, NULL));
    }
}
END_TEST

START_TEST(boxes_must_lie_inside)
{
    char out[64 * 16];
    const spmd_box wide = {2, {0, 5}, {3, 9}}, negative = {2, {-1, 5}, {3, 8}}, line = range(0, 3);
    const spmd_shape shape = SPMD_SHAPE(3, 8), below = SPMD_SHAPE(3, -1);
    const spmd_shape large = SPMD_SHAPE(INT64_C(1) << 32, INT64_C(1) << 31);
    spmd_shape deep = {.ndim = SPMD_MAX_DIMS + 1};
    for (int g = 0; g < GENERATORS; g++) {
        const struct generator it = generators[g];
        ASSERT_FAILS(generate(it, shape, &wide, out), SPMD_ERR_ARGUMENT,
                     "range 5:9 of dim 1 of 2 is not inside 0:8");
        ASSERT_FAILS(generate(it, shape, &negative, out), SPMD_ERR_ARGUMENT,
                     "range -1:3 of dim 0 of 2");
        ASSERT_FAILS(generate(it, shape, &line, out), SPMD_ERR_ARGUMENT, "1 dimensions");
        ASSERT_FAILS(generate(it, below, NULL, out), SPMD_ERR_SHAPE, "negative size -1");
        ASSERT_FAILS(generate(it, large, NULL, out), SPMD_ERR_SHAPE, "2^63 elements");
        ASSERT_FAILS(generate(it, deep, NULL, out), SPMD_ERR_SHAPE, "0 to 16 dimensions");
        ASSERT_FAILS(generate(it, shape, NULL, NULL), SPMD_ERR_ARGUMENT, "no memory to write");
    }
}
END_TEST

START_TEST(types_must_be_made)
{
    static const char *const names[] = {"bits", "uniform", "normal", "integers"};
    char out[16];
    for (spmd_dtype dtype = SPMD_DTYPE_NONE; dtype <= SPMD_C128; dtype++)
        for (int kind = BITS; kind <= RANDINT; kind++) {
            bool made = false;
            for (int g = 0; g < GENERATORS; g++)
                made = made || ((int)generators[g].kind == kind && generators[g].dtype == dtype);
            struct generator generator = generators[0];
            while ((int)generator.kind != kind)
                generator.kind++;
            generator.dtype = dtype;
            if (made)
                ASSERT_OK(generate(generator, SPMD_SCALAR, NULL, out));
            else
                ASSERT_FAILS(generate(generator, SPMD_SCALAR, NULL, out), SPMD_ERR_DTYPE,
                             names[kind]);
        }
}
END_TEST

START_TEST(probabilities_lie_between_0_and_1)
{
    const spmd_key key = spmd_key_create(0);
    bool coin = true;
    const double bad[] = {-0x1p-60, 1 + 0x1p-52, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_FAILS(spmd_random_bernoulli(key, bad[i], SPMD_SCALAR, NULL, &coin),
                     SPMD_ERR_ARGUMENT, "probability");
    ck_assert(coin);
}
END_TEST

static void check_permutation(uint64_t seed, int64_t n, const int64_t *expected, size_t count)
{
    int64_t *got = malloc((size_t)n * sizeof *got);
    ck_assert_ptr_nonnull(got);
    ASSERT_OK(spmd_random_permutation(spmd_key_create(seed), n, 0, n, got));
    ck_assert_mem_eq(got, expected, count * sizeof *got);
    free(got);
}

START_TEST(permutations_are_jaxs)
{
    check_permutation(0, 10, (int64_t[]){0, 1, 8, 5, 6, 4, 3, 2, 7, 9}, 10);
    check_permutation(1, 10, (int64_t[]){7, 6, 3, 2, 0, 8, 1, 5, 9, 4}, 10);
    check_permutation(42, 10, (int64_t[]){7, 4, 2, 5, 3, 6, 8, 9, 0, 1}, 10);
    check_permutation(0, 16, (int64_t[]){0, 1, 8, 12, 5, 6, 4, 13, 14, 3, 10, 2, 7, 15, 11, 9}, 16);
    check_permutation(11, 1625, (int64_t[]){185, 1, 1083, 1292}, 4);  /* one round */
    check_permutation(11, 1626, (int64_t[]){123, 1283, 969, 720}, 4); /* two */
    check_permutation(11, 2642246, (int64_t[]){1175503, 1094503, 1786927, 2535364}, 4); /* three */
}
END_TEST

START_TEST(permutations_hold_each_number_once)
{
    enum { MOST = 3000 };
    static int64_t got[MOST];
    static const int64_t sizes[] = {1, 2, 3, 255, 256, 257, 1000, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool seen[MOST] = {false};
        ASSERT_OK(spmd_random_permutation(spmd_key_create(i), sizes[i], 0, sizes[i], got));
        for (int64_t k = 0; k < sizes[i]; k++) {
            ck_assert(got[k] >= 0 && got[k] < sizes[i] && !seen[got[k]]);
            seen[got[k]] = true;
        }
    }
}
END_TEST

START_TEST(permutations_come_in_parts)
{
    enum { N = 2000 };
    static int64_t whole[N], part[N];
    const spmd_key key = spmd_key_create(4);
    ASSERT_OK(spmd_random_permutation(key, N, 0, N, whole));
    ASSERT_OK(spmd_random_permutation(key, N, 700, 1900, part));
    ck_assert_mem_eq(part, whole + 700, 1200 * sizeof *part);
    ck_assert_int_eq(part[1200], 0);
    ASSERT_OK(spmd_random_permutation(key, N, 5, 5, NULL));
    ASSERT_OK(spmd_random_permutation(key, 0, 0, 0, NULL));
}
END_TEST

START_TEST(permutations_check_their_range)
{
    const spmd_key key = spmd_key_create(4);
    int64_t out[4];
    ASSERT_FAILS(spmd_random_permutation(key, -1, 0, 0, out), SPMD_ERR_ARGUMENT, "-1 numbers");
    ASSERT_FAILS(spmd_random_permutation(key, 4, -1, 2, out), SPMD_ERR_ARGUMENT, "-1:2");
    ASSERT_FAILS(spmd_random_permutation(key, 4, 3, 2, out), SPMD_ERR_ARGUMENT, "3:2");
    ASSERT_FAILS(spmd_random_permutation(key, 4, 0, 5, out), SPMD_ERR_ARGUMENT, "0:5");
    ASSERT_FAILS(spmd_random_permutation(key, 4, 0, 4, NULL), SPMD_ERR_ARGUMENT, "no memory");
#ifndef __SANITIZE_ADDRESS__ /* which ends the program instead */
    ASSERT_FAILS(spmd_random_permutation(key, INT64_MAX, 0, 1, out), SPMD_ERR_MEMORY, "no memory");
#endif
}
END_TEST

UNIT_MAIN("random", threefry_has_the_known_answers, keys_come_from_seeds_and_keys,
          splitting_is_folding_in_the_index, bits_have_all_widths, uniform_numbers_are_jaxs,
          uniform_numbers_stay_in_bounds, uniform_numbers_of_odd_bounds, erfinv_inverts_erf,
          normal_numbers_are_jaxs, normal_numbers_are_normal, integers_are_jaxs,
          integers_of_all_values, integers_of_empty_ranges_are_minval, coins_are_jaxs,
          boxes_are_parts_of_the_whole, indices_have_64_bits, boxes_of_huge_arrays,
          empty_boxes_write_nothing, boxes_must_lie_inside, types_must_be_made,
          probabilities_lie_between_0_and_1, permutations_are_jaxs,
          permutations_hold_each_number_once, permutations_come_in_parts,
          permutations_check_their_range)
