/* io/modify.c - old files that are changed: a copy aside is. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "io/aside.h"
#include "io/bytes.h"
#include "io/cause.h"

enum { BUFFER_BYTES = 1 << 20 };

/* All from `at` on; an errno, or 0. */
static int copy_by_hand(int from, int to, int64_t at)
{
    char *buffer = malloc(BUFFER_BYTES);
    int code = buffer ? 0 : ENOMEM;
    while (code == 0) {
        ssize_t count = pread(from, buffer, BUFFER_BYTES, at);
        if (count == 0)
            break;
        if (count > 0)
            code = spmd__bytes_write(to, at, count, buffer);
        else if (errno != EINTR)
            code = errno;
        at += count > 0 ? count : 0;
    }
    free(buffer);
    return code;
}

/* The kernel copies without our help, or shares the bytes, where file systems allow it. */
static int copy_bytes(int from, int to)
{
    const size_t most = (size_t)1 << 30;
    for (int64_t at = 0;;) {
        ssize_t count = copy_file_range(from, NULL, to, NULL, most, 0);
        if (count == 0)
            return 0;
        if (count < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
            return errno;
        if (count < 0 && errno != EINTR)
            return copy_by_hand(from, to, at);
        at += count > 0 ? count : 0;
    }
}

/* The bytes of the old file, and who may read them. */
static int copy(const char *old, const char *aside)
{
    struct stat about;
    int from = open(old, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return errno;
    int to = open(aside, O_WRONLY | O_CLOEXEC), code = 0;
    if (to < 0 || fstat(from, &about) != 0 || fchmod(to, about.st_mode & 0777) != 0)
        code = errno;
    else
        code = copy_bytes(from, to);
    if (to >= 0)
        close(to);
    close(from);
    return code;
}

/* Position 0 copies, while it has the old file open: a writer is kept away. */
static spmd_status copy_old(spmd_file *file)
{
    int code = spmd__file_is_first(file) ? copy(file->target, file->aside) : 0;
    H5Fclose(file->id);
    file->id = H5I_INVALID_HID;
    if (code != 0)
        return spmd__io_fail_errno(code, "%s: cannot be copied", file->path);
    return SPMD_OK;
}

/* Each rank reads metadata by itself, so that all meet the damage that there may be. */
static spmd_status open_copy(spmd_file *file)
{
    TRY(spmd__mesh_agree(file->mesh, copy_old(file), 0));
    hid_t access = spmd__aside_access(file);
    file->id = H5Fopen(file->alias, H5F_ACC_RDWR, access);
    spmd_status status = SPMD_OK;
    if (file->id < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: cannot be changed: %s", file->path,
                           spmd__io_cause().text);
    H5Pclose(access);
    return status;
}

/* A checkpoint is what it was saved as. */
static spmd_status open_old(spmd_file *file)
{
    TRY(spmd__file_open_old(file));
    if (file->step >= 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: a checkpoint, which is not changed; save another",
                         file->path);
    return SPMD_OK;
}

spmd_status spmd_file_modify(spmd_mesh *mesh, const char *path, spmd_file **file)
{
    const struct aside_call how = {
        .name = __func__, .look = open_old, .open_aside = open_copy, .step = -1};
    return spmd__aside_begin(mesh, path, &how, file);
}
