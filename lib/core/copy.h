/* core/copy.h - copies that go past the caches. */
#ifndef CORE_COPY_H
#define CORE_COPY_H

#include <stddef.h>

/* As memcpy, but what is written does not take room in the caches, nor is it read before. Pays for
 * what is larger than they are. Stores may be late: a spmd__copy_flush before others are told. */
void spmd__copy_past_cache(void *dst, const void *src, size_t bytes);
void spmd__copy_flush(void);

#endif
