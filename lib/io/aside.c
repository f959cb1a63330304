/* io/aside.c - files are written aside, with room reserved, then put in place. */
#include "io/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"
#include "io/cause.h"
#include "io/path.h"
#include "io/seal.h"

static bool is_first(const spmd_file *file)
{
    return file->mesh->position == 0;
}

/* Local. */
static spmd_status choose_target(spmd_file *file)
{
    struct stat about;
    if (stat(file->path, &about) == 0)
        TRY(spmd__file_check_regular(file->path, &about));
    return spmd__path_follow(file->path, &file->target);
}

/* What position 0 tells of the file that it has made. */
struct birth {
    int code; /* an errno, or 0 */
    char letters[PATH_LETTERS];
};

static struct birth make_fresh(spmd_file *file)
{
    struct birth birth = {.code = spmd__path_make_fresh(file->target, &file->aside)};
    if (birth.code == 0)
        memcpy(birth.letters, file->aside + strlen(file->aside) - PATH_LETTERS, PATH_LETTERS);
    return birth;
}

static spmd_status open_fresh(spmd_file *file, const char letters[])
{
    file->aside = spmd__path_beside(file->target, letters);
    if (!file->aside)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", file->path);
    int fd = open(file->aside, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return spmd__path_fail(file->path, file->target, errno);
    close(fd);
    return SPMD_OK;
}

/* For metadata, beyond what HDF5 keeps just now. */
enum { MARGIN_BYTES = 1 << 16 };

static spmd_status fail_to_reserve(const spmd_file *file, int64_t bytes, int code)
{
    return spmd__io_fail_errno(code, "%s: no room for %lld bytes", file->path, (long long)bytes);
}

/* Where the file system cannot reserve: whether there is room just now, if it tells. */
static spmd_status look_for_room(spmd_file *file, int fd, int64_t bytes)
{
    struct statvfs disk;
    file->unsure = true;
    if (fstatvfs(fd, &disk) == 0 && disk.f_blocks > 0 &&
        (uint64_t)bytes / disk.f_frsize > disk.f_bavail)
        return fail_to_reserve(file, bytes, ENOSPC);
    return SPMD_OK;
}

static spmd_status reserve(spmd_file *file, int64_t end)
{
    int fd = open(file->aside, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return spmd__io_fail_errno(errno, "%s", file->aside);
    int64_t bytes = end - file->reserved;
    int failed = 0;
    do
        failed = fallocate(fd, FALLOC_FL_KEEP_SIZE, file->reserved, bytes);
    while (failed != 0 && errno == EINTR);
    spmd_status status = SPMD_OK;
    if (failed != 0)
        status = errno == EOPNOTSUPP || errno == ENOSYS ? look_for_room(file, fd, bytes)
                                                        : fail_to_reserve(file, bytes, errno);
    close(fd);
    return status;
}

/* Position 0 makes the file. The others open it, and so know that they can: some kinds of MPI-IO
 * hang where one rank alone cannot. A disk that is full is told now: HDF5 leaves a file that it
 * cannot close, and so crashes at its end. */
static spmd_status make_aside(spmd_file *file)
{
    struct birth birth = {0};
    if (is_first(file))
        birth = make_fresh(file);
    TRY_MPI(MPI_Bcast(&birth, sizeof birth, MPI_BYTE, 0, file->mesh->control));
    if (birth.code != 0)
        return spmd__path_fail(file->path, file->target, birth.code);
    TRY(is_first(file) ? reserve(file, MARGIN_BYTES) : open_fresh(file, birth.letters));
    return spmd__path_shorten(file->aside, &file->directory, &file->alias);
}

/* Chunks are not cached: those that others write would be seen as they were. */
hid_t spmd__aside_access(const spmd_file *file)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, file->mesh->comm, MPI_INFO_NULL);
    H5Pset_coll_metadata_write(access, true);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    H5Pset_cache(access, 0, 0, 0, 0);
    return access;
}

static spmd_status create_file(spmd_file *file)
{
    hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = spmd__aside_access(file);
    H5Pset_all_coll_metadata_ops(access, true);
    if (file->seal > 0)
        H5Pset_userblock(creation, (hsize_t)file->seal);
    file->id = H5Fcreate(file->alias, H5F_ACC_TRUNC, creation, access);
    spmd_status status = SPMD_OK;
    if (file->id < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: cannot be created: %s", file->path,
                           spmd__io_cause().text);
    H5Pclose(access);
    H5Pclose(creation);
    return status;
}

