/* io/scatter.c - runs of bytes of a file to many places in memory: preadv. */
#include "io/scatter.h"

#include <errno.h>
#include <unistd.h>

#include "io/cause.h"

/* Drops what has been read of the runs from `first` on; gives the first one that is not done. */
static int skip(struct scatter *scatter, int first, size_t got)
{
    while (first < scatter->count && got >= scatter->run[first].iov_len)
        got -= scatter->run[first++].iov_len;
    if (first < scatter->count) {
        scatter->run[first].iov_base = (char *)scatter->run[first].iov_base + got;
        scatter->run[first].iov_len -= got;
    }
    return first;
}

/* Runs from `first` on. One alone is cheaper without a list of places. */
static ssize_t read_runs(const struct scatter *scatter, int first, int64_t at)
{
    const struct iovec *run = &scatter->run[first];
    const int count = scatter->count - first;
    return count == 1 ? pread(scatter->file, run->iov_base, run->iov_len, (off_t)at)
                      : preadv(scatter->file, run, count, (off_t)at);
}

int spmd__scatter_end(struct scatter *scatter)
{
    int first = 0;
    int64_t at = scatter->begin;
    while (first < scatter->count) {
        ssize_t got = read_runs(scatter, first, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            scatter->failed_row = scatter->row[first];
            return got < 0 ? errno : IO_ENDED;
        }
        first = skip(scatter, first, (size_t)got);
        at += got;
    }
    scatter->count = 0;
    return 0;
}

static void append(struct scatter *scatter, size_t bytes, void *to, int64_t row)
{
    scatter->run[scatter->count] = (struct iovec){to, bytes};
    scatter->row[scatter->count++] = row;
    scatter->end += (int64_t)bytes;
}

int spmd__scatter_add(struct scatter *scatter, int64_t offset, size_t bytes, void *to, int64_t row)
{
    const int64_t gap = offset - scatter->end;
    const bool follows = scatter->count > 0 && scatter->count + 2 <= SCATTER_RUNS && gap >= 0 &&
                         gap <= SCATTER_GAP_BYTES;
    if (follows && gap > 0)
        append(scatter, (size_t)gap, scatter->gap, row);
    if (!follows) {
        int code = spmd__scatter_end(scatter);
        if (code != 0)
            return code;
        scatter->begin = scatter->end = offset;
    }
    append(scatter, bytes, to, row);
    return 0;
}
