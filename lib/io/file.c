/* io/file.c - file handles: opening, and beginning and ending calls on them. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"
#include "core/mem.h"
#include "io/aside.h"
#include "io/cause.h"
#include "io/seal.h"

spmd_status spmd__file_begin(spmd_mesh *mesh, const char *path, spmd_file **out, spmd_file **made)
{
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the file is NULL");
    if (!path || *path == '\0')
        return spmd_fail(SPMD_ERR_ARGUMENT, "the path of the file is %s", path ? "empty" : "NULL");
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
    if (made->aside && made->mesh->position == 0)
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

spmd_status spmd__file_check_mesh(const spmd_mesh *mesh)
{
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the mesh is NULL");
    if (mesh->abstract)
        return spmd_fail(SPMD_ERR_MESH, "an abstract mesh has no ranks that could open a file");
    return SPMD_OK;
}

spmd_status spmd__file_check(const spmd_file *file)
{
    if (!file)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the file is NULL: it is closed, or was never opened");
    return SPMD_OK;
}

spmd_status spmd__file_check_new(const spmd_file *file)
{
    if (!file->aside)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: opened for reading; spmd_file_modify opens an old file to be changed",
                         file->path);
    return SPMD_OK;
}

spmd_status spmd__file_check_old(const spmd_file *file)
{
    if (file->aside)
        return spmd_fail(SPMD_ERR_FILE, "%s: still being written; close it, then open it to read",
                         file->path);
    return SPMD_OK;
}

spmd_status spmd__file_enter(const spmd_file *file, const char *call, spmd_status status,
                             uint64_t digest)
{
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

/* What HDF5 says of these is hard to read. */
static spmd_status probe(const char *path, int64_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return spmd__io_fail_errno(errno, "%s", path);
    struct stat about = {0};
    spmd_status status = fstat(fd, &about) == 0 ? spmd__file_check_regular(path, &about)
                                                : spmd__io_fail_errno(errno, "%s", path);
    close(fd);
    *bytes = about.st_size;
    return status;
}

static spmd_status fail_to_open(const char *path)
{
    struct cause cause = spmd__io_cause();
    if (cause.minor == H5E_NOTHDF5)
        return spmd_fail(SPMD_ERR_FILE, "%s: not an HDF5 file", path);
    if (cause.minor == H5E_TRUNCATED)
        return spmd_fail(SPMD_ERR_FILE, "%s: cut short (%s)", path, cause.text);
    if (cause.minor == H5E_CANTLOCKFILE)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: locked by a program that writes it; wait for it, or set "
                         "HDF5_USE_FILE_LOCKING=FALSE to read all the same (%s)",
                         path, cause.text);
    return spmd_fail(SPMD_ERR_FILE, "%s: %s", path, cause.text);
}

int64_t spmd__file_bytes(const spmd_file *file)
{
    int *fd = NULL;
    struct stat about;
    if (H5Fget_vfd_handle(file->id, H5P_DEFAULT, (void **)&fd) < 0 || fstat(*fd, &about) != 0)
        return file->bytes;
    return about.st_size;
}

/* HDF5 may crash on damaged metadata; that of a checkpoint is known to be whole. */
static spmd_status check_seal(spmd_file *file)
{
    struct seal seal;
    TRY(spmd__seal_check(file->path, file->path, &seal));
    file->step = seal.step;
    spmd__seal_free(&seal);
    return SPMD_OK;
}

/* Each rank opens the file for itself. With MPI-IO and collective metadata, one rank reads for all;
 * but where it meets damage, HDF5 leaves the others waiting for ever. */
spmd_status spmd__file_open_old(spmd_file *file)
{
    TRY(probe(file->path, &file->bytes));
    TRY(check_seal(file));
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access);
    file->id = H5Fopen(file->path, H5F_ACC_RDONLY, access);
    spmd_status status = file->id < 0 ? fail_to_open(file->path) : SPMD_OK;
    H5Pclose(access);
    return status;
}

/* HDF5 takes two images of one name for one file, so each gets a name of its own. */
static spmd_status open_image(spmd_file *file, const void *bytes, size_t size)
{
    enum { GROWTH = 1 << 16 };
    if (!bytes || size == 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: the image of the file is empty", file->path);
    struct seal seal;
    TRY(spmd__seal_check_image(bytes, size, file->path, &seal));
    file->step = seal.step;
    spmd__seal_free(&seal);
    char name[40];
    snprintf(name, sizeof name, "image %p", (void *)file);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    spmd_status status = SPMD_OK;
    if (H5Pset_fapl_core(access, GROWTH, false) < 0 ||
        H5Pset_file_image(access, (void *)bytes, size) < 0)
        status = spmd_fail(SPMD_ERR_MEMORY, "%s: %s", file->path, spmd__io_cause().text);
    else if ((file->id = H5Fopen(name, H5F_ACC_RDONLY, access)) < 0)
        status = fail_to_open(file->path);
    H5Pclose(access);
    return status;
}

spmd_status spmd_file_open(spmd_mesh *mesh, const char *path, spmd_file **file)
{
    TRY(spmd__file_check_mesh(mesh));
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, path, file, &made);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        QUIETLY(status = spmd__file_open_old(made));
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, __func__), path);
    return spmd__file_settle(mesh, status, digest, made, file);
}

spmd_status spmd_file_open_image(spmd_mesh *mesh, const void *bytes, size_t size, const char *name,
                                 spmd_file **file)
{
    TRY(spmd__file_check_mesh(mesh));
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, name, file, &made);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        QUIETLY(status = open_image(made, bytes, size));
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, __func__), name);
    digest = spmd__hash(digest, bytes, bytes ? size : 0);
    return spmd__file_settle(mesh, status, digest, made, file);
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
    TRY(spmd__file_check(file ? *file : NULL));
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
