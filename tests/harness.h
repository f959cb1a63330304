/* harness.h - how an MPI test is written: cases of expectations that hold on any number of ranks.
 *
 *     static void arange_counts(void)
 *     {
 *         spmd_array *a = NULL;
 *         EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(7), &a));
 *         EXPECT(spmd_array_dtype(a) == SPMD_I64);
 *         spmd_array_free(&a);
 *     }
 *     HARNESS_MAIN("array", CASE(arange_counts))
 *
 * An expectation that does not hold is told and counted; it does not jump, since the other
 * ranks go on into the case's next collective call. After each case the ranks add up their
 * counts: it passes or fails everywhere, and the next one runs. Rank 0 prints TAP. Start it
 * with tests/run, which does so at several rank counts. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>

#include <mpi.h>
#include <spmd.h>

/* This process among MPI_COMM_WORLD. */
extern int test_rank, test_size;

/* Whether SPMD_CHECK=1 in the environment: then more is checked, and so agreed on, than else. */
extern bool test_checks;

/* The condition holds. */
#define EXPECT(...) harness_expect((__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

/* The call succeeds. */
#define EXPECT_OK(...) harness_expect_ok((__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

/* The call fails with this status and a message that has `part` in it:
 * EXPECT_FAILS(call, status, part). */
#define EXPECT_FAILS(call, ...) harness_expect_fails((call), __VA_ARGS__, __FILE__, __LINE__, #call)

/* Each gives the verdict, for a case that has to leave something out after a failure. */
bool harness_expect(bool holds, const char *file, int line, const char *text);
bool harness_expect_ok(spmd_status status, const char *file, int line, const char *text);
bool harness_expect_fails(spmd_status status, spmd_status wanted, const char *part,
                          const char *file, int line, const char *text);

/* Says why a case does not run here: on all ranks alike, before it expects anything. */
void harness_skip(const char *reason);

struct harness_case {
    const char *name;
    void (*run)(void);
};

static inline struct harness_case harness_case(const char *name, void (*run)(void))
{
    return (struct harness_case){name, run};
}

#define CASE(function) harness_case(#function, function)

#define HARNESS_MAIN(suite, ...)                                                              \
    int main(int argc, char **argv)                                                           \
    {                                                                                         \
        const struct harness_case cases[] = {__VA_ARGS__};                                    \
        return harness_main(&argc, &argv, suite, cases, (int)(sizeof cases / sizeof *cases)); \
    }

/* Runs the cases [ncases] between MPI_Init and MPI_Finalize; gives the exit code. */
int harness_main(int *argc, char ***argv, const char *suite, const struct harness_case cases[],
                 int ncases);

#endif
