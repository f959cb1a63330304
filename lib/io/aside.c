/* io/aside.c - files that are written aside: begun. */
#include "io/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"
#include "io/cause.h"
#include "io/path.h"
#include "io/room.h"

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

/* Position 0 makes the file. The others open it, and so know that they can: some kinds of MPI-IO
 * hang where one rank alone cannot. A disk that is full is told now: HDF5 leaves a file that it
 * cannot close, and so crashes at its end. */
static spmd_status make_aside(spmd_file *file)
{
    struct birth birth = {0};
    if (spmd__file_is_first(file))
        birth = make_fresh(file);
    TRY_MPI(MPI_Bcast(&birth, sizeof birth, MPI_BYTE, 0, file->mesh->control));
    if (birth.code != 0)
        return spmd__path_fail(file->path, file->target, birth.code);
    TRY(spmd__file_is_first(file) ? spmd__room_begin(file) : open_fresh(file, birth.letters));
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
    return spmd__room_reserve(file, 0);
}

spmd_status spmd__aside_begin(spmd_mesh *mesh, const char *path, const struct aside_call *how,
                              spmd_file **file)
{
    TRY(spmd__file_check_mesh(mesh, how->name, path));
    bool member = spmd__mesh_is_member(mesh);
    spmd_file *made = NULL;
    spmd_status status = spmd__file_begin(mesh, how->name, path, file, &made);
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
        .name = "spmd_file_create", .seal = seal, .step = step, .open_aside = create_file};
    return spmd__aside_begin(mesh, path, &how, file);
}

spmd_status spmd_file_create(spmd_mesh *mesh, const char *path, spmd_file **file)
{
    return spmd__aside_create(mesh, path, 0, -1, file);
}
