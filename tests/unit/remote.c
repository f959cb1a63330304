/* remote.c - unit tests of copies out of another process, and of the runs that they are made of. */
#include "core/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/runs.h"
#include "unit.h"

START_TEST(runs_are_as_long_as_both_sides_allow)
{
    char a[4096], b[4096];
    struct view dense = spmd__view_dense(a, 4, SPMD_SHAPE(3, 5, 7)), wide = dense;
    struct runs runs = spmd__runs_of(&dense, &dense, 4);
    ck_assert(runs.ndim == 0 && runs.bytes == 3 * 5 * 7 * 4 && spmd__runs_count(&runs) == 1);
    wide.data = b;
    wide.stride[1] = 9 * 4; /* rows of 7 in rows of 9 */
    wide.stride[0] = 5 * wide.stride[1];
    runs = spmd__runs_of(&dense, &wide, 4);
    ck_assert(runs.bytes == 7 * 4 && spmd__runs_count(&runs) == 15);
    int64_t to, from;
    spmd__runs_find(&runs, 8, &to, &from);
    ck_assert_int_eq(to, 8 * 7 * 4);
    ck_assert_int_eq(from, 8 * 9 * 4);
    wide.stride[2] = 8; /* every other element */
    runs = spmd__runs_of(&dense, &wide, 4);
    ck_assert(runs.bytes == 4 && spmd__runs_count(&runs) == 105);
    struct view scalar = spmd__view_dense(a, 4, SPMD_SCALAR);
    runs = spmd__runs_of(&scalar, &scalar, 4);
    ck_assert(runs.bytes == 4 && spmd__runs_count(&runs) == 1);
}
END_TEST

/* Memory that only the child has filled; the child waits to be killed. */
static pid_t start_child(unsigned char *memory, size_t bytes)
{
    int ends[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < bytes; i++)
            memory[i] = (unsigned char)(i * 7 + i / 251);
        if (write(ends[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq((int)read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static unsigned char *take(size_t bytes)
{
    unsigned char *memory = calloc(bytes, 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* Copies a window out of the child, and compares it with the same copy out of what it filled. */
static void copy_window(pid_t child, unsigned char *there, const unsigned char *known,
                        struct view part, struct view to, size_t bytes, size_t element)
{
    unsigned char *got = take(bytes), *wanted = take(bytes);
    struct view mine = to, theirs = part, like = part;
    mine.data = (char *)got + (intptr_t)to.data;
    theirs.data = (char *)there + (intptr_t)part.data;
    ASSERT_OK(spmd__remote_copy(child, &mine, &theirs, element));
    mine.data = (char *)wanted + (intptr_t)to.data;
    like.data = (char *)known + (intptr_t)part.data;
    spmd__view_copy(&mine, &like, element);
    ck_assert_int_eq(memcmp(got, wanted, bytes), 0);
    free(got);
    free(wanted);
}

/* Windows of 700 and more runs, on either side or on both, need several calls. */
START_TEST(windows_come_out_of_another_process)
{
    enum { ROWS = 701, COLUMNS = 33, BYTES = ROWS * COLUMNS * 8 };
    unsigned char *memory = take(BYTES), *known = take(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        known[i] = (unsigned char)(i * 7 + i / 251);
    pid_t child = start_child(memory, BYTES);
    struct view dense = spmd__view_dense(NULL, 8, SPMD_SHAPE(ROWS, COLUMNS)), narrow = dense;
    narrow.extent[1] = 10;
    struct view packed = spmd__view_dense(NULL, 8, SPMD_SHAPE(ROWS, 10));
    struct view turned = packed, none = packed;
    turned.stride[0] = 8;
    turned.stride[1] = ROWS * 8;
    none.extent[0] = 0;
    copy_window(child, memory, known, dense, dense, BYTES, 8);
    copy_window(child, memory, known, narrow, packed, BYTES, 8);
    copy_window(child, memory, known, packed, narrow, BYTES, 8);
    copy_window(child, memory, known, narrow, narrow, BYTES, 8);
    copy_window(child, memory, known, narrow, turned, BYTES, 8);
    copy_window(child, memory, known, none, none, BYTES, 8);
    char bytes[100];
    ASSERT_OK(spmd__remote_read(child, bytes, memory + 1234, sizeof bytes));
    ck_assert_int_eq(memcmp(bytes, known + 1234, sizeof bytes), 0);
    end_child(child);
    free(memory);
    free(known);
}
END_TEST

/* One call of the system does not do so much. The source is one page, seen many times. */
START_TEST(more_than_2_gib_at_a_time)
{
    enum { CHUNK = 1 << 25, CHUNKS = 65 };
    const size_t bytes = (size_t)CHUNK * CHUNKS + 123;
    int file = memfd_create("remote", 0);
    ck_assert(file >= 0 && ftruncate(file, CHUNK) == 0);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *from = mmap(NULL, bytes + CHUNK, PROT_NONE, flags, -1, 0);
    char *to = mmap(NULL, bytes + CHUNK, PROT_NONE, flags, -1, 0);
    ck_assert(from != MAP_FAILED && to != MAP_FAILED);
    int other = memfd_create("target", 0);
    ck_assert(other >= 0 && ftruncate(other, CHUNK) == 0);
    for (int i = 0; i <= CHUNKS; i++) {
        size_t at = (size_t)i * CHUNK;
        const int protection = PROT_READ | PROT_WRITE, fixed = MAP_SHARED | MAP_FIXED;
        ck_assert(mmap(from + at, CHUNK, protection, fixed, file, 0) == from + at);
        ck_assert(mmap(to + at, CHUNK, protection, fixed, other, 0) == to + at);
    }
    memset(from, 3, CHUNK);
    from[122] = 4; /* the last byte of all */
    ASSERT_OK(spmd__remote_read(getpid(), to, from, bytes));
    ck_assert(to[122] == 4 && to[0] == 3 && to[CHUNK - 1] == 3);
    ck_assert(to[123] == 3);
    munmap(from, bytes + CHUNK);
    munmap(to, bytes + CHUNK);
    close(file);
    close(other);
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
    static const uint64_t mark = 0x123456789abcdef, same = 0x123456789abcdef, other = 1;
    ck_assert_int_eq(spmd__remote_probe(getpid(), &same, &mark, sizeof mark), 0);
    ck_assert_int_eq(spmd__remote_probe(getpid(), &other, &mark, sizeof mark), ESRCH);
    ck_assert_int_eq(spmd__remote_probe(getpid(), NULL, &mark, sizeof mark), EFAULT);
    pid_t child = start_child((unsigned char[]){0}, 1);
    end_child(child);
    ck_assert_int_eq(spmd__remote_probe(child, &same, &mark, sizeof mark), ESRCH);
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char bytes[8192];
    ck_assert(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
    ASSERT_FAILS(spmd__remote_read(getpid(), bytes, pages, sizeof bytes), SPMD_ERR_MEMORY,
                 "SPMD_MOVE=messages");
    munmap(pages, 4096);
}
END_TEST

UNIT_MAIN("remote", runs_are_as_long_as_both_sides_allow, windows_come_out_of_another_process,
          more_than_2_gib_at_a_time, what_cannot_be_read_is_told)
