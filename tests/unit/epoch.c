/* epoch.c - unit tests of the order in which an epoch takes rows. */
#include "core/epoch.h"
#include "unit.h"

enum { MOST_ROWS = 200 };

static void list_epoch(const struct ordering *ordering, int64_t index, int64_t rows[MOST_ROWS])
{
    struct epoch epoch = spmd__epoch_make(ordering, index);
    for (int64_t at = 0; at < ordering->rows; at++)
        rows[at] = spmd__epoch_row(&epoch, at);
}

static void expect_each_once(const struct ordering *ordering, const int64_t rows[MOST_ROWS])
{
    bool seen[MOST_ROWS] = {false};
    for (int64_t at = 0; at < ordering->rows; at++) {
        ck_assert(rows[at] >= 0 && rows[at] < ordering->rows && !seen[rows[at]]);
        seen[rows[at]] = true;
    }
}

START_TEST(rows_that_are_not_shuffled_stay)
{
    const struct ordering ordering = {.rows = 10};
    int64_t rows[MOST_ROWS];
    list_epoch(&ordering, 3, rows);
    for (int64_t at = 0; at < 10; at++)
        ck_assert_int_eq(rows[at], at);
}
END_TEST

START_TEST(epochs_have_orders_of_their_own)
{
    const struct ordering ordering = {.rows = 100, .shuffled = true, .key = {{1, 2}}};
    int64_t rows[2][MOST_ROWS], again[MOST_ROWS];
    for (int64_t e = 0; e < 2; e++) {
        list_epoch(&ordering, e, rows[e]);
        expect_each_once(&ordering, rows[e]);
    }
    list_epoch(&ordering, 0, again);
    ck_assert_mem_eq(rows[0], again, 100 * sizeof *again);
    ck_assert_mem_ne(rows[0], rows[1], 100 * sizeof *again);
}
END_TEST

START_TEST(windows_have_each_row_once)
{
    for (int64_t n = 1; n <= MOST_ROWS; n += 1 + n / 9)
        for (int64_t run = 1; run <= n; run += 1 + run / 3)
            for (int64_t window = run; window <= n; window += run) {
                const struct ordering ordering = {.rows = n,
                                                  .shuffled = true,
                                                  .key = {{(uint32_t)n, (uint32_t)run}},
                                                  .window = window,
                                                  .run = run};
                int64_t rows[MOST_ROWS];
                list_epoch(&ordering, 1, rows);
                expect_each_once(&ordering, rows);
            }
}
END_TEST

/* A window of w runs has rows of w of them, or of one more where a short one came before. */
START_TEST(windows_have_rows_of_few_runs)
{
    const struct ordering ordering = {
        .rows = 103, .shuffled = true, .key = {{3, 4}}, .window = 20, .run = 10};
    for (int64_t e = 0; e < 20; e++) {
        int64_t rows[MOST_ROWS];
        list_epoch(&ordering, e, rows);
        for (int64_t lo = 0; lo < ordering.rows; lo += ordering.window) {
            bool seen[11] = {false};
            int runs = 0;
            for (int64_t at = lo; at < ordering.rows && at < lo + ordering.window; at++) {
                runs += !seen[rows[at] / 10];
                seen[rows[at] / 10] = true;
            }
            ck_assert_int_le(runs, 3);
        }
    }
}
END_TEST

/* The last run, which is short, comes anywhere: not always at the end. */
START_TEST(a_short_run_has_no_place_of_its_own)
{
    const struct ordering ordering = {
        .rows = 93, .shuffled = true, .key = {{5, 6}}, .window = 10, .run = 10};
    int early = 0;
    for (int64_t e = 0; e < 100; e++) {
        int64_t rows[MOST_ROWS];
        list_epoch(&ordering, e, rows);
        for (int64_t at = 0; at < 45; at++)
            early += rows[at] == 92;
    }
    ck_assert(early > 25 && early < 75);
}
END_TEST

/* Positions can be asked for in any order. */
START_TEST(rows_are_found_out_of_turn)
{
    const struct ordering ordering = {
        .rows = 103, .shuffled = true, .key = {{3, 4}}, .window = 20, .run = 10};
    int64_t rows[MOST_ROWS];
    list_epoch(&ordering, 7, rows);
    struct epoch epoch = spmd__epoch_make(&ordering, 7);
    for (int64_t i = 0, at = 50; i < ordering.rows; i++, at = (at + 64) % ordering.rows)
        ck_assert_int_eq(spmd__epoch_row(&epoch, at), rows[at]);
}
END_TEST

UNIT_MAIN("epoch", rows_that_are_not_shuffled_stay, epochs_have_orders_of_their_own,
          windows_have_each_row_once, windows_have_rows_of_few_runs,
          a_short_run_has_no_place_of_its_own, rows_are_found_out_of_turn)
