/* matrix_file.c - a matrix of doubles that goes to a file and comes back. */
#include "matrix_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t matrix_bytes(const spmd_box *box)
{
    return spmd_box_size(box) * (int64_t)sizeof(double);
}

static void fill(const struct matrix_file *matrix)
{
    double *at = matrix->block;
    for (int64_t i = matrix->box.lo[0]; i < matrix->box.hi[0]; i++)
        for (int64_t j = matrix->box.lo[1]; j < matrix->box.hi[1]; j++)
            *at++ = (double)(i * matrix->shape.dim[1] + j);
}

void matrix_check(const spmd_box *box, spmd_shape shape, const double *block, const char *who)
{
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            if (*block++ != (double)(i * shape.dim[1] + j))
                bench_check(spmd_fail(SPMD_ERR_FILE, "%s has a wrong value at %lld,%lld", who,
                                      (long long)i, (long long)j));
}

void matrix_begin(struct matrix_file *matrix, spmd_mesh *mesh, const char *spec, spmd_shape shape,
                  const char *path)
{
    spmd_sharding *sharding;
    *matrix = (struct matrix_file){.mesh = mesh, .spec = spec, .shape = shape, .descriptor = -1};
    snprintf(matrix->path, sizeof matrix->path, "%s", path);
    bench_check(spmd_sharding_create(mesh, spec, &sharding));
    bench_check(spmd_sharding_box(sharding, shape, spmd_mesh_position(mesh), &matrix->box));
    spmd_sharding_free(&sharding);
    bench_check(spmd_array_arange(mesh, spec, SPMD_F64, shape, &matrix->array));
    matrix->block = bench_allocate(spmd_box_size(&matrix->box), sizeof(double));
    fill(matrix);
}

void matrix_end(struct matrix_file *matrix)
{
    matrix_remove(matrix);
    free(matrix->block);
    spmd_array_free(&matrix->array);
}

void matrix_aside_path(const struct matrix_file *matrix, size_t size, char path[])
{
    snprintf(path, size, "%s.aside", matrix->path);
}

void matrix_remove(const struct matrix_file *matrix)
{
    char aside[sizeof matrix->path + 16];
    matrix_aside_path(matrix, sizeof aside, aside);
    if (spmd_mesh_position(matrix->mesh) == 0) {
        unlink(matrix->path);
        unlink(aside);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void matrix_open(struct matrix_file *matrix)
{
    matrix->synced = true;
    hdf5_write_collectively(matrix);
    memset(matrix->block, 0, (size_t)matrix_bytes(&matrix->box));
    bench_check(spmd_file_open(matrix->mesh, matrix->path, &matrix->file));
    matrix->hdf5 = hdf5_open(matrix->path);
    matrix->descriptor = open(matrix->path, O_RDONLY | O_CLOEXEC);
}

void matrix_close(struct matrix_file *matrix)
{
    bench_check(spmd_file_close(&matrix->file));
    hdf5_close(matrix->hdf5);
    close(matrix->descriptor);
    matrix_remove(matrix);
}
