/* rival_hdf5.c - a matrix to and from a dataset by HDF5's own calls. */
#include <fcntl.h>
#include <unistd.h>

#define H5_USE_110_API
#include <hdf5.h>

#include "matrix_file.h"

static const char name[] = "matrix";

static hid_t check(hid_t made)
{
    if (made < 0)
        bench_check(spmd_fail(SPMD_ERR_FILE, "HDF5 cannot do that"));
    return made;
}

static hid_t create_file(const char *path)
{
    hid_t access = check(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, 1);
    H5Pset_coll_metadata_write(access, 1);
    hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
    return file;
}

static hid_t create_dataset(const struct matrix_file *matrix, hid_t file)
{
    hsize_t extent[] = {(hsize_t)matrix->shape.dim[0], (hsize_t)matrix->shape.dim[1]};
    hsize_t chunk[] = {(hsize_t)matrix->chunk, (hsize_t)matrix->chunk};
    hid_t creation = check(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    if (matrix->chunk)
        H5Pset_chunk(creation, 2, chunk);
    if (matrix->deflate)
        H5Pset_deflate(creation, (unsigned)matrix->deflate);
    hid_t space = check(H5Screate_simple(2, extent, NULL));
    hid_t dataset =
        check(H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
    return dataset;
}

/* This rank's box: in memory, and in the file. */
static void select_box(const struct matrix_file *matrix, hid_t dataset, hid_t *memory, hid_t *place)
{
    hsize_t start[2], count[2];
    for (int d = 0; d < 2; d++) {
        start[d] = (hsize_t)matrix->box.lo[d];
        count[d] = (hsize_t)(matrix->box.hi[d] - matrix->box.lo[d]);
    }
    *memory = check(H5Screate_simple(2, count, NULL));
    *place = check(H5Dget_space(dataset));
    check(H5Sselect_hyperslab(*place, H5S_SELECT_SET, start, NULL, count, NULL));
}

static hid_t create_transfer(bool collective)
{
    hid_t transfer = check(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_dxpl_mpio(transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    return transfer;
}

/* To the disk, and to its name. */
static void put_in_place(const struct matrix_file *matrix, const char *aside)
{
    int descriptor = open(aside, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 || fsync(descriptor) != 0)
        bench_check(spmd_fail(SPMD_ERR_FILE, "%s cannot be synced", aside));
    close(descriptor);
    MPI_Barrier(MPI_COMM_WORLD);
    if (spmd_mesh_position(matrix->mesh) == 0)
        rename(aside, matrix->path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The dataset, in a file that is there. */
static void write_dataset(struct matrix_file *matrix, hid_t file, bool collective)
{
    hid_t memory, place, transfer = create_transfer(collective);
    hid_t dataset = create_dataset(matrix, file);
    select_box(matrix, dataset, &memory, &place);
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, place, transfer, matrix->block));
    if (!matrix->chunk)
        matrix->offset = (int64_t)H5Dget_offset(dataset);
    check(H5Dclose(dataset));
    H5Sclose(memory);
    H5Sclose(place);
    H5Pclose(transfer);
}

static void write_matrix(struct matrix_file *matrix, bool collective)
{
    char aside[sizeof matrix->path + 16];
    matrix_aside_path(matrix, sizeof aside, aside);
    contest_pause();
    matrix_remove(matrix);
    hid_t file = create_file(aside);
    contest_resume();
    write_dataset(matrix, file, collective);
    if (!matrix->synced)
        contest_pause();
    check(H5Fclose(file));
    if (matrix->synced) {
        put_in_place(matrix, aside);
    } else {
        matrix_remove(matrix);
        contest_resume();
    }
}

void hdf5_write_independently(void *state)
{
    write_matrix(state, false);
}

void hdf5_write_collectively(void *state)
{
    write_matrix(state, true);
}

int64_t hdf5_open(const char *path)
{
    hid_t access = check(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(access, 1);
    hid_t file = check(H5Fopen(path, H5F_ACC_RDONLY, access));
    H5Pclose(access);
    return file;
}

void hdf5_close(int64_t file)
{
    check(H5Fclose(file));
}

static void read_matrix(struct matrix_file *matrix, bool collective)
{
    hid_t memory, place, transfer = create_transfer(collective);
    hid_t dataset = check(H5Dopen2(matrix->hdf5, name, H5P_DEFAULT));
    select_box(matrix, dataset, &memory, &place);
    check(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, place, transfer, matrix->block));
    H5Dclose(dataset);
    H5Sclose(memory);
    H5Sclose(place);
    H5Pclose(transfer);
}

void hdf5_read_independently(void *state)
{
    read_matrix(state, false);
}

void hdf5_read_collectively(void *state)
{
    read_matrix(state, true);
}