/* Local. What can be found out before there is a file. */
static spmd_status begin_on_member(spmd_file *file, const struct aside_call *how)
{
    spmd_status status = choose_target(file);
    if (status == SPMD_OK && how->look)
        QUIETLY(status = how->look(file));
    return status;
}

/* With room for metadata from now on. */
static spmd_status open_aside(spmd_file *file, const struct aside_call *how)
{
    TRY(how->open_aside(file));
    return spmd__aside_reserve(file, 0);
}

spmd_status spmd__aside_begin(spmd_mesh *mesh, const char *path, const struct aside_call *how,
                              spmd_file **file)
{
    TRY(spmd__file_check_mesh(mesh));
    bool member = spmd__mesh_is_member(mesh);
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, path, file, &made);
    if (status == SPMD_OK) {
        made->seal = how->seal;
        made->step = how->step;
    }
    if (status == SPMD_OK && member)
        status = begin_on_member(made, how);
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, how->name), path);
    digest = spmd__hash(digest, (int64_t[]){how->seal, how->step}, 2 * sizeof(int64_t));
    status = spmd__mesh_agree(mesh, status, digest);
    if (status == SPMD_OK && member)
        status = spmd__mesh_agree(mesh, make_aside(made), 0);
    if (status != SPMD_OK) {
        spmd__file_undo(made);
        return status;
    }
    if (member)
        QUIETLY(status = open_aside(made, how));
    return spmd__file_settle(mesh, status, 0, made, file);
}

spmd_status spmd__aside_create(spmd_mesh *mesh, const char *path, int64_t seal, int64_t step,
                               spmd_file **file)
{
    const struct aside_call how = {
        .name = "create", .seal = seal, .step = step, .open_aside = create_file};
    return spmd__aside_begin(mesh, path, &how, file);
}

spmd_status spmd_file_create(spmd_mesh *mesh, const char *path, spmd_file **file)
{
    return spmd__aside_create(mesh, path, 0, -1, file);
}

/* Where the file will end at most: past `bytes` more than what has its place by now, and the
 * metadata that HDF5 still keeps. */
static int64_t furthest_end(const spmd_file *file, int64_t bytes)
{
    hsize_t end = 0;
    size_t metadata = 0;
    H5Fget_filesize(file->id, &end);
    H5Fget_mdc_size(file->id, NULL, NULL, &metadata, NULL);
    return (int64_t)end + bytes + (int64_t)metadata + MARGIN_BYTES;
}

/* HDF5 leaves holes where it allocates. A disk that is found full only when data is written, or
 * metadata at the end, makes MPI-IO lose data or hang; so the room is taken before. */
spmd_status spmd__aside_reserve(spmd_file *file, int64_t bytes)
{
    int64_t end = furthest_end(file, bytes);
    if (end <= file->reserved)
        return SPMD_OK;
    if (is_first(file))
        TRY(reserve(file, end));
    file->reserved = end;
    return SPMD_OK;
}

/* Gives back the room that was reserved in vain: all after the end of the file. */
static int trim(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 ? ftruncate(fd, about.st_size) : -1;
}

/* Gets what this rank has written to the disk. */
static spmd_status sync_data(const spmd_file *file)
{
    int fd = open(file->aside, O_RDWR | O_CLOEXEC);
    spmd_status status = SPMD_OK;
    if (fd < 0 || (is_first(file) && trim(fd) != 0) || fsync(fd) != 0)
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
    if (is_first(file))
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
        status = spmd__aside_reserve(file, 0);
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
        status = spmd__mesh_agree(file->mesh, is_first(file) ? put_in_place(file) : SPMD_OK, 0);
    if (status != SPMD_OK && is_first(file))
        unlink(file->aside);
    return status;
}

/* Closing a file makes HDF5 write its metadata. Where the disk may be full, the file's own data
 * makes room for it. */
static void make_room(const spmd_file *file)
{
    int fd = open(file->aside, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

spmd_status spmd__aside_abandon(spmd_file *file)
{
    if (file->broken && is_first(file))
        make_room(file);
    TRY(spmd__file_enter(file, __func__, SPMD_OK, 0));
    H5Fclose(file->id);
    file->id = H5I_INVALID_HID;
    if (is_first(file))
        unlink(file->aside);
    return spmd__mesh_agree(file->mesh, SPMD_OK, 0);
}
