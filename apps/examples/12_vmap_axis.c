/* 12_vmap_axis.c - my examples have to know of each other: what is vmap's axis name for?
 *
 * With a name, the batch is an axis as those of the mesh are: a collective in the function of one
 * example may run over the examples of this rank, "batch", or over all examples of all ranks,
 * "x,batch"; then each rank needs as many examples. Here each one loses the mean of all.
 *
 *     mpicc 12_vmap_axis.c $(pkg-config --cflags --libs spmd) -o vmap_axis
 *     mpirun -n 4 ./vmap_axis         # on 1, 2, 3, 4, 6 ranks the same numbers
 */
#include <spmd.h>

/* Of one example: its value less the mean of all. */
static spmd_status centre(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *x = spmd_in(ctx, 0);
    spmd_block *mean = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    double *centred = spmd_out(ctx, 0, SPMD_F64, SPMD_SCALAR)->data;
    SPMD_TRY(spmd_pmean(ctx, x, "x,batch", mean));
    *centred = *(double *)x->data - *(double *)mean->data;
    return SPMD_OK;
}

static spmd_status centre_all(spmd_ctx *ctx, void *user)
{
    const spmd_block *x = spmd_in(ctx, 0);
    spmd_block *centred = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(x->shape[0]));
    return spmd_vmap(ctx, centre, user, 1, &x, SPMD_AXES(0), 1, &centred, SPMD_AXES(0),
                     &(spmd_vmap_options){.axis_name = "batch"});
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *x, *centred = NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(12), &x));
    SPMD_TRY(spmd_shard_map(mesh, centre_all, NULL, 1, &x, SPMD_SPECS("P(x)"), 1, &centred,
                            SPMD_SPECS("P(x)"), NULL));
    SPMD_TRY(spmd_array_print(centred, stdout));
    spmd_array_free(&centred);
    spmd_array_free(&x);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
