/* 00_quickstart.c - what does a program look like?
 *
 * It names the axes of a mesh of ranks, says how an array lies on it, and may say otherwise later:
 * the array then moves. Each rank has its own block; printing shows the whole.
 *
 *     mpicc 00_quickstart.c $(pkg-config --cflags --libs spmd) -o quickstart
 *     mpirun -n 4 ./quickstart
 */
#include <spmd.h>

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *a, *b;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=2,y=2", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(4, 6), &a));
    SPMD_TRY(spmd_reshard(a, "P(y,-)", &b));
    SPMD_TRY(spmd_array_print(a, stdout));
    SPMD_TRY(spmd_array_print(b, stdout));
    spmd_array_free(&b);
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
