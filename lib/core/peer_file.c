/* core/peer_file.c - files in memory that processes of one node share, without a name anywhere. */
#include "core/peer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"

uint64_t spmd__peer_file_mark(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t seed[] = {now.tv_sec, now.tv_nsec, getpid()};
    return spmd__hash(1, seed, sizeof seed);
}

uint64_t spmd__peer_file_limit(void)
{
    struct rlimit limit;
    bool known = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return known ? limit.rlim_cur : UINT64_MAX;
}

/* At a place of its own, which is found by asking for more and giving the rest back. */
static void *map_aligned(int descriptor, size_t size, int protection)
{
    const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
    const size_t page = PEER_FILE_LARGE_PAGE;
    char *room =
        mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    size_t before = (page - (uintptr_t)room % page) % page;
    void *memory = mmap(room + before, size, protection, flags, descriptor, 0);
    if (memory == MAP_FAILED) {
        int reason = errno;
        munmap(room, size + page);
        errno = reason;
        return NULL;
    }
    if (before > 0)
        munmap(room, before);
    munmap(room + before + size, page - before);
    return memory;
}

void *spmd__peer_file_map_own(int descriptor, size_t size)
{
    return map_aligned(descriptor, size, PROT_READ | PROT_WRITE);
}

static void *map_marked(int descriptor, const struct peer_file *file, bool writable)
{
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    void *memory = map_aligned(descriptor, file->size, protection);
    if (!memory)
        return NULL;
    if (memcmp(memory, &file->mark, sizeof file->mark) == 0)
        return memory;
    munmap(memory, file->size);
    errno = ESRCH;
    return NULL;
}

/* Closes a file; errno stays. */
static void close_quietly(int descriptor)
{
    int reason = errno;
    close(descriptor);
    errno = reason;
}

void *spmd__peer_file_map(const struct peer_file *file, bool writable)
{
    char path[64];
    struct stat status;
    errno = ESRCH;
    if (file->descriptor < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)file->process,
             (long long)file->descriptor);
    int descriptor = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    void *memory = NULL;
    if (fstat(descriptor, &status) == 0 && (uint64_t)status.st_size == file->size)
        memory = map_marked(descriptor, file, writable);
    else
        errno = ESRCH;
    close_quietly(descriptor);
    return memory;
}
