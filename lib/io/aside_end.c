/* io/aside_end.c - files that are written aside: put in place, or removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/aside.h"
#include "io/cause.h"
#include "io/path.h"
#include "io/room.h"
#include "io/seal.h"

/* Gets what this rank has written to the disk. */
static spmd_status sync_data(const spmd_file *file)
{
    int fd = open(file->aside, O_RDWR | O_CLOEXEC);
    spmd_status status = SPMD_OK;
    if (fd < 0 || (spmd__file_is_first(file) && spmd__room_trim(fd) != 0) || fsync(fd) != 0)
        status = spmd__io_fail_errno(errno, "%s", file->aside);
    if (fd >= 0)
        close(fd);
    return status;
}

static spmd_status close_synced(spmd_file *file)
{
    TRY(spmd__file_shut(file));
    return sync_data(file);
}

/* A checkpoint takes its place only when all of it has been read and is what was written. */
static spmd_status seal_file(const spmd_file *file)
{
    spmd_status status = SPMD_OK;
    if (spmd__file_is_first(file))
        status = spmd__seal_write(file->aside, file->path, file->seal, file->step);
    TRY(spmd__mesh_agree(file->mesh, status, 0));
    return spmd__seal_verify(file->mesh, file->aside, file->path);
}

static spmd_status put_in_place(const spmd_file *file)
{
    if (rename(file->aside, file->target) != 0)
        return spmd__io_fail_errno(errno, "%s: cannot be put in place", file->path);
    spmd__path_sync(file->target);
    return SPMD_OK;
}

spmd_status spmd__aside_finish(spmd_file *file)
{
    spmd_status status = SPMD_OK;
    if (file->broken)
        status = spmd_fail(SPMD_ERR_FILE, "%s: not put in place, since a write to it has failed",
                           file->path);
    else
        status = spmd__room_reserve(file, 0);
    status = spmd__mesh_agree(file->mesh, status, 0);
    if (status != SPMD_OK) {
        file->broken = true;
        spmd__aside_abandon(file);
        return status;
    }
    status = spmd__mesh_agree(file->mesh, close_synced(file), 0);
    if (status == SPMD_OK && file->seal > 0)
        status = spmd__mesh_agree(file->mesh, seal_file(file), 0);
    if (status == SPMD_OK)
        status = spmd__mesh_agree(file->mesh,
                                  spmd__file_is_first(file) ? put_in_place(file) : SPMD_OK, 0);
    if (status != SPMD_OK && spmd__file_is_first(file))
        unlink(file->aside);
    return status;
}

spmd_status spmd__aside_abandon(spmd_file *file)
{
    if (file->broken && spmd__file_is_first(file))
        spmd__room_free(file);
    TRY(spmd__file_enter(file, __func__, SPMD_OK, 0));
    H5Fclose(file->id);
    file->id = H5I_INVALID_HID;
    if (spmd__file_is_first(file))
        unlink(file->aside);
    return spmd__mesh_agree(file->mesh, SPMD_OK, 0);
}
