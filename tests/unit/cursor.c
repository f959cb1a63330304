/* cursor.c - unit tests of the parsers' cursor. */
#include "core/cursor.h"

#include "unit.h"

START_TEST(cursor_takes_literals_after_blanks)
{
    const char *start = " \t( x";
    struct cursor cursor = {start, start};
    ck_assert(!spmd__cursor_take(&cursor, ")"));
    ck_assert(spmd__cursor_take(&cursor, "("));
    ck_assert(!spmd__cursor_at_end(&cursor));
    ck_assert(spmd__cursor_take(&cursor, "x"));
    ck_assert(spmd__cursor_at_end(&cursor));
    ck_assert(!spmd__cursor_take(&cursor, "x"));
}
END_TEST

START_TEST(cursor_reads_names)
{
    const char *start = "  _a1-b 2c", *name = NULL;
    struct cursor cursor = {start, start};
    ck_assert_uint_eq(spmd__cursor_name(&cursor, &name), 3);
    ck_assert_int_eq(strncmp(name, "_a1", 3), 0);
    ck_assert_uint_eq(spmd__cursor_name(&cursor, &name), 0);
    ck_assert(spmd__cursor_take(&cursor, "-"));
    ck_assert_uint_eq(spmd__cursor_name(&cursor, &name), 1);
    ck_assert_uint_eq(spmd__cursor_name(&cursor, &name), 0);
}
END_TEST

START_TEST(cursor_reads_numbers)
{
    const char *start = " 007,9223372036854775807,9223372036854775808";
    struct cursor cursor = {start, start};
    int64_t number = -1;
    ck_assert(spmd__cursor_number(&cursor, &number));
    ck_assert_int_eq(number, 7);
    ck_assert(!spmd__cursor_number(&cursor, &number));
    ck_assert(!spmd__cursor_too_large(&cursor));
    ck_assert(spmd__cursor_take(&cursor, ","));
    ck_assert(spmd__cursor_number(&cursor, &number));
    ck_assert_int_eq(number, INT64_MAX);
    ck_assert(spmd__cursor_take(&cursor, ","));
    ck_assert(!spmd__cursor_number(&cursor, &number));
    ck_assert(spmd__cursor_too_large(&cursor));
    ck_assert_int_eq(number, INT64_MAX);
}
END_TEST

START_TEST(cursor_refuses_signs)
{
    const char *start = "-1";
    struct cursor cursor = {start, start};
    int64_t number = 0;
    ck_assert(!spmd__cursor_number(&cursor, &number));
    ck_assert_ptr_eq(cursor.at, start);
}
END_TEST

START_TEST(cursor_tells_its_column)
{
    const char *start = "ab cd";
    struct cursor cursor = {start, start};
    const char *name;
    ck_assert_int_eq(spmd__cursor_column(&cursor), 1);
    spmd__cursor_name(&cursor, &name);
    ck_assert_int_eq(spmd__cursor_column(&cursor), 3);
    ck_assert(!spmd__cursor_take(&cursor, "x"));
    ck_assert_int_eq(spmd__cursor_column(&cursor), 4);
}
END_TEST

UNIT_MAIN("cursor", cursor_takes_literals_after_blanks, cursor_reads_names, cursor_reads_numbers,
          cursor_refuses_signs, cursor_tells_its_column)
