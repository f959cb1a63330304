/* disk.h - a small disk for a case, which it fills up. */
#ifndef DISK_H
#define DISK_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness.h"
#include "scratch.h"

static inline bool disk_is_seen(const char *disk)
{
    struct stat about, around;
    return stat(disk, &about) == 0 && stat(scratch_directory, &around) == 0 &&
           about.st_dev != around.st_dev;
}

/* Collective. Mounts a disk of its own at scratch("disk"), of this type of file system and with
 * these options; skips the case, and is false, where that cannot be: a mount is seen on its own
 * node alone. */
static inline bool mount_disk(const char *type, const char *options)
{
    const char *disk = scratch("disk");
    bool mounted = test_rank == 0 && (mkdir(disk, 0700) == 0 || errno == EEXIST) &&
                   mount(type, disk, type, 0, options) == 0;
    after_rank_0();
    int seen = disk_is_seen(disk);
    MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (seen)
        return true;
    if (mounted)
        EXPECT(umount(disk) == 0);
    harness_skip("only root mounts a disk, and on one node");
    return false;
}

/* Collective. */
static inline void unmount_disk(void)
{
    after_rank_0();
    if (test_rank == 0)
        EXPECT(umount(scratch("disk")) == 0);
    after_rank_0();
}

/* Collective. Takes all room of the disk but so many bytes. */
static inline void leave_room(const char *disk, const char *ballast, uint64_t bytes)
{
    struct statvfs about;
    if (test_rank == 0 && EXPECT(statvfs(disk, &about) == 0)) {
        uint64_t room = (uint64_t)about.f_bavail * about.f_frsize;
        int fd = open(ballast, O_RDWR | O_CREAT | O_EXCL, 0600);
        EXPECT(fd >= 0 && (room <= bytes || posix_fallocate(fd, 0, (off_t)(room - bytes)) == 0));
        close(fd);
    }
    after_rank_0();
}

/* How many files a directory has; those with a dot in front do not count. */
static inline int count_files(const char *directory)
{
    int count = 0;
    DIR *stream = opendir(directory);
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return count;
}

#endif
