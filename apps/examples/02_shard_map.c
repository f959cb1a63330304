/* 02_shard_map.c - the same code on every block: the norm of each row of a matrix that is split
 * both ways, by a body that loops over its block and sums over the ranks of a row.
 *
 *     mpicc 02_shard_map.c $(pkg-config --cflags --libs spmd) -lm -o shard_map
 *     mpirun -n 4 ./shard_map
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
