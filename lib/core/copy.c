/* core/copy.c - copies that go past the caches. */
#include "core/copy.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__

enum { LINE = 64, PAGE = 4096 };

/* Whole lines to where a line begins. */
static void copy_lines(char *dst, const char *src, size_t lines)
{
    for (; lines > 0; lines--, dst += LINE, src += LINE) {
        const __m128i *from = (const __m128i *)(const void *)src;
        __m128i *to = (__m128i *)(void *)dst;
        __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
}

/* Where a copy will go on. To look up its pages takes as long as to copy some hundred bytes; the
 * processor does it alongside if it is told, and of its own accord only within a page. */
struct place {
    char *to;
    const char *from;
};

static void look_up(struct place next)
{
    _mm_prefetch(next.to, _MM_HINT_T0);
    _mm_prefetch(next.from, _MM_HINT_T0);
}

static void copy_run(char *to, const char *from, size_t bytes, struct place next)
{
    size_t done = -(uintptr_t)to % LINE;
    if (bytes < done + LINE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, done);
    for (; bytes - done > PAGE; done += PAGE) {
        look_up((struct place){to + done + PAGE, from + done + PAGE});
        copy_lines(to + done, from + done, PAGE / LINE);
    }
    look_up(next);
    size_t lines = (bytes - done) / LINE;
    copy_lines(to + done, from + done, lines);
    done += lines * LINE;
    memcpy(to + done, from + done, bytes - done);
}

void spmd__copy_runs_past_cache(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                                int64_t count, size_t run)
{
    struct place place = {dst, src};
    for (int64_t i = 1; i <= count; i++) {
        struct place next = {place.to + run, place.from + run}; /* what else, if all is copied */
        if (i < count)
            next = (struct place){dst + i * dst_stride, src + i * src_stride};
        copy_run(place.to, place.from, run, next);
        place = next;
    }
}

void spmd__copy_flush(void)
{
    _mm_sfence();
}

#else /* no such stores here */

void spmd__copy_runs_past_cache(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                                int64_t count, size_t run)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(dst + i * dst_stride, src + i * src_stride, run);
}

void spmd__copy_flush(void)
{
}

#endif

void spmd__copy_past_cache(void *dst, const void *src, size_t bytes)
{
    spmd__copy_runs_past_cache(dst, 0, src, 0, 1, bytes);
}
