/* ways_none.c - no shared memory at all: everything goes by messages, and that is told once. */
#include "moves.h"

static void everything_goes_by_messages(void)
{
    moves_limit_pool(0);
    struct moves_notes notes = moves_catch();
    moves_expect("auto", true, false);
    moves_expect("pool", true, false);
    moves_expect("messages", true, false);
    EXPECT(moves_noted(&notes, "the ranks of this node cannot see each other's memory (File too "
                               "large): blocks go by messages"));
}

int main(int argc, char **argv)
{
    const struct harness_case cases[] = {CASE(everything_goes_by_messages)};
    moves_leave_mpi_out();
    return harness_main(&argc, &argv, "ways_none", cases, 1);
}
