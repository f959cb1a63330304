/* 19_datasets.c - how do I save a series step by step, and read a part of it?
 *
 * A dataset may grow along dim 0: each step appends its field as one more row, and no rank ever has
 * the series, or a whole row. A hyperslab is a part of a dataset with a start, a count and a stride
 * in each dimension, and is read under any sharding, here every second step of the cells inside.
 *
 *     mpicc 19_datasets.c $(pkg-config --cflags --libs spmd) -o datasets
 *     mpirun -n 4 ./datasets          # on any number of ranks the same numbers
 */
#include <spmd.h>

enum { STEPS = 6, CELLS = 10 };

/* The field after a step. */
static spmd_status field(const spmd_box *box, void *out, void *user)
{
    int32_t *cell = out, step = *(int *)user;
    for (int64_t c = box->lo[1]; c < box->hi[1]; c++)
        *cell++ = 100 * step + (int32_t)c;
    return SPMD_OK;
}

static spmd_status write_series(spmd_mesh *mesh)
{
    spmd_file *file;
    spmd_array *row;
    SPMD_TRY(spmd_file_create(mesh, "series.h5", &file));
    SPMD_TRY(spmd_dataset_create(file, "field", SPMD_I32, SPMD_SHAPE(0, CELLS),
                                 &(spmd_dataset_options){.unlimited = true}));
    for (int step = 0; step < STEPS; step++) {
        SPMD_TRY(spmd_array_from_callback(mesh, "P(-,x)", SPMD_I32, SPMD_SHAPE(1, CELLS), field,
                                          &step, &row));
        SPMD_TRY(spmd_dataset_append(file, "field", row));
        spmd_array_free(&row);
    }
    return spmd_file_close(&file);
}

static spmd_status read_part(spmd_mesh *mesh)
{
    spmd_file *file;
    spmd_array *part;
    spmd_hyperslab slab = {.ndim = 2, .start = {1, 2}, .count = {3, 6}, .stride = {2, 1}};
    SPMD_TRY(spmd_file_open(mesh, "series.h5", &file));
    SPMD_TRY(spmd_dataset_read_hyperslab(file, "field", &slab, "P(x)", SPMD_DTYPE_NONE, &part));
    SPMD_TRY(spmd_file_close(&file));
    SPMD_TRY(spmd_array_print(part, stdout));
    spmd_array_free(&part);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(write_series(mesh));
    SPMD_TRY(read_part(mesh));
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
