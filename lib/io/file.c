/* io/file.c - file handles: made, looked after and closed; how calls on them begin. */
#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"
#include "core/mem.h"
#include "io/aside.h"
#include "io/cause.h"

spmd_status spmd__file_begin(spmd_mesh *mesh, const char *call, const char *path, spmd_file **out,
                             spmd_file **made)
{
    if (!out)
        return spmd__io_refuse(call, path, "the pointer for the file is NULL");
    if (!path || *path == '\0')
        return spmd__io_refuse(
            call, NULL, path ? "the path of the file is empty" : "the path of the file is NULL");
    spmd_file *file = NULL;
    TRY(spmd__alloc(1, sizeof *file, &file));
    file->id = H5I_INVALID_HID;
    file->directory = -1;
    file->keyval = MPI_KEYVAL_INVALID;
    file->step = -1;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", path);
    }
    file->mesh = spmd__mesh_hold(mesh);
    *made = file;
    return SPMD_OK;
}

spmd_status spmd__file_shut(spmd_file *file)
{
    herr_t failed = H5Fclose(file->id);
    file->id = H5I_INVALID_HID;
    if (failed < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: cannot be %s: %s", file->path,
                         file->aside ? "completed" : "closed", spmd__io_cause().text);
    return SPMD_OK;
}

/* Called as MPI_Finalize begins, while MPI still works. HDF5 would close its files by itself, but
 * some kinds of MPI-IO have ended by then. */
static int drop_forgotten(MPI_Comm self, int keyval, void *file, void *extra)
{
    (void)self, (void)keyval, (void)extra;
    spmd_file *forgotten = file;
    if (forgotten->id >= 0 && forgotten->aside)
        QUIETLY(spmd__aside_abandon(forgotten));
    else if (forgotten->id >= 0)
        QUIETLY(spmd__file_shut(forgotten));
    return MPI_SUCCESS;
}

static spmd_status watch_finalize(spmd_file *file)
{
    TRY_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_forgotten, &file->keyval, NULL));
    TRY_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, file->keyval, file));
    return SPMD_OK;
}

static void destroy(spmd_file *file)
{
    if (file->keyval != MPI_KEYVAL_INVALID && spmd__mpi_is_alive()) {
        MPI_Comm_delete_attr(MPI_COMM_SELF, file->keyval);
        MPI_Comm_free_keyval(&file->keyval);
    }
    spmd_mesh_free(&file->mesh);
    free(file->path);
    free(file->target);
    free(file->aside);
    free(file->alias);
    if (file->directory >= 0)
        close(file->directory);
    free(file);
}

void spmd__file_undo(spmd_file *made)
{
    if (!made)
        return;
    if (made->id >= 0)
        QUIETLY(spmd__file_shut(made));
    if (made->aside && spmd__file_is_first(made))
        unlink(made->aside);
    destroy(made);
}

spmd_status spmd__file_settle(spmd_mesh *mesh, spmd_status status, uint64_t digest, spmd_file *made,
                              spmd_file **out)
{
    if (status == SPMD_OK && made->id >= 0)
        status = watch_finalize(made);
    status = spmd__mesh_agree(mesh, status, digest);
    if (status == SPMD_OK)
        *out = made;
    else
        spmd__file_undo(made);
    return status;
}

bool spmd__file_is_first(const spmd_file *file)
{
    return file->mesh->position == 0;
}

spmd_status spmd__file_check_mesh(const spmd_mesh *mesh, const char *call, const char *path)
{
    if (!mesh)
        return spmd__io_refuse(call, path, "the mesh is NULL");
    if (mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks that could open a file");
    return SPMD_OK;
}

spmd_status spmd__file_check(const spmd_file *file, const char *call, const char *name)
{
    if (!file)
        return spmd__io_refuse(call, name, "the file is NULL: it is closed, or was never opened");
    return SPMD_OK;
}

spmd_status spmd__file_check_new(const spmd_file *file)
{
    if (!file->aside)
        return spmd_fail(
            SPMD_ERR_FILE,
            "the file is open for reading; spmd_file_modify opens an old file to be changed");
    return SPMD_OK;
}

spmd_status spmd__file_check_old(const spmd_file *file)
{
    if (file->aside)
        return spmd_fail(SPMD_ERR_FILE,
                         "the file is still being written; close it, then open it to read");
    return SPMD_OK;
}

spmd_status spmd__file_enter(const spmd_file *file, const char *call, spmd_status status,
                             uint64_t digest)
{
    if (status != SPMD_OK)
        status = spmd__io_refine(status, "%s", file->path);
    return spmd__mesh_agree(file->mesh, status,
                            spmd__hash_text(spmd__hash_text(digest, call), file->path));
}

spmd_status spmd__file_check_regular(const char *path, const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        return spmd_fail(SPMD_ERR_FILE, "%s: is a directory", path);
    if (!S_ISREG(about->st_mode))
        return spmd_fail(SPMD_ERR_FILE, "%s: not a regular file", path);
    return SPMD_OK;
}

/* MPI_Finalize has closed the file. */
static spmd_status close_late(const spmd_file *file)
{
    if (file->aside)
        return spmd_fail(SPMD_ERR_FILE, "%s: not put in place: closed after MPI_Finalize",
                         file->path);
    return SPMD_OK;
}

spmd_status spmd_file_close(spmd_file **file)
{
    TRY(spmd__file_check(file ? *file : NULL, __func__, NULL));
    spmd_file *closed = *file;
    spmd_status status = SPMD_OK;
    if (!spmd__mpi_is_alive()) {
        status = close_late(closed);
    } else if (spmd__mesh_is_member(closed->mesh)) {
        TRY(spmd__file_enter(closed, __func__, SPMD_OK, 0));
        if (closed->aside)
            QUIETLY(status = spmd__aside_finish(closed));
        else
            QUIETLY(status = spmd__mesh_agree(closed->mesh, spmd__file_shut(closed), 0));
    }
    *file = NULL;
    destroy(closed);
    return status;
}

/* Closes without putting in place; fails, with the file still open, where ranks disagree. */
static spmd_status drop(spmd_file *file)
{
    spmd_status status = SPMD_OK;
    if (file->aside) {
        QUIETLY(status = spmd__aside_abandon(file));
        return status;
    }
    TRY(spmd__file_enter(file, __func__, SPMD_OK, 0));
    QUIETLY(spmd__file_shut(file));
    return SPMD_OK;
}

void spmd_file_discard(spmd_file **file)
{
    if (!file || !*file)
        return;
    if (spmd__mpi_is_alive() && (*file)->id >= 0 && drop(*file) != SPMD_OK)
        return;
    destroy(*file);
    *file = NULL;
}

spmd_status spmd__file_end(spmd_file **file, spmd_status status)
{
    if (status == SPMD_OK)
        return spmd_file_close(file);
    spmd_file_discard(file);
    return status;
}
