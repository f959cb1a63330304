/* io/file_open.c - files that are opened to read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "io/cause.h"
#include "io/file.h"
#include "io/seal.h"

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
    TRY(spmd__file_check_mesh(mesh, __func__, path));
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, __func__, path, file, &made);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        QUIETLY(status = spmd__file_open_old(made));
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, __func__), path);
    return spmd__file_settle(mesh, status, digest, made, file);
}

spmd_status spmd_file_open_image(spmd_mesh *mesh, const void *bytes, size_t size, const char *name,
                                 spmd_file **file)
{
    TRY(spmd__file_check_mesh(mesh, __func__, name));
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, __func__, name, file, &made);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        QUIETLY(status = open_image(made, bytes, size));
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, __func__), name);
    digest = spmd__hash(digest, bytes, bytes ? size : 0);
    return spmd__file_settle(mesh, status, digest, made, file);
}
