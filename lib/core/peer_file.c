/* core/peer_file.c - files in memory that processes of one node share, without a name anywhere. */
#include "core/peer_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

static void *map_marked(int descriptor, const struct peer_file *file, bool writable)
{
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    void *memory = mmap(NULL, file->size, protection, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (memcmp(memory, &file->mark, sizeof file->mark) == 0)
        return memory;
    munmap(memory, file->size);
    return NULL;
}

void *spmd__peer_file_map(const struct peer_file *file, bool writable)
{
    char path[64];
    struct stat status;
    if (file->descriptor < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)file->process,
             (long long)file->descriptor);
    int descriptor = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (descriptor < 0)
        return NULL;
    bool fits = fstat(descriptor, &status) == 0 && (uint64_t)status.st_size == file->size;
    void *memory = fits ? map_marked(descriptor, file, writable) : NULL;
    close(descriptor);
    return memory;
}
