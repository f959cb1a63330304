/* setting.c - unit tests of what the environment says of each setting. */
#include "core/setting.h"
#include "unit.h"

static int choose(spmd_setting setting)
{
    int choice = -1;
    ASSERT_OK(spmd__setting_choose(setting, &choice));
    return choice;
}

START_TEST(the_first_word_counts_without_one)
{
    unsetenv("SPMD_MOVE");
    ck_assert_int_eq(choose(SPMD_SETTING_MOVE), 0);
    setenv("SPMD_MOVE", "", 1);
    ck_assert_int_eq(choose(SPMD_SETTING_MOVE), 0);
}
END_TEST

START_TEST(words_are_numbered)
{
    const char *const words[] = {"auto", "pool", "readv", "messages", "collective"};
    for (int i = 0; i < 5; i++) {
        ck_assert_str_eq(spmd__setting_word(SPMD_SETTING_MOVE, i).text, words[i]);
        setenv("SPMD_MOVE", words[i], 1);
        ck_assert_int_eq(choose(SPMD_SETTING_MOVE), i);
    }
    ck_assert_str_eq(spmd__setting_word(SPMD_SETTING_MOVE, 5).text, "");
    setenv("SPMD_STRICT", "1", 1);
    ck_assert_int_eq(choose(SPMD_SETTING_STRICT), 1);
}
END_TEST

START_TEST(other_words_are_told_with_the_list)
{
    const char *const wrong[] = {"or", "pool,", "auto, pool", "a", "pools", "POOL", " "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("SPMD_MOVE", wrong[i], 1);
        ASSERT_FAILS(spmd_setting_check(SPMD_SETTING_MOVE), SPMD_ERR_ARGUMENT,
                     "in the environment: it is auto, pool, readv, messages or collective");
    }
    setenv("SPMD_STRICT", "yes", 1);
    ASSERT_FAILS(spmd_setting_check(SPMD_SETTING_STRICT), SPMD_ERR_ARGUMENT,
                 "SPMD_STRICT=yes in the environment: it is 0 or 1");
}
END_TEST

START_TEST(seconds_are_a_number)
{
    double seconds = -1;
    unsetenv("SPMD_WATCHDOG");
    ASSERT_OK(spmd__setting_read_watchdog(&seconds));
    ck_assert_double_eq(seconds, 0);
    setenv("SPMD_WATCHDOG", "0.5", 1);
    ASSERT_OK(spmd__setting_read_watchdog(&seconds));
    ck_assert_double_eq(seconds, 0.5);
    setenv("SPMD_WATCHDOG", "soon", 1);
    ASSERT_FAILS(spmd_setting_check(SPMD_SETTING_WATCHDOG), SPMD_ERR_ARGUMENT,
                 "SPMD_WATCHDOG=soon in the environment: it is a number of seconds");
}
END_TEST

START_TEST(all_are_checked)
{
    const char *const names[] = {
#define NAME(name, values, meaning) "SPMD_" #name,
        SPMD_SETTING_MAP(NAME)
#undef NAME
    };
    int count = sizeof names / sizeof *names;
    for (int i = 0; i < count; i++) {
        unsetenv(names[i]);
        ASSERT_OK(spmd_setting_check((spmd_setting)i));
        setenv(names[i], "/nonexistent", 1);
        ck_assert_int_ne(spmd_setting_check((spmd_setting)i), SPMD_OK);
        ck_assert_ptr_nonnull(strstr(spmd_error_message(), names[i]));
    }
    ASSERT_FAILS(spmd_setting_check((spmd_setting)count), SPMD_ERR_ARGUMENT,
                 "no setting 7, only 0 to 6");
}
END_TEST

UNIT_MAIN("setting", the_first_word_counts_without_one, words_are_numbered,
          other_words_are_told_with_the_list, seconds_are_a_number, all_are_checked)
