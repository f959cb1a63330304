/* checksum.c - unit tests of the checksums of arrays. */
#include <stdint.h>

#include "core/checksum.h"
#include "core/rows.h"
#include "unit.h"

enum { ELEMENTS = 3 * 5 * 7, BYTES = ELEMENTS * 16 };

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static void fill(unsigned char *data, size_t bytes)
{
    uint32_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (unsigned char)(state >> 24);
    }
}

/* The definition, of words of 8 bytes. */
START_TEST(is_splitmix64)
{
    const uint64_t bits[2] = {0, 42};
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t x = bits[i] + (i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        wanted += x ^ x >> 31;
    }
    ck_assert_uint_eq(spmd__checksum_run(SPMD_I64, 0, 2, bits), wanted);
    /* The first output of splitmix64 for the seed 0. */
    ck_assert_uint_eq(spmd__checksum_run(SPMD_U8, 0, 1, &(uint8_t){0}), 0xe220a8397b1dcdafu);
    ck_assert_uint_eq(spmd__checksum_run(SPMD_F64, 0, 1, bits), 0xe220a8397b1dcdafu);
    ck_assert_uint_eq(spmd__checksum_run(SPMD_C128, 0, 1, bits), wanted);
    ck_assert_uint_eq(spmd__checksum_run(SPMD_F32, 7, 0, NULL), 0);
}
END_TEST

/* A dense copy of a part, as a rank would hold it. */
static uint64_t checksum_of_part(spmd_dtype dtype, spmd_shape shape, const spmd_box *box,
                                 const unsigned char *whole)
{
    static _Alignas(64) unsigned char part[BYTES];
    size_t size = spmd_dtype_size(dtype);
    struct rows rows = spmd__rows_begin(shape, box);
    while (spmd__rows_next(&rows))
        memcpy(part + (size_t)rows.at * size, whole + (size_t)rows.first * size,
               (size_t)rows.count * size);
    spmd_block block = spmd_block_borrow(part, dtype, spmd_box_shape(box));
    for (int d = 0; d < shape.ndim; d++) {
        block.offset[d] = box->lo[d];
        block.global[d] = shape.dim[d];
    }
    return spmd__checksum_block(&block);
}

/* Any cut in any dimension, and of its halves again in another one. */
START_TEST(parts_add_up)
{
    static _Alignas(64) unsigned char data[BYTES];
    fill(data, sizeof data);
    const spmd_shape shape = SPMD_SHAPE(3, 5, 7);
    for (int t = 0; t < DTYPES; t++) {
        uint64_t whole = spmd__checksum_run(dtypes[t], 0, ELEMENTS, data);
        for (int d = 0; d < 3; d++)
            for (int64_t at = 0; at <= shape.dim[d]; at++) {
                int other = (d + 1) % 3;
                int64_t half = shape.dim[other] / 2;
                uint64_t sum = 0;
                for (int quarter = 0; quarter < 4; quarter++) {
                    spmd_box box = spmd_box_whole(shape);
                    *(quarter & 1 ? &box.lo[d] : &box.hi[d]) = at;
                    *(quarter & 2 ? &box.lo[other] : &box.hi[other]) = half;
                    sum += checksum_of_part(dtypes[t], shape, &box, data);
                }
                ck_assert_uint_eq(sum, whole);
            }
    }
}
END_TEST

START_TEST(scalars_and_empty_blocks)
{
    const float value = 3;
    spmd_block scalar = spmd_block_borrow((void *)&value, SPMD_F32, SPMD_SCALAR);
    ck_assert_uint_eq(spmd__checksum_block(&scalar), spmd__checksum_run(SPMD_F32, 0, 1, &value));
    spmd_block empty = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(4, 0));
    ck_assert_uint_eq(spmd__checksum_block(&empty), 0);
}
END_TEST

START_TEST(each_bit_counts)
{
    static _Alignas(64) unsigned char data[BYTES];
    fill(data, sizeof data);
    for (int t = 0; t < DTYPES; t++) {
        uint64_t whole = spmd__checksum_run(dtypes[t], 0, ELEMENTS, data);
        size_t bytes = spmd_dtype_size(dtypes[t]) * ELEMENTS;
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            ck_assert_uint_ne(spmd__checksum_run(dtypes[t], 0, ELEMENTS, data), whole);
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}
END_TEST

/* Damage that sums of simpler functions do not see: two signs, a shift, a swap, a lost end. */
START_TEST(patterns_count)
{
    enum { COUNT = 64 };
    uint32_t data[COUNT + 1], wrong[COUNT];
    fill((unsigned char *)data, sizeof data);
    uint64_t whole = spmd__checksum_run(SPMD_F32, 0, COUNT, data);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++) {
            memcpy(wrong, data, sizeof wrong);
            wrong[i] ^= 1u << 31;
            wrong[j] ^= 1u << 31;
            ck_assert_uint_ne(spmd__checksum_run(SPMD_F32, 0, COUNT, wrong), whole);
            wrong[i] = data[j];
            wrong[j] = data[i];
            ck_assert_uint_ne(spmd__checksum_run(SPMD_F32, 0, COUNT, wrong), whole);
        }
    ck_assert_uint_ne(spmd__checksum_run(SPMD_F32, 0, COUNT, data + 1), whole);
    memset(wrong, 0, sizeof wrong);
    ck_assert_uint_ne(spmd__checksum_run(SPMD_F32, 0, COUNT, wrong),
                      spmd__checksum_run(SPMD_F32, 0, COUNT - 1, wrong));
}
END_TEST

UNIT_MAIN("checksum", is_splitmix64, parts_add_up, scalars_and_empty_blocks, each_bit_counts,
          patterns_count)
