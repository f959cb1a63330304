/* repeats.c - unit tests of what happens a second time. */
#include "core/repeats.h"
#include "unit.h"

START_TEST(the_second_time_is_told_once)
{
    struct repeats repeats = {0};
    for (uint64_t time = 1; time <= 5; time++)
        for (uint64_t key = 0; key < 10; key++)
            ck_assert_int_eq(spmd__repeats_second(&repeats, key), time == 2);
}
END_TEST

START_TEST(what_comes_late_finds_no_room)
{
    struct repeats repeats = {0};
    const uint64_t most = REPEATS_MOST;
    for (uint64_t time = 1; time <= 3; time++)
        for (uint64_t key = 0; key < most + 10; key++)
            ck_assert_int_eq(spmd__repeats_second(&repeats, key), time == 2 && key < most);
    ck_assert_int_eq(repeats.count, REPEATS_MOST);
}
END_TEST

UNIT_MAIN("repeats", the_second_time_is_told_once, what_comes_late_finds_no_room)
