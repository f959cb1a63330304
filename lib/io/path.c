/* io/path.c - where a new file goes, and the name that it has until it is there. */
#include "io/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"
#include "io/cause.h"

/* How many bytes of `path` name its directory, with the slash; 0 for the working directory. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

spmd_status spmd__path_follow(const char *path, char **target)
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX];
    char *at = strdup(path);
    for (int links = 0; at && links <= MOST_LINKS; links++) {
        ssize_t length = readlink(at, link, sizeof link);
        if (length < 0) {
            *target = at;
            return SPMD_OK;
        }
        size_t kept = link[0] == '/' ? 0 : directory_length(at);
        char *next = NULL;
        if (asprintf(&next, "%.*s%.*s", (int)kept, at, (int)length, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    if (!at)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", path);
    free(at);
    return spmd__io_fail_errno(ELOOP, "%s", path);
}

/* Letters that differ between processes, moments and attempts. */
static void draw_letters(int attempt, char letters[PATH_LETTERS])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t seed[] = {now.tv_sec, now.tv_nsec, getpid(), attempt};
    uint64_t hash = spmd__hash(0, seed, sizeof seed);
    for (int i = 0; i < PATH_LETTERS; i++, hash /= 26)
        letters[i] = (char)('a' + hash % 26);
}

char *spmd__path_beside(const char *target, const char letters[PATH_LETTERS])
{
    char *beside = NULL;
    return asprintf(&beside, "%s.tmp-%.*s", target, PATH_LETTERS, letters) < 0 ? NULL : beside;
}

static int make_new(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

int spmd__path_make_fresh(const char *target, char **fresh)
{
    enum { MOST_ATTEMPTS = 100 };
    int code = EEXIST;
    for (int attempt = 0; code == EEXIST && attempt < MOST_ATTEMPTS; attempt++) {
        char letters[PATH_LETTERS];
        draw_letters(attempt, letters);
        char *path = spmd__path_beside(target, letters);
        if (!path)
            return ENOMEM;
        code = make_new(path);
        if (code == 0)
            *fresh = path;
        else
            free(path);
    }
    return code;
}

/* Open MPI 4.1 puts a path, and what it appends (".locktest.RANK"), into 256 bytes, and overruns
 * them. */
enum { MPI_IO_PATH_BYTES = 232 };

static spmd_status check_alias(const char *path, const char *alias)
{
    if (strlen(alias) > MPI_IO_PATH_BYTES)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: the name is too long for MPI-IO by %zu bytes; shorten it", path,
                         strlen(alias) - MPI_IO_PATH_BYTES);
    if (access(alias, W_OK) != 0)
        return spmd__io_fail_errno(errno,
                                   "%s: is not found as %s, and its path is too long for "
                                   "MPI-IO",
                                   path, alias);
    return SPMD_OK;
}

spmd_status spmd__path_shorten(const char *path, int *directory, char **alias)
{
    if (strlen(path) <= MPI_IO_PATH_BYTES) {
        *alias = strdup(path);
        return *alias ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", path);
    }
    size_t length = directory_length(path);
    char *parent = length > 0 ? strndup(path, length) : strdup(".");
    if (!parent)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", path);
    *directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (*directory < 0)
        return spmd__io_fail_errno(errno, "%s", path);
    if (asprintf(alias, "/proc/self/fd/%d/%s", *directory, path + length) < 0) {
        *alias = NULL;
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", path);
    }
    return check_alias(path, *alias);
}

/* Whether a leading part of `target` is no directory; the first such part, and whether it is there
 * as something else. */
static bool find_gap(const char *target, char *part, size_t size, bool *there)
{
    for (const char *end = target; (end = strchr(end + 1, '/'));) {
        struct stat about;
        snprintf(part, size, "%.*s", (int)(end - target), target);
        *there = stat(part, &about) == 0;
        if (!*there || !S_ISDIR(about.st_mode))
            return true;
    }
    return false;
}

spmd_status spmd__path_fail(const char *path, const char *target, int code)
{
    char part[PATH_MAX];
    bool there = false;
    if ((code != ENOENT && code != ENOTDIR) || !find_gap(target, part, sizeof part, &there))
        return spmd__io_fail_errno(code, "%s", path);
    if (there)
        return spmd_fail(SPMD_ERR_FILE, "cannot write %s: %s is not a directory", path, part);
    return spmd_fail(SPMD_ERR_FILE, "cannot write %s: there is no directory %s", path, part);
}

void spmd__path_sync(const char *path)
{
    size_t length = directory_length(path);
    char *directory = length > 0 ? strndup(path, length) : strdup(".");
    if (!directory)
        return;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}
