/* cost.c - unit tests of the table of costs: its text, its file, and what is cheaper. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/cost.h"
#include "unit.h"

START_TEST(what_is_not_named_has_its_default)
{
    struct costs costs, usual = spmd__costs_default();
    ASSERT_OK(
        spmd__costs_parse("# mine\n\nmessage_latency = 2.5e-5 # s\n\tpool_from=inf\r\n", &costs));
    ck_assert_double_eq(costs.message_latency, 2.5e-5);
    ck_assert(isinf(costs.pool_from));
    ck_assert_double_eq(costs.message_rate, usual.message_rate);
    ck_assert_double_eq(costs.collective_latency, usual.collective_latency);
    ck_assert_double_eq(costs.stream_from, usual.stream_from);
    ASSERT_OK(spmd__costs_parse("", &costs));
    ck_assert_double_eq(costs.pool_from, 65536);
}
END_TEST

START_TEST(wrong_texts_are_told)
{
    struct costs costs = {.pool_from = 42};
    ASSERT_FAILS(spmd__costs_parse("\npool_form = 1\n", &costs), SPMD_ERR_SYNTAX,
                 "line 2: there is no cost pool_form; there are message_latency, ");
    ASSERT_FAILS(spmd__costs_parse("pool_from 1\n", &costs), SPMD_ERR_SYNTAX,
                 "line 1, column 11: a line is \"name = value\"");
    ASSERT_FAILS(spmd__costs_parse("pool_from = 64 KiB\n", &costs), SPMD_ERR_SYNTAX,
                 "line 1, column 16");
    ASSERT_FAILS(spmd__costs_parse("pool_from = 1\n\npool_from = 1", &costs), SPMD_ERR_SYNTAX,
                 "line 3: pool_from stands twice");
    ASSERT_FAILS(spmd__costs_parse("pool_from = -1", &costs), SPMD_ERR_SYNTAX,
                 "line 1: pool_from is a number of at least 0");
    ASSERT_FAILS(spmd__costs_parse("message_rate = 0", &costs), SPMD_ERR_SYNTAX, "at least 1");
    ASSERT_FAILS(spmd__costs_parse("message_rate = nan", &costs), SPMD_ERR_SYNTAX, "at least 1");
    ck_assert_double_eq(costs.pool_from, 42);
}
END_TEST

/* Reads a file of these bytes. */
static spmd_status read_file(const char *bytes, size_t size, struct costs *costs)
{
    char path[] = "/tmp/spmd-cost.XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, bytes, size), (int)size);
    close(file);
    spmd_status status = spmd__costs_read(path, costs);
    unlink(path);
    return status;
}

START_TEST(files_are_read)
{
    static char large[1 << 16];
    struct costs costs;
    ASSERT_OK(read_file("pool_from = 7", 13, &costs));
    ck_assert_double_eq(costs.pool_from, 7);
    ASSERT_FAILS(read_file("pool_from = 7\0", 14, &costs), SPMD_ERR_SYNTAX, "it is no text");
    ASSERT_FAILS(read_file(large, sizeof large, &costs), SPMD_ERR_FILE, "of less than 65536 bytes");
    ASSERT_FAILS(spmd__costs_read("/nonexistent/costs", &costs), SPMD_ERR_FILE, "cannot open it");
    ASSERT_FAILS(spmd__costs_read("/tmp", &costs), SPMD_ERR_FILE, "no regular file");
}
END_TEST

static bool collective_wins(struct cost_move move)
{
    struct costs costs = spmd__costs_default();
    return spmd__cost_collective(&costs, &move) < spmd__cost_messages(&costs, &move);
}

START_TEST(collectives_win_for_many_small_parts)
{
    for (int kind = MOVE_ALL_GATHER; kind <= MOVE_ALL_TO_ALL; kind++) {
        ck_assert(!collective_wins((struct cost_move){kind, 2, true, 8})); /* one message does */
        ck_assert(!collective_wins((struct cost_move){kind, 2, true, 1e9}));
        ck_assert(collective_wins((struct cost_move){kind, 64, true, 64 * 8}));
        ck_assert(!collective_wins((struct cost_move){kind, 64, true, 1e9}));
        ck_assert(collective_wins((struct cost_move){kind, 65536, true, 65536 * 8}));
    }
    ck_assert(collective_wins((struct cost_move){MOVE_ALL_GATHER, 64, true, 1e5}));
    ck_assert(collective_wins((struct cost_move){MOVE_ALL_GATHER, 64, false, 1e5}));
    /* Here data travels several times, or as many messages go. */
    ck_assert(!collective_wins((struct cost_move){MOVE_ALL_TO_ALL, 64, true, 1e5}));
    ck_assert(!collective_wins((struct cost_move){MOVE_ALL_TO_ALL, 64, false, 64 * 8}));
}
END_TEST

START_TEST(costs_add_up)
{
    struct costs costs;
    const struct cost_move move = {MOVE_ALL_GATHER, 5, true, 40};
    ASSERT_OK(spmd__costs_parse("message_latency = 1\nmessage_rate = 10\n"
                                "collective_latency = 2\ncollective_rate = 20\n",
                                &costs));
    ck_assert_double_eq(spmd__cost_messages(&costs, &move), 4 * 1 + 4);
    ck_assert_double_eq(spmd__cost_collective(&costs, &move), 3 * 2 + 2);
    const struct {
        struct cost_move move;
        double seconds;
    } swaps[] = {
        {{MOVE_ALL_TO_ALL, 5, true, 40}, 3 * 2 + 2 * 1.5},
        {{MOVE_ALL_TO_ALL, 5, true, 400}, 4 * 2 + 20},
        {{MOVE_ALL_TO_ALL, 5, false, 40}, 4 * 2 + 2},
        {{MOVE_ALL_TO_ALL, 64, true, 40}, 6 * 2 + 2 * 3},
        {{MOVE_ALL_TO_ALL, 2, true, 40}, 2 + 2},
    };
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++)
        ck_assert_double_eq(spmd__cost_collective(&costs, &swaps[i].move), swaps[i].seconds);
}
END_TEST

START_TEST(what_fits_the_cache_goes_through_it)
{
    struct costs costs = {.stream_from = 1000, .stream_all_from = 4};
    ck_assert_int_eq(spmd__cost_stores(&costs, 1000, 8), STORES_CACHED);
    ck_assert_int_eq(spmd__cost_stores(&costs, 1001, 3), STORES_MIXED);
    ck_assert_int_eq(spmd__cost_stores(&costs, 1001, 4), STORES_PAST_CACHE);
}
END_TEST

UNIT_MAIN("cost", what_is_not_named_has_its_default, wrong_texts_are_told, files_are_read,
          collectives_win_for_many_small_parts, costs_add_up, what_fits_the_cache_goes_through_it)
