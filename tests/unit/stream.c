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

START_TEST(lines_break_at_blanks)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    spmd__stream_line(stream, 10, "one two three four");
    spmd__stream_line(stream, 10, "exactly 10");
    spmd__stream_line(stream, 10, "a_word_of_20_letters");
    fclose(stream);
    ck_assert_str_eq(text, "one two\n  three\n  four\nexactly 10\na_word_of_20_letters\n");
    free(text);
}
END_TEST

UNIT_MAIN("stream", lines_break_at_blanks, a_stream_that_took_all, a_failed_flush_says_why,
          an_earlier_failure_has_no_reason)
