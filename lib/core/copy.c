/* core/copy.c - copies that go past the caches. */
#include "core/copy.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __SSE2__

enum { LINE = 64 };

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

void spmd__copy_past_cache(void *dst, const void *src, size_t bytes)
{
    char *to = dst;
    const char *from = src;
    size_t head = -(uintptr_t)to % LINE;
    if (bytes < head + LINE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    size_t lines = (bytes - head) / LINE, done = head + lines * LINE;
    copy_lines(to + head, from + head, lines);
    memcpy(to + done, from + done, bytes - done);
}

void spmd__copy_flush(void)
{
    _mm_sfence();
}

#else /* no such stores here */

void spmd__copy_past_cache(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
}

void spmd__copy_flush(void)
{
}

#endif
