/* harness.c - runs the cases of an MPI test under Check and agrees on each one's verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "harness.h"

int test_rank, test_size;
bool test_checks;

static const struct harness_case *all_cases;
static int failures;      /* expectations of the running case that do not hold on this rank */
static char skipped[128]; /* why it does not run; empty: it does */

static bool count(bool holds, const char *file, int line, const char *text, const char *why)
{
    if (!holds) {
        failures++;
        fprintf(stderr, "rank %d of %d: %s:%d: %s%s\n", test_rank, test_size, file, line, text,
                why);
    }
    return holds;
}

bool harness_expect(bool holds, const char *file, int line, const char *text)
{
    return count(holds, file, line, text, "");
}

bool harness_expect_ok(spmd_status status, const char *file, int line, const char *text)
{
    char why[2048] = "";

    if (status != SPMD_OK)
        snprintf(why, sizeof why, ": %s: %s", spmd_status_name(status), spmd_error_message());
    return count(status == SPMD_OK, file, line, text, why);
}

bool harness_expect_fails(spmd_status status, spmd_status wanted, const char *part,
                          const char *file, int line, const char *text)
{
    bool holds = status == wanted && strstr(spmd_error_message(), part);
    char why[2048] = "";

    if (!holds)
        snprintf(why, sizeof why, ": %s: %s (wanted %s: ...%s...)", spmd_status_name(status),
                 status == SPMD_OK ? "" : spmd_error_message(), spmd_status_name(wanted), part);
    return count(holds, file, line, text, why);
}

void harness_skip(const char *reason)
{
    snprintf(skipped, sizeof skipped, " # SKIP %s", reason);
}

/* Runs case number _i. The reduction also keeps the ranks together from case to case. */
START_TEST(run_case)
{
    int total;

    failures = 0;
    skipped[0] = '\0';
    all_cases[_i].run();
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test_rank == 0) {
        printf("%s %d - np=%d - %s%s\n", total == 0 ? "ok" : "not ok", _i + 1, test_size,
               all_cases[_i].name, skipped);
        fflush(stdout);
    }
    ck_assert_msg(total == 0, "%d expectations of %s do not hold", total, all_cases[_i].name);
}
END_TEST

/* Without forks, which MPI does not survive; the report is TAP's, so Check's own is not wanted. */
static int run_all(const char *suite_name, int ncases)
{
    Suite *suite = suite_create(suite_name);
    TCase *tcase = tcase_create(suite_name);
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tcase, run_case, 0, ncases);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}

int harness_main(int *argc, char ***argv, const char *suite, const struct harness_case cases[],
                 int ncases)
{
    int failed;

    const char *check = getenv("SPMD_CHECK");
    test_checks = check && strcmp(check, "1") == 0;
    all_cases = cases;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (test_rank == 0)
        printf("1..%d\n", ncases);
    failed = run_all(suite, ncases);
    MPI_Finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
