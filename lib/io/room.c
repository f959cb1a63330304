/* io/room.c - room on the disk for a file that is written aside. */
#include "io/room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/cause.h"

/* For metadata, beyond what HDF5 keeps just now. */
enum { MARGIN_BYTES = 1 << 16 };

static spmd_status fail_to_reserve(const spmd_file *file, int64_t bytes, int code)
{
    return spmd__io_fail_errno(code, "%s: no room for %lld bytes", file->path, (long long)bytes);
}

/* Where the file system cannot reserve: whether there is room just now, if it tells. */
static spmd_status look_for_room(spmd_file *file, int fd, int64_t bytes)
{
    struct statvfs disk;
    file->unsure = true;
    if (fstatvfs(fd, &disk) == 0 && disk.f_blocks > 0 &&
        (uint64_t)bytes / disk.f_frsize > disk.f_bavail)
        return fail_to_reserve(file, bytes, ENOSPC);
    return SPMD_OK;
}

static spmd_status reserve(spmd_file *file, int64_t end)
{
    int fd = open(file->aside, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return spmd__io_fail_errno(errno, "%s", file->aside);
    int64_t bytes = end - file->reserved;
    int failed = 0;
    do
        failed = fallocate(fd, FALLOC_FL_KEEP_SIZE, file->reserved, bytes);
    while (failed != 0 && errno == EINTR);
    spmd_status status = SPMD_OK;
    if (failed != 0)
        status = errno == EOPNOTSUPP || errno == ENOSYS ? look_for_room(file, fd, bytes)
                                                        : fail_to_reserve(file, bytes, errno);
    close(fd);
    return status;
}

/* Where the file will end at most: past `bytes` more than what has its place by now, and the
 * metadata that HDF5 still keeps. */
static int64_t furthest_end(const spmd_file *file, int64_t bytes)
{
    hsize_t end = 0;
    size_t metadata = 0;
    H5Fget_filesize(file->id, &end);
    H5Fget_mdc_size(file->id, NULL, NULL, &metadata, NULL);
    return (int64_t)end + bytes + (int64_t)metadata + MARGIN_BYTES;
}

spmd_status spmd__room_begin(spmd_file *file)
{
    return reserve(file, MARGIN_BYTES);
}

/* HDF5 leaves holes where it allocates. A disk that is found full only when data is written, or
 * metadata at the end, makes MPI-IO lose data or hang; so the room is taken before. */
spmd_status spmd__room_reserve(spmd_file *file, int64_t bytes)
{
    int64_t end = furthest_end(file, bytes);
    if (end <= file->reserved)
        return SPMD_OK;
    if (spmd__file_is_first(file))
        TRY(reserve(file, end));
    file->reserved = end;
    return SPMD_OK;
}

int spmd__room_trim(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 ? ftruncate(fd, about.st_size) : -1;
}

void spmd__room_free(const spmd_file *file)
{
    int fd = open(file->aside, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}
