/* modify.c - old files that are changed: what they are in the end, and until then. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "harness.h"
#include "scratch.h"

static spmd_mesh *make_mesh(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    return mesh;
}

static spmd_array *arange(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_F64, shape, &array));
    return array;
}

/* A file with "v", 7 numbers. */
static const char *make_file(spmd_mesh *mesh, const char *name)
{
    const char *path = scratch(name);
    spmd_array *array = arange(mesh, "P(x)", SPMD_SHAPE(7));
    EXPECT_OK(spmd_write(array, path, "v"));
    spmd_array_free(&array);
    return path;
}

/* Whether "v" is `shift` more than 7 numbers from 0 on. */
static void expect_numbers(spmd_mesh *mesh, const char *path, double shift)
{
    spmd_array *read = NULL;
    double numbers[7] = {-1};
    EXPECT_OK(spmd_read(mesh, path, "v", "P(x)", SPMD_F64, &read));
    EXPECT_OK(spmd_array_gather(read, SPMD_ALL, numbers, 7));
    for (int i = 0; i < 7; i++)
        EXPECT(numbers[i] == i + shift);
    spmd_array_free(&read);
}

static spmd_status shifted(const spmd_box *box, void *data, void *user)
{
    double *at = data, *shift = user;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        *at++ = (double)i + *shift;
    return SPMD_OK;
}

static void overwrite(spmd_file *file, spmd_mesh *mesh, double shift)
{
    spmd_array *array = NULL;
    EXPECT_OK(
        spmd_array_from_callback(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(7), shifted, &shift, &array));
    EXPECT_OK(spmd_dataset_write_hyperslab(file, "v", NULL, array));
    spmd_array_free(&array);
}

static void the_old_file_stays_until_the_close(void)
{
    spmd_mesh *mesh = make_mesh();
    const char *path = make_file(mesh, "v.h5");
    spmd_file *file = NULL;
    spmd_dtype dtype;
    spmd_shape shape;
    if (test_rank == 0)
        EXPECT(chmod(path, 0640) == 0);
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    overwrite(file, mesh, 10);
    spmd_array *more = arange(mesh, "P()", SPMD_SHAPE(2, 2));
    EXPECT_OK(spmd_dataset_write(file, "g/more", more));
    EXPECT_OK(spmd_dataset_set_text(file, "v", "unit", "m"));
    EXPECT_OK(spmd_dataset_info(file, "v", &dtype, &shape));
    EXPECT(dtype == SPMD_F64 && spmd_shape_equal(shape, SPMD_SHAPE(7)));
    expect_numbers(mesh, path, 0);
    EXPECT_OK(spmd_file_close(&file));
    expect_numbers(mesh, path, 10);

    struct stat about;
    char *text = NULL;
    spmd_array *read = NULL;
    EXPECT(stat(path, &about) == 0 && (about.st_mode & 0777) == 0640);
    EXPECT_OK(spmd_read(mesh, path, "g/more", "P()", SPMD_F64, &read));
    EXPECT(same_blocks(read, more));
    EXPECT_OK(spmd_file_open(mesh, path, &file));
    EXPECT_OK(spmd_dataset_get_text(file, "v", "unit", &text));
    EXPECT(text && strcmp(text, "m") == 0);
    EXPECT_OK(spmd_file_close(&file));
    free(text);
    spmd_array_free(&read);
    spmd_array_free(&more);
    spmd_mesh_free(&mesh);
}

static void a_change_is_discarded(void)
{
    spmd_mesh *mesh = make_mesh();
    const char *path = make_file(mesh, "v.h5");
    spmd_file *file = NULL;
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    overwrite(file, mesh, 10);
    spmd_file_discard(&file);
    expect_numbers(mesh, path, 0);
    spmd_mesh_free(&mesh);
}

static void the_last_change_wins(void)
{
    spmd_mesh *mesh = make_mesh();
    const char *path = make_file(mesh, "v.h5");
    spmd_file *first = NULL, *second = NULL;
    EXPECT_OK(spmd_file_modify(mesh, path, &first));
    EXPECT_OK(spmd_file_modify(mesh, path, &second));
    overwrite(first, mesh, 1);
    overwrite(second, mesh, 2);
    EXPECT_OK(spmd_file_close(&second));
    expect_numbers(mesh, path, 2);
    EXPECT_OK(spmd_file_close(&first));
    expect_numbers(mesh, path, 1);
    spmd_mesh_free(&mesh);
}

