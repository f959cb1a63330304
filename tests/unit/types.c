/* types.c - unit tests of element types, shapes and blocks. */
#include <spmd/types.h>

#include "core/shape.h"
#include "unit.h"

START_TEST(dtypes_have_sizes_and_names)
{
    ck_assert_uint_eq(spmd_dtype_size(SPMD_BOOL), 1);
    ck_assert_uint_eq(spmd_dtype_size(SPMD_BF16), 2);
    ck_assert_uint_eq(spmd_dtype_size(SPMD_F32), 4);
    ck_assert_uint_eq(spmd_dtype_size(SPMD_C128), 16);
    ck_assert_uint_eq(spmd_dtype_size(SPMD_DTYPE_NONE), 0);
    ck_assert_uint_eq(spmd_dtype_size((spmd_dtype)999), 0);
    ck_assert_str_eq(spmd_dtype_name(SPMD_U64), "u64");
    ck_assert_ptr_nonnull(spmd_dtype_name(SPMD_DTYPE_NONE));
    ck_assert_ptr_nonnull(spmd_dtype_name((spmd_dtype)999));
}
END_TEST

START_TEST(dtypes_parse_both_spellings)
{
    static const struct {
        const char *ours, *numpy;
        spmd_dtype dtype;
    } names[] = {
        {"bool", "bool", SPMD_BOOL},       {"i8", "int8", SPMD_I8},
        {"i16", "int16", SPMD_I16},        {"i32", "int32", SPMD_I32},
        {"i64", "int64", SPMD_I64},        {"u8", "uint8", SPMD_U8},
        {"u16", "uint16", SPMD_U16},       {"u32", "uint32", SPMD_U32},
        {"u64", "uint64", SPMD_U64},       {"f16", "float16", SPMD_F16},
        {"bf16", "bfloat16", SPMD_BF16},   {"f32", "float32", SPMD_F32},
        {"f64", "float64", SPMD_F64},      {"c64", "complex64", SPMD_C64},
        {"c128", "complex128", SPMD_C128},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        spmd_dtype ours = SPMD_DTYPE_NONE, numpy = SPMD_DTYPE_NONE;
        ASSERT_OK(spmd_dtype_parse(names[i].ours, &ours));
        ASSERT_OK(spmd_dtype_parse(names[i].numpy, &numpy));
        ck_assert_int_eq(ours, names[i].dtype);
        ck_assert_int_eq(numpy, names[i].dtype);
        ck_assert_str_eq(spmd_dtype_name(ours), names[i].ours);
    }
}
END_TEST

START_TEST(dtype_errors_name_the_text)
{
    spmd_dtype dtype = SPMD_I8;
    ASSERT_FAILS(spmd_dtype_parse("float31", &dtype), SPMD_ERR_DTYPE, "float31");
    ASSERT_FAILS(spmd_dtype_parse("", &dtype), SPMD_ERR_DTYPE, "element type");
    ASSERT_FAILS(spmd_dtype_parse("F32", &dtype), SPMD_ERR_DTYPE, "F32");
    ck_assert_int_ne(spmd_dtype_parse(NULL, &dtype), SPMD_OK);
    ck_assert_int_eq(dtype, SPMD_I8);
}
END_TEST

START_TEST(shape_macros)
{
    spmd_shape shape = SPMD_SHAPE(8, 4, 3);
    ck_assert_int_eq(shape.ndim, 3);
    ck_assert_int_eq(shape.dim[0], 8);
    ck_assert_int_eq(shape.dim[2], 3);
    ck_assert_int_eq(SPMD_SCALAR.ndim, 0);
    ck_assert(spmd_shape_equal(shape, spmd_shape_make(3, (int64_t[]){8, 4, 3})));
}
END_TEST

START_TEST(shape_sizes)
{
    int64_t half = INT64_C(1) << 32;
    ck_assert_int_eq(spmd_shape_size(SPMD_SCALAR), 1);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(8, 4, 3)), 96);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(0)), 0);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(half, half / 4)), INT64_C(1) << 62);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(INT64_MAX)), INT64_MAX);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(half, half / 2)), -1);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(half, half)), -1);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(INT64_MAX, 2)), -1);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(half, half, 0)), 0);
    ck_assert_int_eq(spmd_shape_size(SPMD_SHAPE(0, half, half)), 0);
}
END_TEST

