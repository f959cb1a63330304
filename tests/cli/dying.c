/* dying.c - calls that change files, which all who make them find here, before the C library's. */
#include "dying.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    int count, last;
    unsigned seed;
    void (*die)(const char *last); /* NULL: none is the last */
} calls;

int dying_count(void)
{
    return calls.count;
}

void dying_after(int count, unsigned seed, void (*die)(const char *last))
{
    calls.last = calls.count + count + 1;
    calls.seed = seed;
    calls.die = die;
}

/* Sets a pointer to a function to the C library's. */
#define FIND_NEXT(pointer, name) (*(void **)&(pointer) = dlsym(RTLD_NEXT, name))

/* Counts a call on a file or a directory: no pipe, nor memory (memfd), which has no name. */
static bool is_last(int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_nlink == 0 ||
        (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)))
        return false;
    return ++calls.count == calls.last && calls.die;
}

/* A write that ends anywhere. */
static void tear(int fd, const struct iovec vectors[], int nvectors, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    FIND_NEXT(next, "pwrite");
    size_t size = 0;
    for (int i = 0; i < nvectors; i++)
        size += vectors[i].iov_len;
    size_t written = (size_t)rand_r(&calls.seed) % (size + 1), left = written;
    for (int i = 0; left > 0; i++) {
        size_t bytes = vectors[i].iov_len < left ? vectors[i].iov_len : left;
        if (next(fd, vectors[i].iov_base, bytes, offset) != (ssize_t)bytes)
            break;
        offset += (off_t)bytes;
        left -= bytes;
    }
    char last[80];
    snprintf(last, sizeof last, "%zu of %zu bytes written", written, size);
    calls.die(last);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    ssize_t (*next)(int, const void *, size_t, off_t);
    FIND_NEXT(next, "pwrite");
    if (is_last(fd))
        tear(fd, &(struct iovec){(void *)data, bytes}, 1, offset);
    return next(fd, data, bytes, offset);
}

ssize_t pwritev(int fd, const struct iovec vectors[], int nvectors, off_t offset)
{
    ssize_t (*next)(int, const struct iovec[], int, off_t);
    FIND_NEXT(next, "pwritev");
    if (is_last(fd))
        tear(fd, vectors, nvectors, offset);
    return next(fd, vectors, nvectors, offset);
}

int ftruncate(int fd, off_t size)
{
    int (*next)(int, off_t);
    FIND_NEXT(next, "ftruncate");
    if (is_last(fd))
        calls.die("before ftruncate");
    return next(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    int (*next)(int, int, off_t, off_t);
    FIND_NEXT(next, "fallocate");
    if (is_last(fd))
        calls.die("before fallocate");
    return next(fd, mode, offset, bytes);
}

int fsync(int fd)
{
    int (*next)(int);
    FIND_NEXT(next, "fsync");
    if (is_last(fd))
        calls.die("before fsync");
    return next(fd);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    FIND_NEXT(next, "rename");
    if (++calls.count == calls.last && calls.die)
        calls.die("before rename");
    return next(from, to);
}
