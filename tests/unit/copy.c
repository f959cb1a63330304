/* copy.c - unit tests of copies, whichever way what they write gets to memory. */
#include <string.h>

#include "core/copy.h"
#include "unit.h"

static const enum stores kinds[] = {STORES_CACHED, STORES_MIXED, STORES_PAST_CACHE};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Into the middle of zeros. */
static void check_copy(int start, int bytes, enum stores stores)
{
    enum { ROOM = 10 * 4096 };
    static unsigned char from[ROOM], to[ROOM];
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i % 251 + 1);
    memset(to, 0, ROOM);
    spmd__copy(to + start, from + 3, (size_t)bytes, stores);
    spmd__copy_flush();
    ck_assert_int_eq(memcmp(to + start, from + 3, (size_t)bytes), 0);
    ck_assert(start == 0 || to[start - 1] == 0);
    ck_assert_int_eq(to[start + bytes], 0);
}

START_TEST(what_is_copied_is_the_same)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int start = 0; start < 70; start += 3)
            for (int bytes = 0; bytes < 9 * 4096; bytes += bytes < 300 ? 13 : 2039)
                check_copy(start, bytes, kinds[kind]);
}
END_TEST

static void copy_one_by_one(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                            int64_t count, size_t run)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(dst + i * dst_stride, src + i * src_stride, run);
}

enum { ROWS = 10, ROW = 3 * 4096 };

static void check_runs(int64_t count, size_t run, int way, enum stores stores)
{
    static char from[ROWS * ROW], to[ROWS * ROW], expected[ROWS * ROW];
    int64_t start = (count * 29 + way) % 128;
    int64_t dst_stride = (const int64_t[]){(int64_t)run, (int64_t)run + 1, ROW, ROW - 23}[way];
    int64_t src_stride = (const int64_t[]){ROW - 7, ROW, (int64_t)run, -ROW}[way];
    const char *first = src_stride < 0 ? from + (ROWS - 1) * ROW : from + way;
    for (int i = 0; i < ROWS * ROW; i++)
        from[i] = (char)(i % 251 + 1);
    memset(to, 0, sizeof to);
    memset(expected, 0, sizeof expected);
    copy_one_by_one(expected + start, dst_stride, first, src_stride, count, run);
    spmd__copy_runs(to + start, dst_stride, first, src_stride, count, run, stores);
    spmd__copy_flush();
    ck_assert_int_eq(memcmp(to, expected, sizeof to), 0);
}

/* Runs of some pages and a bit, which begin anywhere, in any number. */
START_TEST(runs_are_copied)
{
    static const size_t lengths[] = {0,   1,   2,    4,    8,    16,   63,   64,
                                     191, 512, 2047, 2048, 2303, 4096, 8191, 8300};
    for (int kind = 0; kind < KINDS; kind++)
        for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++)
            for (int count = 0; count < ROWS; count++)
                for (int way = 0; way < 4; way++)
                    check_runs(count, lengths[l], way, kinds[kind]);
}
END_TEST

/* To up to 9 places, which begin anywhere in a line. */
static void check_to_all(int places, size_t at, size_t bytes, enum stores stores)
{
    enum { PLACES = 9, ROOM = 4 * 4096 };
    static char from[ROOM], rooms[PLACES][ROOM];
    char *dst[PLACES];
    for (int i = 0; i < ROOM; i++)
        from[i] = (char)(i % 251 + 1);
    memset(rooms, 0, sizeof rooms);
    for (int p = 0; p < PLACES; p++)
        dst[p] = rooms[p] + 1 + p * 13;
    spmd__copy_to_all(dst, places, at, from + 3, bytes, stores);
    spmd__copy_flush();
    for (int p = 0; p < PLACES; p++) {
        size_t written = p < places ? bytes : 0;
        ck_assert_int_eq(memcmp(dst[p] + at, from + 3, written), 0);
        ck_assert_int_eq(dst[p][at + written], 0);
        ck_assert(at == 0 || dst[p][at - 1] == 0);
    }
}

START_TEST(the_same_comes_to_all_places)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int places = 0; places <= 9; places++)
            for (size_t bytes = 0; bytes < 3 * 4096; bytes += bytes < 300 ? 37 : 2039)
                check_to_all(places, bytes % 200, bytes, kinds[kind]);
}
END_TEST

UNIT_MAIN("copy", what_is_copied_is_the_same, runs_are_copied, the_same_comes_to_all_places)
