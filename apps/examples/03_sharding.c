/* 03_sharding.c - what is a sharding?
 *
 * A mesh and a spec, checked together. It knows, for an array of any shape, the box of indices of
 * each position, and which positions hold the same one: replicas. All of it is arithmetic; nobody
 * is asked, so a sharding over a million ranks answers on a laptop.
 *
 *     mpicc 03_sharding.c $(pkg-config --cflags --libs spmd) -o sharding
 *     ./sharding
 */
#include <spmd.h>

static spmd_status table(const spmd_sharding *sharding, spmd_shape shape)
{
    char type[128];
    spmd_sharding_format_type(type, sizeof type, sharding, SPMD_F64, shape);
    printf("%s\n", type);
    int positions = (int)spmd_mesh_size(spmd_sharding_mesh(sharding));
    for (int p = 0; p < positions; p++) {
        spmd_box box;
        SPMD_TRY(spmd_sharding_box(sharding, shape, p, &box));
        spmd_shape block = spmd_box_shape(&box);
        printf("position %d: %d:%d, %d:%d, %d x %d elements, replica %d, owner %d\n", p,
               (int)box.lo[0], (int)box.hi[0], (int)box.lo[1], (int)box.hi[1], (int)block.dim[0],
               (int)block.dim[1], (int)spmd_sharding_replica(sharding, p),
               (int)spmd_sharding_owner(sharding, p));
    }
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_sharding *split, *rows, *same_rows;
    SPMD_TRY(spmd_mesh_create_abstract("x=2,y=2", &mesh));

    /* Five rows over two: 3 and 2. Nobody pads. */
    SPMD_TRY(spmd_sharding_create(mesh, "P(x, y)", &split));
    SPMD_TRY(table(split, SPMD_SHAPE(5, 4)));

    /* The spec does not name y: along y the blocks are replicas. Replica 0 is the owner's. */
    SPMD_TRY(spmd_sharding_create(mesh, "P(x, -)", &rows));
    SPMD_TRY(table(rows, SPMD_SHAPE(5, 4)));

    /* Dimensions behind the last entry are not split: another text, but the same places. */
    SPMD_TRY(spmd_sharding_create(mesh, "P(x)", &same_rows));
    printf("P(x) and P(x, -) are %s\n",
           spmd_sharding_is_equivalent(rows, same_rows, 2) ? "equivalent" : "different");

    spmd_sharding_free(&same_rows);
    spmd_sharding_free(&rows);
    spmd_sharding_free(&split);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
