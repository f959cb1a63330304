/* text.c - unit tests of strings that are printed piece by piece. */
#include "core/text.h"

#include "core/absent.h"
#include "unit.h"

START_TEST(text_grows)
{
    char buffer[32];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    ck_assert_str_eq(buffer, "");
    spmd__text_add(&text, "x=%d", 4);
    spmd__text_add(&text, ",%s", "y=2");
    ck_assert_str_eq(buffer, "x=4,y=2");
    ck_assert_uint_eq(text.length, 7);
}
END_TEST

START_TEST(text_counts_what_does_not_fit)
{
    char buffer[6] = "#####";
    struct text text = spmd__text_begin(buffer, 5);
    spmd__text_add(&text, "abc");
    spmd__text_add(&text, "defg");
    spmd__text_add(&text, "hi");
    ck_assert_str_eq(buffer, "abcd");
    ck_assert_uint_eq(text.length, 9);
    ck_assert_int_eq(buffer[5], '\0');
}
END_TEST

START_TEST(text_fits_exactly)
{
    char buffer[4];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__text_add(&text, "abc");
    ck_assert_str_eq(buffer, "abc");
    spmd__text_add(&text, "%s", "");
    ck_assert_uint_eq(text.length, 3);
}
END_TEST

START_TEST(text_may_have_no_buffer)
{
    struct text text = spmd__text_begin(NULL, 0);
    spmd__text_add(&text, "%d", 12345);
    spmd__text_add(&text, "%d", 67);
    ck_assert_uint_eq(text.length, 7);
}
END_TEST

START_TEST(bytes_have_units)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},        {1023, "1023 B"},     {1536, "1.5 KiB"},       {1048576, "1 MiB"},
        {0x1p63, "8 EiB"}, {0x1p93, "8192 YiB"}, {1047527424, "999 MiB"}, {1e6, "976.6 KiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[32];
        struct text text = spmd__text_begin(buffer, sizeof buffer);
        spmd__text_add_bytes(&text, cases[i].bytes);
        ck_assert_str_eq(buffer, cases[i].text);
    }
}
END_TEST

START_TEST(absent_numbers_are_told_with_those_there_are)
{
    ck_assert_str_eq(spmd__absent("dim", 2, -2, 2).text, "there is no dim 2, only -2 to 1");
    ck_assert_str_eq(spmd__absent("input", -1, 0, 1).text, "there is no input -1, only 0");
    ck_assert_str_eq(spmd__absent("dim", 0, 0, 0).text, "there is no dim 0, there are none");
    ck_assert_str_eq(spmd__absent("epoch", INT64_MIN, 0, INT64_MAX).text,
                     "there is no epoch -9223372036854775808, only 0 to 9223372036854775806");
}
END_TEST

UNIT_MAIN("text", absent_numbers_are_told_with_those_there_are, text_grows,
          text_counts_what_does_not_fit, text_fits_exactly, text_may_have_no_buffer,
          bytes_have_units)
