/* unit.h - how a unit test is written: Check's tests, and the one main that runs them.
 *
 *     START_TEST(cuts_overlap) { ... } END_TEST
 *     UNIT_MAIN("box", cuts_overlap, ...)
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <spmd/error.h>

/* The call succeeds. */
#define ASSERT_OK(call) ck_assert_msg((call) == SPMD_OK, #call ": %s", spmd_error_message())

/* The call fails with this status and a message that has `part` in it. */
#define ASSERT_FAILS(call, status, part) unit_assert_fails((call), (status), (part), #call)

static inline void unit_assert_fails(spmd_status got, spmd_status status, const char *part,
                                     const char *call)
{
    ck_assert_msg(got == status, "%s: %s instead of %s: %s", call, spmd_status_name(got),
                  spmd_status_name(status), got == SPMD_OK ? "" : spmd_error_message());
    ck_assert_msg(strstr(spmd_error_message(), part), "%s: \"%s\" does not say \"%s\"", call,
                  spmd_error_message(), part);
}

#define UNIT_MAIN(name, ...)                                         \
    int main(void)                                                   \
    {                                                                \
        const TTest *const tests[] = {__VA_ARGS__};                  \
        return unit_main(name, tests, sizeof tests / sizeof *tests); \
    }

static inline int unit_main(const char *name, const TTest *const tests[], size_t ntests)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 0); /* tests/run has the time limit */
    for (size_t i = 0; i < ntests; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
