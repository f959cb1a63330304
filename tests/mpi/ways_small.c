/* ways_small.c - shared memory that is too small for blocks: other ways take its place, and that is
 * told once. */
#include "moves.h"

static void blocks_without_shared_memory_are_read(void)
{
    moves_limit_pool(1 << 17);
    struct moves_notes notes = moves_catch();
    moves_expect("auto", false, true);
    moves_expect("readv", false, true);
    EXPECT(moves_noted(&notes, "no more shared memory for blocks (File too large): others are read "
                               "by process_vm_readv"));
}

static void short_runs_go_by_messages(void)
{
    moves_make("auto", "P(x)", "P(-,x)");
    moves_are(true, false);
    moves_make("readv", "P(x)", "P(-,x)");
    moves_are(false, true);
}

static void others_go_by_messages_where_that_is_forced(void)
{
    struct moves_notes notes = moves_catch();
    moves_expect("pool", true, false);
    moves_expect("messages", true, false);
    EXPECT(moves_noted(&notes, NULL));
}

int main(int argc, char **argv)
{
    const struct harness_case cases[] = {CASE(blocks_without_shared_memory_are_read),
                                         CASE(short_runs_go_by_messages),
                                         CASE(others_go_by_messages_where_that_is_forced)};
    moves_leave_mpi_out();
    return harness_main(&argc, &argv, "ways_small", cases, (int)(sizeof cases / sizeof *cases));
}
