/* journal_lock.c - one sweep at a time writes a journal. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "file.h"

/* A file system may have no locks: then there is no telling, and the sweep goes on. */
static bool is_taken(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EACCES);
}

static spmd_status lock_file(const char *path, const char *file, bool create, int *lock)
{
    int new = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
    if (new < 0)
        return !create && errno == ENOENT ? SPMD_OK : file_fail("open", file);
    if (is_taken(new)) {
        close(new);
        return spmd_fail(SPMD_ERR_FILE,
                         "another sweep is writing %s: wait for it, or give another --out", path);
    }
    *lock = new;
    return SPMD_OK;
}

spmd_status journal_lock(const char *path, bool create, int *lock)
{
    if (*lock >= 0)
        return SPMD_OK;
    char *file;
    SPMD_TRY(file_join(path, "lock", &file));
    spmd_status status = lock_file(path, file, create, lock);
    free(file);
    return status;
}

void journal_unlock(int *lock)
{
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
}
