/* rival_raw.c - the bytes of a matrix by pwrite and pread, without a file format. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "matrix_file.h"

enum { CALL_BYTES = 8 << 20 };

static void complain(const char *what)
{
    bench_check(spmd_fail(SPMD_ERR_FILE, "%s: %s", what, strerror(errno)));
}

static void put(int descriptor, const char *data, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t done =
            pwrite(descriptor, data, (size_t)(bytes < CALL_BYTES ? bytes : CALL_BYTES), offset);
        if (done < 0)
            complain("pwrite");
        data += done;
        bytes -= done;
        offset += done;
    }
}

static void get(int descriptor, char *data, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t done =
            pread(descriptor, data, (size_t)(bytes < CALL_BYTES ? bytes : CALL_BYTES), offset);
        if (done <= 0)
            complain("pread");
        data += done;
        bytes -= done;
        offset += done;
    }
}

/* The rows that this rank would have of all, whatever the box is: what a program without a library
 * writes fastest. */
static spmd_box rows_of(const struct matrix_file *matrix)
{
    int64_t rank = spmd_mesh_position(matrix->mesh), ranks = spmd_mesh_size(matrix->mesh);
    int64_t rows = matrix->shape.dim[0];
    return (spmd_box){.ndim = 2,
                      .lo = {rows * rank / ranks},
                      .hi = {rows * (rank + 1) / ranks, matrix->shape.dim[1]}};
}

static int64_t place_of(const struct matrix_file *matrix, int64_t row, int64_t column)
{
    return matrix->offset + (row * matrix->shape.dim[1] + column) * (int64_t)sizeof(double);
}

/* By rows, from memory that may have been meant for columns; rank 0 takes the room first if
 * `reserved`, as we do. */
static void write_rows(struct matrix_file *matrix, bool reserved)
{
    char aside[sizeof matrix->path + 16];
    matrix_aside_path(matrix, sizeof aside, aside);
    contest_pause();
    matrix_remove(matrix);
    contest_resume();
    spmd_box rows = rows_of(matrix);
    int descriptor = open(aside, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0)
        complain(aside);
    if (reserved && spmd_mesh_position(matrix->mesh) == 0)
        fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0,
                  spmd_shape_size(matrix->shape) * (int64_t)sizeof(double));
    if (reserved)
        MPI_Barrier(MPI_COMM_WORLD);
    put(descriptor, (const char *)matrix->block, matrix_bytes(&rows),
        place_of(matrix, rows.lo[0], 0));
    if (matrix->synced && fsync(descriptor) != 0)
        complain(aside);
    close(descriptor);
    MPI_Barrier(MPI_COMM_WORLD);
    if (matrix->synced && spmd_mesh_position(matrix->mesh) == 0)
        rename(aside, matrix->path);
    contest_pause();
    matrix_remove(matrix);
    contest_resume();
}

void raw_write(void *state)
{
    write_rows(state, false);
}

void raw_write_reserved(void *state)
{
    write_rows(state, true);
}

static void read_box(const struct matrix_file *matrix, const spmd_box *box, double *data)
{
    int64_t columns = box->hi[1] - box->lo[1], step = 1;
    if (columns == matrix->shape.dim[1])
        step = box->hi[0] - box->lo[0];
    for (int64_t i = box->lo[0]; i < box->hi[0]; i += step, data += step * columns)
        get(matrix->descriptor, (char *)data, step * columns * (int64_t)sizeof *data,
            place_of(matrix, i, box->lo[1]));
}

void raw_read(void *state)
{
    const struct matrix_file *matrix = state;
    read_box(matrix, &matrix->box, matrix->block);
}

void raw_read_and_broadcast(void *state)
{
    const struct matrix_file *matrix = state;
    if (spmd_mesh_position(matrix->mesh) == 0)
        read_box(matrix, &matrix->box, matrix->block);
    MPI_Bcast(matrix->block, (int)spmd_box_size(&matrix->box), MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* The rows divide. */
void raw_read_and_gather(void *state)
{
    const struct matrix_file *matrix = state;
    spmd_box rows = rows_of(matrix);
    read_box(matrix, &rows, matrix->block + rows.lo[0] * matrix->shape.dim[1]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, matrix->block, (int)spmd_box_size(&rows),
                  MPI_DOUBLE, MPI_COMM_WORLD);
}