static void a_link_is_followed(void)
{
    spmd_mesh *mesh = make_mesh();
    const char *path = make_file(mesh, "v.h5"), *link = scratch("link.h5");
    spmd_file *file = NULL;
    struct stat about;
    if (test_rank == 0)
        EXPECT(symlink("v.h5", link) == 0);
    after_rank_0();
    EXPECT_OK(spmd_file_modify(mesh, link, &file));
    overwrite(file, mesh, 3);
    EXPECT_OK(spmd_file_close(&file));
    expect_numbers(mesh, path, 3);
    EXPECT(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    spmd_mesh_free(&mesh);
}

static void what_cannot_be_changed_is_told(void)
{
    spmd_mesh *mesh = make_mesh();
    const char *path = scratch("text.h5"), *whole = make_file(mesh, "v.h5");
    spmd_file *file = NULL;
    if (test_rank == 0) {
        FILE *stream = fopen(path, "w");
        fputs("no HDF5 at all", stream);
        fclose(stream);
    }
    after_rank_0();
    EXPECT_FAILS(spmd_file_modify(mesh, scratch("none.h5"), &file), SPMD_ERR_FILE,
                 "none.h5: no such file");
    EXPECT_FAILS(spmd_file_modify(mesh, path, &file), SPMD_ERR_FILE, "text.h5: not an HDF5 file");
    if (test_rank == 0)
        EXPECT(truncate(whole, 1000) == 0);
    after_rank_0();
    EXPECT_FAILS(spmd_file_modify(mesh, whole, &file), SPMD_ERR_FILE, "v.h5: cut short");
    EXPECT_FAILS(spmd_file_modify(mesh, NULL, &file), SPMD_ERR_ARGUMENT,
                 "spmd_file_modify: the path of the file is NULL");
    EXPECT_FAILS(spmd_file_modify(mesh, path, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_file_modify(NULL, path, &file), SPMD_ERR_ARGUMENT, "mesh is NULL");
    EXPECT(file == NULL);
    spmd_mesh_free(&mesh);
}

/* Chunks that get their place only as they are written, as other programs pack them: HDF5 would
 * wait for ever. Parts that are there are written. */
static void packed_chunks_of_other_programs(void)
{
    enum { ROWS = 40 };
    spmd_mesh *mesh = make_mesh();
    const char *path = scratch("other.h5");
    if (test_rank == 0) {
        double numbers[ROWS] = {0};
        hid_t handle = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        hid_t space = H5Screate_simple(1, (hsize_t[]){ROWS}, (hsize_t[]){H5S_UNLIMITED});
        H5Pset_chunk(creation, 1, (hsize_t[]){8});
        H5Pset_deflate(creation, 6);
        hid_t dataset =
            H5Dcreate2(handle, "v", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
        H5Dclose(dataset);
        dataset =
            H5Dcreate2(handle, "some", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, (hsize_t[]){0}, NULL, (hsize_t[]){1},
                            (hsize_t[]){8});
        H5Dwrite(dataset, H5T_NATIVE_DOUBLE, space, space, H5P_DEFAULT, numbers);
        H5Dclose(dataset);
        H5Sclose(space);
        H5Pclose(creation);
        H5Fclose(handle);
    }
    after_rank_0();
    spmd_file *file = NULL;
    spmd_array *array = arange(mesh, "P(x)", SPMD_SHAPE(ROWS)), *read = NULL;
    double sum = 0, all[ROWS] = {0};
    EXPECT_OK(spmd_file_modify(mesh, path, &file));
    if (array && spmd_array_block(array)) {
        EXPECT(spmd_dataset_append(file, "v", array) == SPMD_ERR_FILE);
        EXPECT(strstr(spmd_error_message(), "spmd convert"));
        EXPECT(spmd_dataset_write_hyperslab(file, "some", NULL, array) == SPMD_ERR_FILE);
    }
    EXPECT_OK(spmd_dataset_write_hyperslab(file, "v", NULL, array));
    EXPECT_OK(spmd_file_close(&file));
    EXPECT_OK(spmd_read(mesh, path, "v", "P(x)", SPMD_F64, &read));
    EXPECT_OK(spmd_array_gather(read, SPMD_ALL, all, ROWS));
    for (int i = 0; i < ROWS; i++)
        sum += all[i];
    EXPECT(sum == ROWS * (ROWS - 1) / 2.);
    spmd_array_free(&read);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("modify", CASE(the_old_file_stays_until_the_close), CASE(a_change_is_discarded),
             CASE(the_last_change_wins), CASE(a_link_is_followed),
             CASE(what_cannot_be_changed_is_told), CASE(packed_chunks_of_other_programs))
