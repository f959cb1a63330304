/* core/copy.c - copies of bytes, small and large. */
#include "core/copy.h"

#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/clones.h"

/* A copy of known size is a load and a store. */
#define COPY_EACH(bytes)                \
    for (int64_t i = 0; i < count; i++) \
    memcpy(dst + i * dst_stride, src + i * src_stride, (bytes))

static void copy_runs_cached(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                             int64_t count, size_t run)
{
    switch (run) {
    case 1:
        COPY_EACH(1);
        break;
    case 2:
        COPY_EACH(2);
        break;
    case 4:
        COPY_EACH(4);
        break;
    case 8:
        COPY_EACH(8);
        break;
    case 16:
        COPY_EACH(16);
        break;
    default:
        COPY_EACH(run);
    }
}

static void copy_to_all_cached(char *const dst[], int64_t count, size_t at, const char *src,
                               size_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(dst[i] + at, src, bytes);
}

#ifdef __SSE2__

enum { LINE = 64, PAGE = 4096 };

/* What is left of a run. */
struct rest {
    char *to;
    const char *from;
    size_t bytes;
};

static void advance(struct rest *rest, size_t bytes)
{
    rest->to += bytes;
    rest->from += bytes;
    rest->bytes -= bytes;
}

static void copy_bytes(struct rest *rest, size_t bytes)
{
    if (bytes > 0)
        memcpy(rest->to, rest->from, bytes);
    advance(rest, bytes);
}

