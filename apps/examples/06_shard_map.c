/* 06_shard_map.c - how does my own code run on the blocks?
 *
 * shard_map runs a C function, the body, on every rank. in_specs say how it wants its inputs cut,
 * out_specs how the blocks that it makes form arrays again. Here: the norm of each row of a matrix
 * that is split both ways; each rank loops over its block, then the ranks of a row add up.
 *
 *     mpicc 06_shard_map.c $(pkg-config --cflags --libs spmd) -lm -o shard_map
 *     mpirun -n 4 ./shard_map         # on 2, 4, 6, ... ranks the same norms
 */
#include <math.h>

#include <spmd.h>

/* Runs on each rank. in 0: its block, f64[rows, columns]; out 0: f64[rows]. */
static spmd_status row_norms(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *a = spmd_in(ctx, 0);
    int64_t rows = a->shape[0], columns = a->shape[1];
    spmd_block *norms = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(rows));
    const double *element = a->data;
    double *norm = norms->data;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++, element++)
            norm[r] += *element * *element;
    /* Each rank has seen some columns only. Without this line the blocks differ along "columns",
     * which out_spec P(rows) promises they do not: the call says so instead of lying. */
    SPMD_TRY(spmd_psum(ctx, norms, "columns", norms));
    for (int64_t r = 0; r < rows; r++)
        norm[r] = sqrt(norm[r]);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *matrix, *norms = NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "rows=*,columns=2", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(rows,columns)", SPMD_F64, SPMD_SHAPE(5, 4), &matrix));
    SPMD_TRY(spmd_shard_map(mesh, row_norms, NULL, 1, &matrix, SPMD_SPECS("P(rows,columns)"), 1,
                            &norms, SPMD_SPECS("P(rows)"), NULL));
    SPMD_TRY(spmd_array_print(norms, stdout));
    spmd_array_free(&norms);
    spmd_array_free(&matrix);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
