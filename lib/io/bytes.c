/* io/bytes.c - bytes of an open file from or to memory, in as many calls as the system takes. */
#include "io/bytes.h"

#include <errno.h>
#include <unistd.h>

#include "io/cause.h"

/* The kernel takes less than 2 GiB in a call. */
static size_t call_bytes(int64_t bytes)
{
    const int64_t most = (int64_t)1 << 30;
    return (size_t)(bytes < most ? bytes : most);
}

int spmd__bytes_read(int fd, int64_t offset, int64_t bytes, void *data)
{
    char *to = data;
    while (bytes > 0) {
        ssize_t got = pread(fd, to, call_bytes(bytes), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : IO_ENDED;
        to += got;
        offset += got;
        bytes -= got;
    }
    return 0;
}

int spmd__bytes_write(int fd, int64_t offset, int64_t bytes, const void *data)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t put = pwrite(fd, from, call_bytes(bytes), offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : EIO;
        from += put;
        offset += put;
        bytes -= put;
    }
    return 0;
}
