/* 15_loops.c - my function has nested scans and conds, with a psum in them: may it?
 *
 * Yes: loops and branches are those of C, there is nothing to register. One rule: the ranks must
 * come to the same collectives. A branch may depend on a rank's own data if no collective stands in
 * it; one that leads to a collective must depend on what is equal everywhere, as what a psum gave.
 *
 *     mpicc 15_loops.c $(pkg-config --cflags --libs spmd) -o loops
 *     mpirun -n 4 ./loops             # on any number of ranks the same numbers
 */
#include <spmd.h>

enum { ROWS = 12, FEATURES = 2 };

/* Fits y = w0 x0 + w1 x1 by steps along the gradient; each rank has some of the rows (x0, x1, y).
 */
static spmd_status fit(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *rows = spmd_in(ctx, 0);
    double *weight = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(FEATURES))->data;
    int32_t *steps = spmd_out(ctx, 1, SPMD_I32, SPMD_SCALAR)->data;
    spmd_block *sums = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(FEATURES + 1));
    double *sum = sums->data, *loss = sum + FEATURES;
    do {
        for (int i = 0; i <= FEATURES; i++)
            sum[i] = 0;
        for (int64_t r = 0; r < rows->shape[0]; r++) {
            const double *x = (double *)rows->data + r * (FEATURES + 1);
            double error = weight[0] * x[0] + weight[1] * x[1] - x[FEATURES];
            *loss += error * error;
            if (error > 1 || error < -1) /* each rank for itself: no collective in it */
                error = error > 0 ? 1 : -1;
            for (int f = 0; f < FEATURES; f++)
                sum[f] += error * x[f];
        }
        SPMD_TRY(spmd_psum(ctx, sums, "rows", sums));
        for (int f = 0; f < FEATURES; f++)
            weight[f] -= sum[f] / ROWS;
        ++*steps;
    } while (*loss > 1e-20); /* of all rows, so that all ranks stop at the same step */
    return SPMD_OK;
}

static spmd_status fill(const spmd_box *box, void *out, void *user)
{
    double *row = out;
    SPMD_TRY(spmd_random_uniform(*(spmd_key *)user, SPMD_F64, SPMD_SHAPE(ROWS, FEATURES + 1), box,
                                 -1, 1, out));
    for (int64_t r = box->lo[0]; r < box->hi[0]; r++, row += FEATURES + 1)
        row[FEATURES] = 2 * row[0] - row[1];
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_key key = spmd_key_create(0);
    spmd_mesh *mesh;
    spmd_array *rows, *results[2] = {NULL, NULL};
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "rows=*", &mesh));
    SPMD_TRY(spmd_array_from_callback(mesh, "P(rows)", SPMD_F64, SPMD_SHAPE(ROWS, FEATURES + 1),
                                      fill, &key, &rows));
    SPMD_TRY(spmd_shard_map(mesh, fit, NULL, 1, &rows, SPMD_SPECS("P(rows)"), 2, results,
                            SPMD_SPECS("P()", "P()"), NULL));
    SPMD_TRY(spmd_array_print(results[0], stdout)); /* the weights */
    SPMD_TRY(spmd_array_print(results[1], stdout)); /* the number of steps */
    spmd_array_free(&results[1]);
    spmd_array_free(&results[0]);
    spmd_array_free(&rows);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
