/* tell.c - unit tests of what is told on standard error. */
#include <fcntl.h>
#include <unistd.h>

#include "core/tell.h"
#include "unit.h"

/* Standard error is a pipe, which keeps what is written in one piece in one piece. */
static int ends[2], own;

static bool divert(void)
{
    if (pipe2(ends, O_DIRECT | O_NONBLOCK) != 0)
        return false;
    own = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    return true;
}

static void restore(void)
{
    dup2(own, STDERR_FILENO);
    close(own);
    close(ends[0]);
    close(ends[1]);
}

static void expect_piece(const char *wanted)
{
    char piece[256] = "";
    ssize_t bytes = read(ends[0], piece, sizeof piece - 1);
    ck_assert_int_eq(bytes, (ssize_t)strlen(wanted));
    ck_assert_str_eq(piece, wanted);
}

START_TEST(messages_are_in_one_piece)
{
    if (!divert())
        return;
    spmd__tell_error("rank %d: %s", 3, "no place");
    spmd__tell_warning("it takes %.1f s", 2.5);
    spmd__tell_note("%d of %d ranks hold nothing", 2, 4);
    expect_piece("spmd: error: rank 3: no place\n");
    expect_piece("spmd: warning: it takes 2.5 s\n");
    expect_piece("spmd: note: 2 of 4 ranks hold nothing\n");
    restore();
}
END_TEST

START_TEST(first_is_once)
{
    bool told = false, other = false;
    ck_assert(spmd__tell_first(&told));
    ck_assert(!spmd__tell_first(&told));
    ck_assert(spmd__tell_first(&other));
}
END_TEST

UNIT_MAIN("tell", messages_are_in_one_piece, first_is_once)
