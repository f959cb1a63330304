/* error.c - unit tests of status names and of each thread's last message. */
#include <pthread.h>
#include <stdio.h>

#include "core/error.h"
#include "unit.h"

START_TEST(statuses_have_names)
{
    ck_assert_str_eq(spmd_status_name(SPMD_OK), "SPMD_OK");
    ck_assert_str_eq(spmd_status_name(SPMD_ERR_SPEC), "SPMD_ERR_SPEC");
    ck_assert_str_eq(spmd_status_name(SPMD_ERR_BODY), "SPMD_ERR_BODY");
    ck_assert_str_eq(spmd_status_meaning(SPMD_ERR_MEMORY), "out of memory");
    for (int status = SPMD_OK; status <= SPMD_ERR_BODY; status++) {
        ck_assert_str_ne(spmd_status_name((spmd_status)status), "");
        ck_assert_str_ne(spmd_status_meaning((spmd_status)status), "");
    }
    ck_assert_ptr_nonnull(spmd_status_name((spmd_status)999));
    ck_assert_ptr_nonnull(spmd_status_meaning((spmd_status)-1));
}
END_TEST

START_TEST(failing_records_the_message)
{
    ck_assert_int_eq(spmd_fail(SPMD_ERR_SHAPE, "dim %d of %d", 1, 2), SPMD_ERR_SHAPE);
    ck_assert_str_eq(spmd_error_message(), "dim 1 of 2");
    ck_assert_str_eq(spmd_error_place(), "");
}
END_TEST

static int inner_line;

static spmd_status fails_within(void)
{
    inner_line = __LINE__ + 1;
    SPMD_TRY(spmd_fail(SPMD_ERR_SHAPE, "dim %d of %d", 1, 2));
    return SPMD_OK;
}

static spmd_status passes_on(void)
{
    SPMD_TRY(fails_within());
    return SPMD_OK;
}

START_TEST(the_first_try_is_the_place)
{
    char place[64];
    ck_assert_int_eq(passes_on(), SPMD_ERR_SHAPE);
    snprintf(place, sizeof place, "error.c:%d: spmd_fail(...)", inner_line);
    ck_assert_ptr_nonnull(strstr(spmd_error_place(), place));
    spmd_fail(SPMD_ERR_SHAPE, "another one");
    ck_assert_str_eq(spmd_error_place(), "");
}
END_TEST

START_TEST(success_keeps_the_last_message)
{
    spmd_fail(SPMD_ERR_FILE, "first");
    ck_assert_int_eq(spmd_status_name(SPMD_OK)[0], 'S');
    ck_assert_str_eq(spmd_error_message(), "first");
    spmd_fail(SPMD_ERR_FILE, "second");
    ck_assert_str_eq(spmd_error_message(), "second");
}
END_TEST

START_TEST(message_may_be_wrapped)
{
    spmd_fail(SPMD_ERR_FILE, "no such file");
    spmd_fail(SPMD_ERR_FILE, "reading x: %s", spmd_error_message());
    ck_assert_str_eq(spmd_error_message(), "reading x: no such file");
}
END_TEST

START_TEST(long_messages_are_cut)
{
    char *text = malloc(3 * ERROR_MESSAGE_BYTES);
    memset(text, 'm', 3 * ERROR_MESSAGE_BYTES);
    text[3 * ERROR_MESSAGE_BYTES - 1] = '\0';
    ck_assert_int_eq(spmd_fail(SPMD_ERR_BODY, "start %s", text), SPMD_ERR_BODY);
    ck_assert_uint_eq(strlen(spmd_error_message()), ERROR_MESSAGE_BYTES - 1);
    ck_assert_int_eq(strncmp(spmd_error_message(), "start mmm", 9), 0);
    text[ERROR_MESSAGE_BYTES - 1] = '\0';
    spmd_fail(SPMD_ERR_BODY, "%s", text);
    ck_assert_str_eq(spmd_error_message(), text);
    free(text);
}
END_TEST

/* A thread begins with an empty message. */
static void *fail_elsewhere(void *seen)
{
    *(bool *)seen = strcmp(spmd_error_message(), "") == 0;
    spmd_fail(SPMD_ERR_MPI, "another thread's");
    *(bool *)seen = *(bool *)seen && strcmp(spmd_error_message(), "another thread's") == 0;
    return NULL;
}

START_TEST(each_thread_has_its_own)
{
    pthread_t thread;
    bool as_expected = false;
    spmd_fail(SPMD_ERR_MESH, "this thread's");
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, &as_expected), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(as_expected);
    ck_assert_str_eq(spmd_error_message(), "this thread's");
}
END_TEST

static spmd_status pass_on(spmd_status status, bool *reached)
{
    SPMD_TRY(status);
    *reached = true;
    return SPMD_OK;
}

START_TEST(a_status_is_no_call)
{
    bool reached = false;
    spmd_fail(SPMD_ERR_DTYPE, "kept, and passed on later");
    pass_on(SPMD_ERR_DTYPE, &reached);
    const char *place = spmd_error_place();
    ck_assert_str_eq(place + strlen(place) - strlen(": status"), ": status");
}
END_TEST

START_TEST(try_passes_failures_on)
{
    bool reached = false;
    ck_assert_int_eq(pass_on(SPMD_ERR_DTYPE, &reached), SPMD_ERR_DTYPE);
    ck_assert(!reached);
    ck_assert_int_eq(pass_on(SPMD_OK, &reached), SPMD_OK);
    ck_assert(reached);
}
END_TEST

START_TEST(agreed_failures_have_one_speaker)
{
    ck_assert_int_eq(spmd__error_agreed(SPMD_ERR_SPEC, "rank 1: bad", "a.c:3: f(...)", true),
                     SPMD_ERR_SPEC);
    ck_assert_str_eq(spmd_error_message(), "rank 1: bad");
    ck_assert_str_eq(spmd_error_place(), "a.c:3: f(...)");
    ck_assert(spmd__error_is_agreed() && spmd__error_is_speaker());
    spmd__error_agreed(SPMD_ERR_SPEC, "rank 1: bad", "", false);
    ck_assert(spmd__error_is_agreed() && !spmd__error_is_speaker());
    spmd_fail(SPMD_ERR_SPEC, "a local one");
    ck_assert(!spmd__error_is_agreed() && !spmd__error_is_speaker());
}
END_TEST

UNIT_MAIN("error", statuses_have_names, failing_records_the_message, the_first_try_is_the_place,
          success_keeps_the_last_message, message_may_be_wrapped, long_messages_are_cut,
          each_thread_has_its_own, a_status_is_no_call, try_passes_failures_on,
          agreed_failures_have_one_speaker)
