/* 02_mesh_and_spec.c - why a mesh and a spec, and not one thing?
 *
 * The mesh says who there is: ranks in a grid whose axes have names. A spec says how one array lies
 * on it: which of its dimensions is split along which axis. A program has one mesh, and a spec for
 * each array; on a larger machine the mesh changes, and the specs stay.
 *
 *     mpicc 02_mesh_and_spec.c $(pkg-config --cflags --libs spmd) -o mesh_and_spec
 *     ./mesh_and_spec                 # the meshes are abstract: no ranks, no mpirun
 */
#include <spmd.h>

/* Draws an array of 8 by 4 elements: in each block stand the ranks that hold it. */
static spmd_status draw(spmd_mesh *mesh, const char *spec)
{
    spmd_sharding *sharding;
    SPMD_TRY(spmd_sharding_create(mesh, spec, &sharding));
    SPMD_TRY(spmd_sharding_print(sharding, SPMD_SHAPE(8, 4), stdout));
    spmd_sharding_free(&sharding);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *small, *large, *other;
    SPMD_TRY(spmd_mesh_create_abstract("x=2,y=2", &small));
    SPMD_TRY(spmd_mesh_create_abstract("x=4,y=2", &large));
    SPMD_TRY(spmd_mesh_create_abstract("rows=2,columns=2", &other));

    puts("--- One mesh, two specs: the same four ranks, and two ways to lie on them.\n");
    SPMD_TRY(draw(small, "P(x, y)"));
    puts("");
    SPMD_TRY(draw(small, "P(y, -)"));

    puts("\n--- Two meshes, one spec: a larger machine, and the line of the program as it was.\n");
    SPMD_TRY(draw(large, "P(x, y)"));

    puts("\n--- A spec names axes; it means nothing to a mesh that does not have them.\n");
    if (draw(other, "P(x, y)") != SPMD_OK)
        puts(spmd_error_message());

    spmd_mesh_free(&other);
    spmd_mesh_free(&large);
    spmd_mesh_free(&small);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
