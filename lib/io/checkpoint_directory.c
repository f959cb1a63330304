/* io/checkpoint_directory.c - the directory of checkpoints: names, what is there, what goes. */
#include "io/checkpoint_directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/tell.h"
#include "io/cause.h"
#include "io/path.h"
#include "io/seal.h"

#define NAME "step-%08" PRId64 ".h5"

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

char *spmd__checkpoint_path(const char *directory, int64_t step)
{
    char name[40];
    snprintf(name, sizeof name, NAME, step);
    return join(directory, name);
}

/* The step of the file of this name, and what follows it in the name; -1: it is no checkpoint's. */
static int64_t parse_name(const char *name, const char **rest)
{
    int64_t step = -1;
    int length = 0;
    char again[40];
    if (sscanf(name, "step-%18" SCNd64 ".h5%n", &step, &length) != 1 || length == 0)
        return -1;
    int wanted = snprintf(again, sizeof again, NAME, step);
    *rest = name + length;
    return step >= 0 && wanted == length && strncmp(name, again, (size_t)length) == 0 ? step : -1;
}

static bool is_left_aside(const char *name)
{
    static const char mark[] = ".tmp-";
    const char *rest = "";
    if (parse_name(name, &rest) < 0 || strncmp(rest, mark, strlen(mark)) != 0)
        return false;
    const char *letters = rest + strlen(mark);
    for (int i = 0; i < PATH_LETTERS; i++)
        if (!islower((unsigned char)letters[i]))
            return false;
    return letters[PATH_LETTERS] == '\0';
}

static spmd_status add_step(struct step_list *steps, int64_t step)
{
    int64_t *longer = realloc(steps->step, ((size_t)steps->count + 1) * sizeof *longer);
    if (!longer)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    steps->step = longer;
    steps->step[steps->count++] = step;
    return SPMD_OK;
}

static int compare_steps(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static spmd_status add_all(DIR *stream, struct step_list *steps)
{
    for (const struct dirent *entry; (entry = readdir(stream));) {
        const char *rest = "";
        int64_t step = parse_name(entry->d_name, &rest);
        if (step >= 0 && *rest == '\0')
            TRY(add_step(steps, step));
    }
    return SPMD_OK;
}

spmd_status spmd__checkpoint_list(const char *directory, struct step_list *steps)
{
    *steps = (struct step_list){0};
    DIR *stream = opendir(directory);
    if (!stream)
        return errno == ENOENT ? SPMD_OK : spmd__io_fail_errno(errno, "%s", directory);
    spmd_status status = add_all(stream, steps);
    closedir(stream);
    if (steps->count > 0)
        qsort(steps->step, (size_t)steps->count, sizeof *steps->step, compare_steps);
    return status;
}

static int make_one(const char *directory)
{
    struct stat about;
    if (mkdir(directory, 0777) == 0)
        return 0;
    int code = errno;
    if (stat(directory, &about) != 0)
        return code == EEXIST ? errno : code;
    return S_ISDIR(about.st_mode) ? 0 : ENOTDIR;
}

spmd_status spmd__checkpoint_make_directory(const char *directory)
{
    char *part = strdup(directory);
    if (!part)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", directory);
    int code = 0;
    for (char *end = part; code == 0 && *end != '\0';) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char kept = *end;
        *end = '\0';
        code = make_one(part);
        *end = kept;
    }
    free(part);
    return code == 0 ? SPMD_OK : spmd__io_fail_errno(code, "%s: cannot be made", directory);
}

static spmd_status check_free(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT ? SPMD_OK : spmd__io_fail_errno(errno, "%s", path);
    bool begins = false;
    TRY(spmd__seal_begins(path, &begins));
    if (begins)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: is no checkpoint, so it is not replaced by one; move it away", path);
}

spmd_status spmd__checkpoint_check_free(const char *directory, int64_t step)
{
    char *path = spmd__checkpoint_path(directory, step);
    if (!path)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", directory);
    spmd_status status = check_free(path);
    free(path);
    return status;
}

static void warn(const char *path)
{
    spmd__tell_warning("%s: cannot be removed: %s", path, strerror(errno));
}

static void remove_in(const char *directory, const char *name)
{
    char *path = join(directory, name);
    if (path && unlink(path) != 0 && errno != ENOENT)
        warn(path);
    free(path);
}

static void remove_leftovers(const char *directory)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return;
    for (const struct dirent *entry; (entry = readdir(stream));)
        if (is_left_aside(entry->d_name))
            remove_in(directory, entry->d_name);
    closedir(stream);
}

/* The lock is a file of its own, since locks on directories do not reach other nodes everywhere,
 * and those on the file that is written may meet those of MPI-IO. */
static int open_lock(const char *directory)
{
    char *path = join(directory, ".lock");
    int lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    free(path);
    return lock;
}

/* Whoever saves shares the lock; who has it alone knows that nobody else does. */
void spmd__checkpoint_clear(const char *directory)
{
    int lock = open_lock(directory);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        remove_leftovers(directory);
    close(lock);
}

int spmd__checkpoint_lock(const char *directory)
{
    int lock = open_lock(directory);
    while (lock >= 0 && flock(lock, LOCK_SH) != 0 && errno == EINTR)
        continue;
    return lock;
}

void spmd__checkpoint_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* Whether the file is what its name says. */
static bool is_whole(const char *path, int64_t step)
{
    struct seal seal;
    if (spmd__seal_check(path, path, &seal) != SPMD_OK)
        return false;
    bool is = seal.step == step;
    spmd__seal_free(&seal);
    return is;
}

static void prune(const char *directory, const struct step_list *steps, int64_t step, int keep)
{
    int kept = 1;
    for (int i = steps->count - 1; i >= 0; i--) {
        char *path = spmd__checkpoint_path(directory, steps->step[i]);
        if (path && steps->step[i] != step && is_whole(path, steps->step[i]) && ++kept > keep &&
            unlink(path) != 0)
            warn(path);
        free(path);
    }
}

void spmd__checkpoint_prune(const char *directory, int64_t step, int keep)
{
    struct step_list steps;
    if (spmd__checkpoint_list(directory, &steps) == SPMD_OK)
        prune(directory, &steps, step, keep);
    free(steps.step);
}
