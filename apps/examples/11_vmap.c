/* 11_vmap.c - what does vmap remove?
 *
 * The batch dimension, from your code: you write the function of one example, and vmap runs it for
 * each row that this rank has. Without it every line has to carry one index more, and get it right.
 * A vmap with a name is an axis as those of the mesh are: examples may add up over it, and over
 * ranks and examples at once.
 *
 *     mpicc 11_vmap.c $(pkg-config --cflags --libs spmd) -o vmap
 *     mpirun -n 4 ./vmap              # on any number of ranks the same numbers
 */
#include <spmd.h>

/* By hand: y[b, i] = w[i, j] x[b, j], with the batch b in every line. */
static spmd_status by_hand(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in(ctx, 0), *w = spmd_in(ctx, 1);
    int64_t batch = x->shape[0], n = w->shape[0], m = w->shape[1];
    double *y = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(batch, n))->data;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                y[b * n + i] += ((double *)w->data)[i * m + j] * ((double *)x->data)[b * m + j];
    return SPMD_OK;
}

/* Of one example: y[i] = w[i, j] x[j]. */
static spmd_status product(spmd_ctx *ctx, void *user)
{
    (void)user;
    const double *x = spmd_in(ctx, 0)->data, *w = spmd_in(ctx, 1)->data;
    int64_t n = spmd_in(ctx, 1)->shape[0], m = spmd_in(ctx, 1)->shape[1];
    double *y = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(n))->data;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            y[i] += *w++ * x[j];
    return SPMD_OK;
}

/* ... and the same for every example that this rank has: x along its dim 0, w for all. */
static spmd_status by_vmap(spmd_ctx *ctx, void *user)
{
    const spmd_block *x = spmd_in(ctx, 0), *w = spmd_in(ctx, 1);
    spmd_block *y = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(x->shape[0], w->shape[0]));
    return spmd_vmap(ctx, product, user, 2, SPMD_BLOCKS(x, w), SPMD_AXES(0, SPMD_NOT_MAPPED), 1, &y,
                     SPMD_AXES(0), NULL);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    static spmd_body *const bodies[] = {by_hand, by_vmap};
    spmd_mesh *mesh;
    spmd_array *x, *w;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(5, 2), &x));
    SPMD_TRY(spmd_array_arange(mesh, "P()", SPMD_F64, SPMD_SHAPE(3, 2), &w));
    for (int i = 0; i < 2; i++) {
        spmd_array *y = NULL;
        SPMD_TRY(spmd_shard_map(mesh, bodies[i], NULL, 2, SPMD_ARRAYS(x, w),
                                SPMD_SPECS("P(x)", "P()"), 1, &y, SPMD_SPECS("P(x)"), NULL));
        SPMD_TRY(spmd_array_print(y, stdout));
        spmd_array_free(&y);
    }
    spmd_array_free(&w);
    spmd_array_free(&x);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
