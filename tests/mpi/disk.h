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

/* Collective. A disk of its own at scratch("disk"); false where this user cannot have one. */
static inline bool mount_disk(const char *options)
{
    const char *disk = scratch("disk");
    int mounted = 0;
    if (test_rank == 0)
        mounted = (mkdir(disk, 0700) == 0 || errno == EEXIST) &&
                  mount("tmpfs", disk, "tmpfs", 0, options) == 0;
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!mounted)
        harness_skip("only root mounts a disk");
    return mounted;
}

static inline void unmount_disk(void)
{
    after_rank_0();
    if (test_rank == 0)
        EXPECT(umount(scratch("disk")) == 0);
    else
        scratch("disk");
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
