/* 04_positional.c - is there a kind without names?
 *
 * Yes: reshape, transpose and replicate a grid of devices until it looks as the array is to be cut
 * (JAX's PositionalSharding). Out comes a mesh and a spec as any other, with names made up. Prefer
 * names of your own: "psum over model" needs one, and P(y, x) reads better than a transposed grid.
 *
 *     mpicc 04_positional.c $(pkg-config --cflags --libs spmd) -o positional
 *     ./positional
 */
#include <spmd.h>

/* The grid's sharding, and the spec that says the same on a mesh with names. */
static spmd_status compare(const char *what, const spmd_grid *grid, spmd_mesh *mesh,
                           const char *spec)
{
    spmd_sharding *unnamed, *named;
    char unnamed_mesh[64], unnamed_spec[64];
    SPMD_TRY(spmd_sharding_create_positional_abstract(grid, &unnamed));
    SPMD_TRY(spmd_sharding_create(mesh, spec, &named));
    spmd_mesh_format(unnamed_mesh, sizeof unnamed_mesh, spmd_sharding_mesh(unnamed));
    spmd_sharding_format(unnamed_spec, sizeof unnamed_spec, unnamed);
    printf("%-22s %-13s on %-18s %s %s on x=4,y=2\n", what, unnamed_spec, unnamed_mesh,
           spmd_sharding_is_equivalent(unnamed, named, 2) ? "is" : "is not", spec);
    spmd_sharding_free(&named);
    spmd_sharding_free(&unnamed);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_grid row, grid, transposed, columns, rows;
    SPMD_TRY(spmd_mesh_create_abstract("x=4,y=2", &mesh));

    SPMD_TRY(spmd_grid_make(8, &row));
    SPMD_TRY(spmd_grid_reshape(&row, SPMD_SHAPE(4, 2), &grid));
    SPMD_TRY(spmd_grid_transpose(&grid, NULL, &transposed));
    SPMD_TRY(spmd_grid_replicate(&grid, 0, &columns));
    SPMD_TRY(spmd_grid_replicate(&grid, 1, &rows));

    SPMD_TRY(compare("8 devices as 4 x 2:", &grid, mesh, "P(x, y)"));
    SPMD_TRY(compare("transposed:", &transposed, mesh, "P(y, x)"));
    SPMD_TRY(compare("replicated along 0:", &columns, mesh, "P(-, y)"));
    SPMD_TRY(compare("replicated along 1:", &rows, mesh, "P(x, -)"));

    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
