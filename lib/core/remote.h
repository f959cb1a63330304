/* core/remote.h - copies out of the memory of another process, where the system allows them. */
#ifndef CORE_REMOTE_H
#define CORE_REMOTE_H

#include <stdint.h>

#include "core/error.h"
#include "core/view.h"

/* 0 where `bytes` of another process can be read and are as those at `mark`; else why not, as
 * errno says it: the way does not exist on this system, or a rule of it is in the way. */
int spmd__remote_probe(int64_t process, const void *address, const void *mark, size_t bytes);

/* As spmd__view_copy, where `src` lies in another process. Fails with SPMD_ERR_MEMORY, and then has
 * copied a part. */
spmd_status spmd__remote_copy(int64_t process, const struct view *dst, const struct view *src,
                              size_t element);

/* The same of plain bytes. */
spmd_status spmd__remote_read(int64_t process, void *dst, const void *src, size_t bytes);

#endif
