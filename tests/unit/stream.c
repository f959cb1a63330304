/* stream.c - unit tests of how a stream's failure is told. */
#include <errno.h>

#include "core/stream.h"
#include "unit.h"

START_TEST(a_stream_that_took_all)
{
    FILE *stream = tmpfile();
    ck_assert_ptr_nonnull(stream);
    fputs("x=4", stream);
    ASSERT_OK(spmd__stream_finish(stream, "mesh x=4"));
    fclose(stream);
}
END_TEST

START_TEST(a_failed_flush_says_why)
{
    FILE *stream = fopen("/dev/full", "w");
    if (!stream)
        return;
    errno = 0;
    fputs("x=4", stream);
    ASSERT_FAILS(spmd__stream_finish(stream, "mesh x=4"), SPMD_ERR_FILE, "cannot print mesh x=4: ");
    ck_assert_ptr_nonnull(strstr(spmd_error_message(), strerror(ENOSPC)));
    fclose(stream);
}
END_TEST

START_TEST(an_earlier_failure_has_no_reason)
{
    FILE *stream = fopen("/dev/full", "w");
    if (!stream)
        return;
    fputs("x=4", stream);
    fflush(stream);
    errno = 0;
    ASSERT_FAILS(spmd__stream_finish(stream, "mesh x=4"), SPMD_ERR_FILE,
                 "cannot print mesh x=4: the stream has failed");
    fclose(stream);
}
END_TEST

UNIT_MAIN("stream", a_stream_that_took_all, a_failed_flush_says_why,
          an_earlier_failure_has_no_reason)
