/* core/copy.h - copies that go past the caches. */
#ifndef CORE_COPY_H
#define CORE_COPY_H

#include <stddef.h>
#include <stdint.h>

/* As memcpy, but what is written does not take room in the caches, nor is it read before. Pays for
 * what is larger than they are. Stores may be late: a spmd__copy_flush before others are told. */
void spmd__copy_past_cache(void *dst, const void *src, size_t bytes);
void spmd__copy_flush(void);

/* `count` runs of bytes, each at a stride from the one before: faster than one by one, as some go
 * side by side and the next one is known. */
void spmd__copy_runs_past_cache(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                                int64_t count, size_t run);

#endif
