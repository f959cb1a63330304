/* io_lost.c - where a file system cannot reserve room, what HDF5 has written is read back: what
 * cannot be read, or is lost, is told, and the old file stays. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#include "meshes.h"
#include "scratch.h"

/* What the system does to files; the library and HDF5 find these calls before its own. */
static enum disk { RESERVES, CANNOT_RESERVE, CANNOT_READ, LOSES } disk;
static int reads;

/* The pool of memory makes room in another mode. */
int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    int (*next)(int, int, off_t, off_t);
    *(void **)&next = dlsym(RTLD_NEXT, "fallocate");
    if (disk == RESERVES || mode != FALLOC_FL_KEEP_SIZE)
        return next(fd, mode, offset, bytes);
    errno = EOPNOTSUPP;
    return -1;
}

int MPI_File_read_at(MPI_File file, MPI_Offset offset, void *buffer, int count, MPI_Datatype type,
                     MPI_Status *status)
{
    reads++;
    if (disk == CANNOT_READ)
        return MPI_ERR_IO;
    int code = PMPI_File_read_at(file, offset, buffer, count, type, status);
    if (disk == LOSES && count > 0)
        *(char *)buffer ^= 1;
    return code;
}

/* In chunks, which HDF5 writes. */
static spmd_status write_full(spmd_mesh *mesh, const char *path, double value)
{
    const spmd_dataset_options options = {.chunk = {2, 3}};
    spmd_file *file = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(
        spmd_array_full(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(2 * test_size, 3), &value, &array));
    spmd_status status = spmd_file_create(mesh, path, &file);
    if (status == SPMD_OK)
        status = spmd_dataset_write_as(file, "v", array, &options);
    if (status == SPMD_OK)
        status = spmd_file_close(&file);
    else
        spmd_file_discard(&file);
    spmd_array_free(&array);
    return status;
}

static void expect_full(spmd_mesh *mesh, const char *path, double value)
{
    spmd_array *read = NULL;
    if (!EXPECT_OK(spmd_read(mesh, path, "v", "P(x)", SPMD_F64, &read)))
        return;
    const spmd_block *block = spmd_array_block(read);
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        EXPECT(((double *)block->data)[i] == value);
    spmd_array_free(&read);
}

static void what_has_no_room_for_sure_is_read_back(void)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch("whole.h5");
    reads = 0;
    disk = CANNOT_RESERVE;
    EXPECT_OK(write_full(mesh, path, 1));
    EXPECT(reads > 0);
    disk = RESERVES;
    expect_full(mesh, path, 1);
    spmd_mesh_free(&mesh);
}

/* On such a disk a file that is there is not replaced. */
static void expect_told(enum disk failure, const char *name, const char *message)
{
    spmd_mesh *mesh = make_line();
    const char *path = scratch(name);
    EXPECT_OK(write_full(mesh, path, 1));
    disk = failure;
    EXPECT_FAILS(write_full(mesh, path, 2), SPMD_ERR_FILE, message);
    disk = RESERVES;
    expect_full(mesh, path, 1);
    spmd_mesh_free(&mesh);
}

static void what_cannot_be_read_back_is_told(void)
{
    expect_told(CANNOT_READ, "unread.h5",
                "unread.h5: dataset \"v\" was written, but cannot be read to verify it: ");
}

static void what_is_lost_is_told(void)
{
    expect_told(LOSES, "lost.h5",
                "lost.h5: dataset \"v\" cannot be written: some of it is lost, as on a full disk");
}

HARNESS_MAIN("io_lost", CASE(what_has_no_room_for_sure_is_read_back),
             CASE(what_cannot_be_read_back_is_told), CASE(what_is_lost_is_told))