/* To where a line begins. */
INLINED void copy_line_past_cache(char *dst, const char *src)
{
    const __m128i *from = (const __m128i *)(const void *)src;
    __m128i *to = (__m128i *)(void *)dst;
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

INLINED void copy_lines(struct rest *rest, size_t lines, enum stores stores)
{
    bool cached = stores == STORES_CACHED;
    for (size_t at = 0; at < lines * LINE && cached; at += LINE)
        memcpy(rest->to + at, rest->from + at, LINE);
    for (size_t at = 0; at < lines * LINE && !cached; at += LINE)
        copy_line_past_cache(rest->to + at, rest->from + at);
    advance(rest, lines * LINE);
}

/* A run begins with the bytes before the first line, and ends with those behind the last one. */
static struct rest begin_run(char *to, const char *from, size_t bytes)
{
    struct rest rest = {to, from, bytes};
    size_t front = -(uintptr_t)to % LINE;
    copy_bytes(&rest, front < bytes ? front : bytes);
    return rest;
}

static void end_run(struct rest *rest)
{
    copy_lines(rest, rest->bytes / LINE, STORES_PAST_CACHE);
    copy_bytes(rest, rest->bytes);
}

/* Runs go side by side, a few lines of each in turn: as many as wait together, and half of them, if
 * the stores are mixed, through the caches. */
enum { MOST_ABREAST = 4, TURN = 4 };

static void copy_abreast(struct rest rest[], int count, enum stores stores)
{
    size_t least = rest[0].bytes;
    for (int i = 1; i < count; i++)
        least = rest[i].bytes < least ? rest[i].bytes : least;
    for (size_t turns = least / (TURN * LINE); turns > 0; turns--)
        for (int i = 0; i < count; i++)
            copy_lines(&rest[i], TURN, spmd__stores_of(stores, i));
    for (int i = 0; i < count; i++)
        end_run(&rest[i]);
}

static void copy_runs_abreast(int count, char *dst, int64_t dst_stride, const char *src,
                              int64_t src_stride, size_t run, enum stores stores)
{
    struct rest rest[MOST_ABREAST];
    for (int i = 0; i < count; i++)
        rest[i] = begin_run(dst + i * dst_stride, src + i * src_stride, run);
    copy_abreast(rest, count, stores);
}

/* To look up the pages where a copy will go on takes as long as to copy some hundred bytes; the
 * processor does it alongside if it is told, and of its own accord only within a page. */
INLINED void look_up(const char *to, const char *from)
{
    _mm_prefetch(to, _MM_HINT_T0);
    _mm_prefetch(from, _MM_HINT_T0);
}

/* Page by page, or by pairs of them where one goes through the caches and one past them. */
static void copy_run(char *to, const char *from, size_t bytes, enum stores stores)
{
    struct rest rest = begin_run(to, from, bytes);
    size_t pages = stores == STORES_MIXED ? 2 : 1;
    for (; rest.bytes >= pages * PAGE; advance(&rest, pages * PAGE)) {
        for (size_t k = pages; k < 2 * pages && (k + 1) * PAGE <= rest.bytes; k++)
            look_up(rest.to + k * PAGE, rest.from + k * PAGE);
        copy_runs_abreast((int)pages, rest.to, PAGE, rest.from, PAGE, PAGE, stores);
    }
    end_run(&rest);
}

/* A processor reads ahead where it sees that it is read on: not yet where a run begins elsewhere.
 * So some go side by side. What is won by that is lost where they are short. */
enum { LEAST_RUN_ABREAST = 2048 };

static void copy_runs_large(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                            int64_t count, size_t run, enum stores stores)
{
    bool elsewhere = src_stride != (int64_t)run && run >= LEAST_RUN_ABREAST;
    for (; elsewhere && count >= MOST_ABREAST; count -= MOST_ABREAST) {
        copy_runs_abreast(MOST_ABREAST, dst, dst_stride, src, src_stride, run, stores);
        dst += MOST_ABREAST * dst_stride;
        src += MOST_ABREAST * src_stride;
    }
    for (; count > 0; count--) {
        if (count > 1)
            look_up(dst + dst_stride, src + src_stride);
        enum stores own = run < 2 * PAGE ? spmd__stores_of(stores, count) : stores;
        if (own == STORES_CACHED)
            memcpy(dst, src, run);
        else
            copy_run(dst, src, run, own);
        dst += dst_stride;
        src += src_stride;
    }
}

static void copy_page_to_all(char *const dst[], int64_t count, size_t at, const char *src,
                             size_t bytes, enum stores stores)
{
    struct rest rest[MOST_ABREAST];
    for (int64_t done = 0; done < count; done += MOST_ABREAST) {
        int some = count - done < MOST_ABREAST ? (int)(count - done) : MOST_ABREAST;
        for (int i = 0; i < some; i++)
            rest[i] = begin_run(dst[done + i] + at, src, bytes);
        copy_abreast(rest, some, stores);
    }
}

static void copy_to_all_large(char *const dst[], int64_t count, size_t at, const char *src,
                              size_t bytes, enum stores stores)
{
    for (; bytes > PAGE; bytes -= PAGE, src += PAGE, at += PAGE)
        copy_page_to_all(dst, count, at, src, PAGE, stores);
    copy_page_to_all(dst, count, at, src, bytes, stores);
}

void spmd__copy_flush(void)
{
    _mm_sfence();
}

#else /* no such stores here */

static void copy_runs_large(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                            int64_t count, size_t run, enum stores stores)
{
    (void)stores;
    copy_runs_cached(dst, dst_stride, src, src_stride, count, run);
}

static void copy_to_all_large(char *const dst[], int64_t count, size_t at, const char *src,
                              size_t bytes, enum stores stores)
{
    (void)stores;
    copy_to_all_cached(dst, count, at, src, bytes);
}

void spmd__copy_flush(void)
{
}

#endif

void spmd__copy_runs(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                     int64_t count, size_t run, enum stores stores)
{
    if (stores == STORES_CACHED)
        copy_runs_cached(dst, dst_stride, src, src_stride, count, run);
    else
        copy_runs_large(dst, dst_stride, src, src_stride, count, run, stores);
}

void spmd__copy(void *dst, const void *src, size_t bytes, enum stores stores)
{
    if (stores == STORES_CACHED)
        memcpy(dst, src, bytes);
    else
        copy_runs_large(dst, 0, src, 0, 1, bytes, stores);
}

void spmd__copy_to_all(char *const dst[], int64_t count, size_t at, const void *src, size_t bytes,
                       enum stores stores)
{
    if (stores == STORES_CACHED)
        copy_to_all_cached(dst, count, at, src, bytes);
    else
        copy_to_all_large(dst, count, at, src, bytes, stores);
}
