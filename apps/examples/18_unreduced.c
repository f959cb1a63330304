/* 18_unreduced.c - may contributions be added up later, or as parts?
 *
 * Along an unreduced axis each rank has its contribution to an array, and the array's value is
 * their sum. A rank's own numbers become such an array as they are, and so do the blocks of a body
 * that leaves the psum out. Nothing moves before somebody asks for the sum: a reshard to a spec
 * without the axis adds up, and gives each rank its part (a reduce-scatter) or the whole (an
 * all-reduce).
 *
 *     mpicc 18_unreduced.c $(pkg-config --cflags --libs spmd) -o unreduced
 *     mpirun -n 4 ./unreduced         # 4 ranks or more
 */
#include <spmd.h>

/* What this rank's examples (rows) add to a gradient: their sum, without a psum. */
static spmd_status gradient(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in(ctx, 0);
    const double *from = x->data;
    int64_t n = x->shape[1];
    double *sum = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(n))->data;
    for (int64_t i = 0; i < x->shape[0] * n; i++)
        sum[i % n] += from[i];
    return SPMD_OK;
}

static void show(const char *what, spmd_array *array)
{
    const spmd_block *block = spmd_array_block(array);
    char type[64];
    spmd_array_format(type, sizeof type, array);
    if (block && spmd_mesh_position(spmd_sharding_mesh(spmd_array_sharding(array))) == 0)
        printf("%-15s %-14s rank 0 has %d, the first is %g\n", what, type,
               (int)spmd_block_size(block), *(double *)block->data);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *own, *rows, *sum = NULL, *parts, *whole;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "data=4", &mesh));

    /* Each rank has numbers of its own for all of the array. */
    const double mine[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    SPMD_TRY(
        spmd_array_from_local(mesh, "P(-, unreduced={data})", SPMD_F64, SPMD_SHAPE(8), mine, &own));
    show("from_local", own);
    SPMD_TRY(spmd_array_print(own, stdout)); /* what reads an array adds up */

    /* Or they come from a body. */
    SPMD_TRY(spmd_array_arange(mesh, "P(data)", SPMD_F64, SPMD_SHAPE(12, 8), &rows));
    SPMD_TRY(spmd_shard_map(mesh, gradient, NULL, 1, &rows, SPMD_SPECS("P(data)"), 1, &sum,
                            SPMD_SPECS("P(-, unreduced={data})"), NULL));
    show("from a body", sum);

    SPMD_TRY(spmd_reshard(sum, "P(data)", &parts));
    show("reduce-scatter", parts);
    SPMD_TRY(spmd_reshard(sum, "P()", &whole));
    show("all-reduce", whole);

    spmd_array_free(&whole);
    spmd_array_free(&parts);
    spmd_array_free(&sum);
    spmd_array_free(&rows);
    spmd_array_free(&own);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
