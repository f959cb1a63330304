/* core/copy.h - copies of bytes, small and large.
 *
 * What is larger than the caches had better not go through them: it drives out what is in use, and
 * is read before it is written. But a core has few stores past the caches under way, and waits for
 * the memory rather than using its bandwidth up. Stores through the caches wait elsewhere; so where
 * few cores are at work, half of each kind is faster than all of one. */
#ifndef CORE_COPY_H
#define CORE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* What is written goes through the caches; half of it, in turns; or past them. */
enum stores { STORES_CACHED, STORES_MIXED, STORES_PAST_CACHE };

/* Those of number `i` of several rows. */
static inline enum stores spmd__stores_of(enum stores stores, int64_t i)
{
    if (stores != STORES_MIXED)
        return stores;
    return i % 2 == 1 ? STORES_CACHED : STORES_PAST_CACHE;
}

/* As memcpy; what goes past the caches may be late: a spmd__copy_flush before others are told. */
void spmd__copy(void *dst, const void *src, size_t bytes, enum stores stores);
void spmd__copy_flush(void);

/* `count` runs of bytes, each at a stride from the one before: faster than one by one, as the next
 * one is known. */
void spmd__copy_runs(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                     int64_t count, size_t run, enum stores stores);

/* From `src` to `at` bytes behind each of `count` places: it is read once. */
void spmd__copy_to_all(char *const dst[], int64_t count, size_t at, const void *src, size_t bytes,
                       enum stores stores);

#endif
