/* io/scatter.h - runs of bytes of a file to many places in memory, in few calls of the system. */
#ifndef IO_SCATTER_H
#define IO_SCATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Runs in one call; the system takes 1024 at least. And the bytes between two runs that are read
 * along with them: they cost less than a call. */
enum { SCATTER_RUNS = 256, SCATTER_GAP_BYTES = 4096 };

/* Runs that are still to be read: one after the other in the file, but for gaps. */
struct scatter {
    int file;
    int64_t begin, end; /* of them, in the file */
    int count;
    struct iovec run[SCATTER_RUNS];
    int64_t row[SCATTER_RUNS]; /* what messages call each */
    int64_t failed_row;        /* of the last failure */
    char gap[SCATTER_GAP_BYTES];
};

/* Has `bytes` from `offset` on in the file read to `to`, later at the latest by spmd__scatter_end.
 * Both give 0, or the errno, or IO_ENDED (io/cause.h), of what could not be read, and its row. */
int spmd__scatter_add(struct scatter *scatter, int64_t offset, size_t bytes, void *to, int64_t row);
int spmd__scatter_end(struct scatter *scatter);

#endif