START_TEST(a_type_that_is_too_large_is_told)
{
    int64_t bytes, large = INT64_C(1) << 61;
    ASSERT_OK(spmd__type_check(SPMD_BF16, SPMD_SHAPE(large, 1), &bytes));
    ck_assert_int_eq(bytes, 2 * large);
    ASSERT_FAILS(spmd__type_check(SPMD_F32, SPMD_SHAPE(large, 1), &bytes), SPMD_ERR_SHAPE,
                 "f32[2305843009213693952,1] would take more than 2^63 bytes");
}
END_TEST

START_TEST(shapes_compare)
{
    ck_assert(spmd_shape_equal(SPMD_SCALAR, SPMD_SCALAR));
    ck_assert(spmd_shape_equal(SPMD_SHAPE(2, 3), SPMD_SHAPE(2, 3)));
    ck_assert(!spmd_shape_equal(SPMD_SHAPE(2, 3), SPMD_SHAPE(3, 2)));
    ck_assert(!spmd_shape_equal(SPMD_SHAPE(2, 1), SPMD_SHAPE(2)));
    ck_assert(!spmd_shape_equal(SPMD_SHAPE(1), SPMD_SCALAR));
}
END_TEST

START_TEST(shapes_parse)
{
    spmd_shape shape = SPMD_SHAPE(1);
    ASSERT_OK(spmd_shape_parse("8x4x3", &shape));
    ck_assert(spmd_shape_equal(shape, SPMD_SHAPE(8, 4, 3)));
    ASSERT_OK(spmd_shape_parse("", &shape));
    ck_assert(spmd_shape_equal(shape, SPMD_SCALAR));
    ASSERT_OK(spmd_shape_parse(" 0 x 7 ", &shape));
    ck_assert(spmd_shape_equal(shape, SPMD_SHAPE(0, 7)));
    ASSERT_OK(spmd_shape_parse("9223372036854775807", &shape));
    ck_assert_int_eq(shape.dim[0], INT64_MAX);
    ASSERT_OK(spmd_shape_parse("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2", &shape));
    ck_assert_int_eq(shape.ndim, SPMD_MAX_DIMS);
}
END_TEST

START_TEST(shape_errors_name_the_text)
{
    static const char *const wrong[] = {"8x",  "x8",  "8,4", "-1",   "8x-4",
                                        "axb", "8 4", "1.5", "0x8x", "8xx4"};
    spmd_shape shape = SPMD_SHAPE(5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(spmd_shape_parse(wrong[i], &shape), SPMD_ERR_SYNTAX, wrong[i]);
    ck_assert_int_eq(spmd_shape_parse("9223372036854775808", &shape), SPMD_ERR_SYNTAX);
    ASSERT_FAILS(spmd_shape_parse("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", &shape), SPMD_ERR_SYNTAX,
                 "16");
    ck_assert_int_ne(spmd_shape_parse(NULL, &shape), SPMD_OK);
    ck_assert(spmd_shape_equal(shape, SPMD_SHAPE(5)));
}
END_TEST

START_TEST(borrowed_blocks_are_dense)
{
    float data[6] = {0};
    spmd_block block = spmd_block_borrow(data, SPMD_F32, SPMD_SHAPE(2, 3));
    ck_assert_ptr_eq(block.data, data);
    ck_assert_int_eq(block.dtype, SPMD_F32);
    ck_assert_int_eq(spmd_block_size(&block), 6);
    ck_assert(spmd_shape_equal(spmd_block_shape(&block), SPMD_SHAPE(2, 3)));
    ck_assert_int_eq(block.stride[0], 3);
    ck_assert_int_eq(block.stride[1], 1);
    ck_assert_int_eq(block.offset[0], 0);
    ck_assert_int_eq(block.global[0], 2);
    ck_assert_int_eq(block.global[1], 3);
    ck_assert_int_eq(block.replica, 0);
    block = spmd_block_borrow(data, SPMD_F32, SPMD_SCALAR);
    ck_assert_int_eq(spmd_block_size(&block), 1);
    block = spmd_block_borrow(data, SPMD_F32, SPMD_SHAPE(3, 0));
    ck_assert_int_eq(spmd_block_size(&block), 0);
}
END_TEST

UNIT_MAIN("types", dtypes_have_sizes_and_names, dtypes_parse_both_spellings,
          dtype_errors_name_the_text, shape_macros, shape_sizes, a_type_that_is_too_large_is_told,
          shapes_compare, shapes_parse, shape_errors_name_the_text, borrowed_blocks_are_dense)
