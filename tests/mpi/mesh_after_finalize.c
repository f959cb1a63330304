/* mesh_after_finalize.c - what is freed after MPI_Finalize does no harm, and what is called fails.
 */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <spmd.h>

static spmd_status sum(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    (void)user;
    return spmd_psum(ctx, in, "x", spmd_out(ctx, 0, SPMD_F32, spmd_block_shape(in)));
}

/* A plan that agrees on nothing any more. */
static spmd_status plan_sum(spmd_mesh *mesh, spmd_array *array, spmd_shard_map_call **plan,
                            spmd_array **out)
{
    SPMD_TRY(
        spmd_shard_map_plan(mesh, sum, 1, SPMD_SPECS("P(x)"), 1, SPMD_SPECS("P()"), NULL, plan));
    for (int i = 0; i < 2; i++)
        SPMD_TRY(spmd_shard_map_run(*plan, NULL, SPMD_ARRAYS(array), out));
    return SPMD_OK;
}

/* A program that frees nothing in time, and its communicator too early. */
static spmd_status use(spmd_mesh **mesh, spmd_mesh **part, spmd_array **array)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    spmd_status status = spmd_mesh_create(comm, "x=*,y=1", mesh);
    MPI_Comm_free(&comm);
    SPMD_TRY(status);
    SPMD_TRY(spmd_mesh_sub(*mesh, "x=0", part));
    SPMD_TRY(spmd_array_arange(*mesh, "P(x)", SPMD_F32, SPMD_SHAPE(24), array));
    if (spmd_mesh_comm(*mesh, "x") == MPI_COMM_NULL)
        return spmd_fail(SPMD_ERR_MPI, "no communicator of x");
    return spmd_agree(*mesh, SPMD_OK);
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh = NULL, *part = NULL;
    spmd_array *array = NULL, *out = NULL;
    spmd_shard_map_call *plan = NULL;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    spmd_status status = use(&mesh, &part, &array);
    if (status == SPMD_OK)
        status = plan_sum(mesh, array, &plan, &out);
    MPI_Finalize();

    bool refused = spmd_agree(mesh, SPMD_OK) == SPMD_ERR_MPI &&
                   spmd_shard_map_run(plan, NULL, SPMD_ARRAYS(array), &out) == SPMD_ERR_MPI;
    bool answers = spmd_mesh_size(mesh) == size && spmd_mesh_rank(mesh, size - 1) == size - 1;
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&part);
    spmd_array_free(&array);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    bool passed = status == SPMD_OK && refused && answers && !mesh && !part && !array;
    if (rank == 0)
        printf("1..1\n%s 1 - mesh_after_finalize.freed np=%d\n", passed ? "ok" : "not ok", size);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
