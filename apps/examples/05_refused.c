/* 05_refused.c - why are my 4 x 2 snippets refused, or leave ranks without data?
 *
 * Each axis of a mesh splits one dimension of an array. So a spec has at most one entry for each
 * dimension, and each axis stands in it once. Sizes need not divide, unless you ask for JAX's rule;
 * but a dimension has at most as many parts as elements, and ranks beyond hold nothing.
 *
 *     mpicc 05_refused.c $(pkg-config --cflags --libs spmd) -o refused
 *     mpirun -n 8 ./refused
 */
#include <spmd.h>

/* Makes the array, and prints its type, or why there is none. */
static void attempt(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    char type[128];
    spmd_status status = spmd_array_zeros(mesh, spec, SPMD_F32, shape, &array);
    if (status == SPMD_OK)
        spmd_array_format(type, sizeof type, array);
    if (spmd_mesh_position(mesh) == 0)
        printf("%-12s %s\n", spec, status == SPMD_OK ? type : spmd_error_message());
    spmd_array_free(&array);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=4,y=2", &mesh));

    attempt(mesh, "P(x, y)", SPMD_SHAPE(4, 2));     /* one element each */
    attempt(mesh, "P(y, x)", SPMD_SHAPE(4, 2));     /* 2 x 4 parts of 4 x 2: 4 of 8 are empty */
    attempt(mesh, "P((x,y), -)", SPMD_SHAPE(4, 2)); /* 8 parts of 4 rows: likewise */
    attempt(mesh, "P(x, -)", SPMD_SHAPE(4, 2));     /* a row each, and a replica of it along y */

    attempt(mesh, "P(x, x)", SPMD_SHAPE(4, 2));     /* an axis splits one dimension */
    attempt(mesh, "P((x,x), -)", SPMD_SHAPE(4, 2)); /* ... once */
    attempt(mesh, "P(x, y, -)", SPMD_SHAPE(4, 2));  /* three entries, two dimensions */
    attempt(mesh, "P(x)", SPMD_SCALAR);             /* a scalar has no dimension: say P() */
    attempt(mesh, "P(x, z)", SPMD_SHAPE(4, 2));     /* no such axis */
    attempt(mesh, "(x, y)", SPMD_SHAPE(4, 2));      /* a tuple is one entry: say P(x, y) */

    attempt(mesh, "P(x, y)", SPMD_SHAPE(6, 3)); /* rows 2, 2, 1, 1; columns 2, 1 */
    spmd_mesh_set_strict(mesh, true);           /* as JAX is */
    attempt(mesh, "P(x, y)", SPMD_SHAPE(6, 3));

    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
