/* io/bytes.h - bytes of an open file from or to memory, in as many calls as the system takes. */
#ifndef IO_BYTES_H
#define IO_BYTES_H

#include <stdint.h>

/* All of `bytes` bytes from `offset` on. Give 0, or an errno; IO_ENDED (io/cause.h) where the file
 * ends before. */
int spmd__bytes_read(int fd, int64_t offset, int64_t bytes, void *data);
int spmd__bytes_write(int fd, int64_t offset, int64_t bytes, const void *data);

#endif
