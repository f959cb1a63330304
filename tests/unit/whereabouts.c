/* whereabouts.c - unit tests of who is where, in few words. */
#include "core/whereabouts.h"

#include "unit.h"

static const char *print(int64_t n, const int names[], const char *const phrases[])
{
    static char buffer[256];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__whereabouts_print(&text, n, names, phrases);
    return buffer;
}

static const int names[] = {4, 5, 6, 7, 8, 9, 10, 11};

START_TEST(equal_phrases_stand_together)
{
    ck_assert_str_eq(print(1, names, (const char *const[]){"here"}), "rank 4 here");
    ck_assert_str_eq(print(4, names, (const char *const[]){"here", "there", "here", "there"}),
                     "ranks 4, 6 here; ranks 5, 7 there");
    ck_assert_str_eq(print(3, names, (const char *const[]){"a", "b", "c"}),
                     "rank 4 a; rank 5 b; rank 6 c");
}
END_TEST

START_TEST(ranks_of_which_nothing_is_known_are_left_out)
{
    ck_assert_str_eq(print(3, names, (const char *const[]){NULL, "here", NULL}), "rank 5 here");
    ck_assert_str_eq(print(2, names, (const char *const[]){NULL, NULL}), "");
}
END_TEST

START_TEST(long_lists_are_cut)
{
    ck_assert_str_eq(print(4, names, (const char *const[]){"a", "a", "a", "a"}),
                     "ranks 4, 5, 6, 7 a");
    ck_assert_str_eq(print(6, names, (const char *const[]){"a", "a", "b", "a", "a", "a"}),
                     "ranks 4, 5, 7 and 2 more a; rank 6 b");
    ck_assert_str_eq(print(8, names, (const char *const[]){"a", "b", "c", "d", "e", "f", "g", "h"}),
                     "rank 4 a; rank 5 b; rank 6 c; rank 7 d; rank 8 e; rank 9 f; others in 2 "
                     "more places");
}
END_TEST

UNIT_MAIN("whereabouts", equal_phrases_stand_together, ranks_of_which_nothing_is_known_are_left_out,
          long_lists_are_cut)
