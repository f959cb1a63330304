/* positional.c - unit tests of grids of devices and of the shardings they are. */
#include <stdio.h>

#include "abstract.h"

static spmd_grid grid_of(int64_t ndevices, spmd_shape shape)
{
    spmd_grid grid;
    ASSERT_OK(spmd_grid_make(ndevices, &grid));
    ASSERT_OK(spmd_grid_reshape(&grid, shape, &grid));
    ck_assert(spmd_shape_equal(grid.shape, shape));
    return grid;
}

static void assert_sharding(const spmd_grid *grid, const char *mesh, const char *spec)
{
    spmd_sharding *sharding = NULL;
    ASSERT_OK(spmd_sharding_create_positional_abstract(grid, &sharding));
    assert_format(sharding, mesh, spec);
    spmd_sharding_free(&sharding);
}

START_TEST(reshape_says_how_many_parts)
{
    spmd_grid grid = grid_of(8, SPMD_SHAPE(4, 2));
    assert_sharding(&grid, "dim0=4,dim1=2", "P(dim0, dim1)");
    grid = grid_of(8, SPMD_SHAPE(8, 1));
    assert_sharding(&grid, "dim0=8", "P(dim0, -)");
    grid = grid_of(8, SPMD_SHAPE(1, 8));
    assert_sharding(&grid, "dim1=8", "P(-, dim1)");
    grid = grid_of(1, SPMD_SHAPE(1, 1));
    assert_sharding(&grid, "replicas=1", "P()");
    grid = grid_of(1, SPMD_SCALAR);
    assert_sharding(&grid, "replicas=1", "P()");
    ASSERT_OK(spmd_grid_make(8, &grid));
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(2, SPMD_INFER, 1), &grid));
    assert_sharding(&grid, "dim0=2,dim1=4", "P(dim0, dim1, -)");
}
END_TEST

/* Back and forth is nothing: axes that follow each other are one again. */
START_TEST(reshape_joins_what_it_cut)
{
    spmd_grid grid = grid_of(24, SPMD_SHAPE(2, 3, 4));
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(24), &grid));
    assert_sharding(&grid, "dim0=24", "P(dim0)");
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(4, 6), &grid));
    assert_sharding(&grid, "dim0=4,dim1=6", "P(dim0, dim1)");
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(3, 8), &grid));
    assert_sharding(&grid, "dim0=3,dim1=8", "P(dim0, dim1)");
}
END_TEST

START_TEST(replicate_makes_a_dim_one)
{
    spmd_grid rows = grid_of(8, SPMD_SHAPE(4, 2)), made;
    ASSERT_OK(spmd_grid_replicate(&rows, 0, &made));
    ck_assert(spmd_shape_equal(made.shape, SPMD_SHAPE(1, 2)));
    assert_sharding(&made, "replicas=4,dim1=2", "P(-, dim1)");
    ASSERT_OK(spmd_grid_reshape(&made, SPMD_SHAPE(2), &made)); /* keepdims=False */
    assert_sharding(&made, "replicas=4,dim0=2", "P(dim0)");
    ASSERT_OK(spmd_grid_replicate(&rows, 1, &made));
    assert_sharding(&made, "dim0=4,replicas=2", "P(dim0, -)");
    ASSERT_OK(spmd_grid_replicate(&made, 0, &made));
    ck_assert(spmd_shape_equal(made.shape, SPMD_SHAPE(1, 1)));
    assert_sharding(&made, "replicas=8", "P()");
    ASSERT_OK(spmd_grid_replicate(&rows, SPMD_ALL_DIMS, &made));
    assert_sharding(&made, "replicas=8", "P()");
    made = grid_of(24, SPMD_SHAPE(2, 3, 4));
    ASSERT_OK(spmd_grid_replicate(&made, 0, &made));
    ASSERT_OK(spmd_grid_replicate(&made, 2, &made));
    assert_sharding(&made, "replicas=2,dim1=3,replicas_1=4", "P(-, dim1, -)");
}
END_TEST

START_TEST(transpose_names_axes_in_another_order)
{
    static const int back[3] = {1, 2, 0};
    spmd_grid grid = grid_of(8, SPMD_SHAPE(4, 2)), made;
    ASSERT_OK(spmd_grid_transpose(&grid, NULL, &made));
    ck_assert(spmd_shape_equal(made.shape, SPMD_SHAPE(2, 4)));
    assert_sharding(&made, "dim1=4,dim0=2", "P(dim0, dim1)");
    ASSERT_OK(spmd_grid_reshape(&made, SPMD_SHAPE(8), &made));
    assert_sharding(&made, "dim0_1=4,dim0=2", "P((dim0,dim0_1))");
    grid = grid_of(24, SPMD_SHAPE(2, 3, 4));
    ASSERT_OK(spmd_grid_transpose(&grid, back, &grid));
    ck_assert(spmd_shape_equal(grid.shape, SPMD_SHAPE(3, 4, 2)));
    assert_sharding(&grid, "dim2=2,dim0=3,dim1=4", "P(dim0, dim1, dim2)");
    /* A cut of the reversed dimension of 4 falls on an axis of its own. */
    ASSERT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(6, 2, 2), &grid));
    assert_sharding(&grid, "dim2=2,dim0=6,dim1=2", "P(dim0, dim1, dim2)");
}
END_TEST

/* Positions of a transposed grid are where JAX has them, and so the named way to say it agrees. */
START_TEST(transposed_is_equivalent_to_named)
{
    static const int64_t tiles[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    spmd_grid grid = grid_of(8, SPMD_SHAPE(4, 2));
    spmd_sharding *sharding = NULL, *named = lay("x=4,y=2", "P(y, x)");
    ASSERT_OK(spmd_grid_transpose(&grid, NULL, &grid));
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &sharding));
    for (int64_t tile = 0; tile < 8; tile++)
        assert_holds(sharding, SPMD_SHAPE(8, 4), tiles[tile], tile / 4 * 4, tile / 4 * 4 + 4,
                     tile % 4, tile % 4 + 1);
    ck_assert(spmd_sharding_is_equivalent(sharding, named, 2));
    ck_assert(!spmd_sharding_equal(sharding, named));
    spmd_sharding_free(&sharding);
    spmd_sharding_free(&named);
}
END_TEST

START_TEST(the_same_grid_gives_equal_shardings)
{
    spmd_grid grid = grid_of(8, SPMD_SHAPE(4, 2));
    spmd_sharding *a = NULL, *b = NULL;
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &a));
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &b));
    ck_assert(spmd_sharding_equal(a, b));
    spmd_sharding_free(&b);
    ASSERT_OK(spmd_grid_replicate(&grid, 1, &grid));
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &b));
    ck_assert(!spmd_sharding_equal(a, b));
    spmd_sharding_free(&a);
    spmd_sharding_free(&b);
}
END_TEST

START_TEST(mistakes_are_told)
{
    static const int twice[2] = {1, 1}, outside[2] = {0, 2};
    spmd_grid grid = grid_of(6, SPMD_SHAPE(2, 3)), kept = grid, made;
    spmd_sharding *sharding = NULL;
    ASSERT_FAILS(spmd_grid_make(0, &grid), SPMD_ERR_ARGUMENT, "at least 1 device");
    ASSERT_FAILS(spmd_grid_reshape(&grid, SPMD_SHAPE(4, 2), &grid), SPMD_ERR_SHAPE,
                 "6 devices, or sets of replicas, do not fill a grid of 8");
    ASSERT_FAILS(spmd_grid_reshape(&grid, SPMD_SHAPE(4, -1), &grid), SPMD_ERR_SHAPE,
                 "do not fill a grid of 4 times an open extent");
    ASSERT_FAILS(spmd_grid_reshape(&grid, SPMD_SHAPE(-1, -1), &grid), SPMD_ERR_SHAPE, "dim 1");
    ASSERT_FAILS(spmd_grid_reshape(&grid, SPMD_SHAPE(0, -1), &grid), SPMD_ERR_SHAPE, "of 0");
    ASSERT_FAILS(spmd_grid_transpose(&grid, twice, &grid), SPMD_ERR_ARGUMENT, "dim 1 of 2");
    ASSERT_FAILS(spmd_grid_transpose(&grid, outside, &grid), SPMD_ERR_ARGUMENT,
                 "transpose: there is no dim 2, only 0 to 1");
    ASSERT_FAILS(spmd_grid_replicate(&grid, 2, &grid), SPMD_ERR_ARGUMENT,
                 "replicate: there is no dim 2, only 0 to 1");
    ASSERT_FAILS(spmd_grid_replicate(&grid, -2, &grid), SPMD_ERR_ARGUMENT, "no dim -2");
    ASSERT_FAILS(spmd_grid_replicate(NULL, 0, &grid), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_sharding_create_positional_abstract(NULL, &sharding), SPMD_ERR_ARGUMENT,
                 "NULL");
    ck_assert(memcmp(&grid, &kept, sizeof grid) == 0);
    ASSERT_OK(spmd_grid_transpose(&grid, NULL, &made));
    ASSERT_FAILS(spmd_grid_reshape(&made, SPMD_SHAPE(2, 3), &made), SPMD_ERR_SHAPE,
                 "reshape before you transpose");
}
END_TEST

/* A grid as NumPy keeps it: for each cell the devices there, in order. Cells are few here. */
struct cells {
    int ndim, dim[3], count; /* devices of each cell */
    int device[64][64];
};

static int ncells(const struct cells *cells)
{
    return cells->dim[0] * cells->dim[1] * cells->dim[2];
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void transpose_cells(struct cells *cells, const int perm[3])
{
    struct cells old = *cells;
    int at[3];
    for (int d = 0; d < 3; d++)
        cells->dim[d] = old.dim[perm[d]];
    for (int c = 0; c < ncells(&old); c++) {
        const int from[3] = {c / old.dim[2] / old.dim[1], c / old.dim[2] % old.dim[1],
                             c % old.dim[2]};
        for (int d = 0; d < 3; d++)
            at[d] = from[perm[d]];
        memcpy(cells->device[(at[0] * cells->dim[1] + at[1]) * cells->dim[2] + at[2]],
               old.device[c], sizeof old.device[c]);
    }
}

static void replicate_cells(struct cells *cells, int dim)
{
    struct cells old = *cells;
    int after = dim == 2 ? 1 : dim == 1 ? old.dim[2] : old.dim[1] * old.dim[2];
    cells->dim[dim] = 1;
    cells->count *= old.dim[dim];
    for (int c = 0; c < ncells(cells); c++) {
        int n = 0;
        for (int i = 0; i < old.dim[dim]; i++)
            for (int k = 0; k < old.count; k++)
                cells->device[c][n++] =
                    old.device[(c / after * old.dim[dim] + i) * after + c % after][k];
        qsort(cells->device[c], (size_t)n, sizeof(int), compare_ints);
    }
}

/* The sharding puts part c on the devices of cell c, replica k on the k-th of them. */
static void assert_cells(const struct cells *cells, const spmd_grid *grid)
{
    spmd_sharding *sharding = NULL;
    spmd_shape shape = SPMD_SHAPE(cells->dim[0], cells->dim[1], cells->dim[2]);
    ck_assert(spmd_shape_equal(grid->shape, shape));
    ASSERT_OK(spmd_sharding_create_positional_abstract(grid, &sharding));
    for (int c = 0; c < ncells(cells); c++)
        for (int k = 0; k < cells->count; k++) {
            spmd_box box;
            ASSERT_OK(spmd_sharding_box(sharding, shape, cells->device[c][k], &box));
            ck_assert_int_eq(spmd_box_size(&box), 1);
            ck_assert_int_eq((box.lo[0] * shape.dim[1] + box.lo[1]) * shape.dim[2] + box.lo[2], c);
            ck_assert_int_eq(spmd_sharding_replica(sharding, cells->device[c][k]), k);
        }
    spmd_sharding_free(&sharding);
}

START_TEST(random_grids_do_as_numpy)
{
    static const int shapes[][3] = {{2, 3, 4}, {4, 3, 2}, {1, 6, 4},  {24, 1, 1}, {2, 2, 6},
                                    {3, 4, 2}, {6, 2, 2}, {1, 1, 24}, {8, 3, 1},  {2, 12, 1}};
    static const int perms[][3] = {{2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    unsigned seed = 11;
    int refused = 0, reshaped = 0;
    printf("# random grids from seed %u\n", seed);
    for (int round = 0; round < 2000; round++) {
        struct cells cells = {.ndim = 3, .dim = {24, 1, 1}, .count = 1};
        spmd_grid grid = grid_of(24, SPMD_SHAPE(24, 1, 1));
        for (int c = 0; c < 24; c++)
            cells.device[c][0] = c;
        for (int step = 0; step < 6; step++) {
            int what = rand_r(&seed) % 8;
            if (what < 4) {
                const int *to = shapes[rand_r(&seed) % 10];
                if (cells.count > 1)
                    continue;
                if (spmd_grid_reshape(&grid, SPMD_SHAPE(to[0], to[1], to[2]), &grid) == SPMD_OK) {
                    memcpy(cells.dim, to, sizeof cells.dim);
                    reshaped++;
                } else {
                    refused++;
                }
            } else if (what < 7) {
                const int *perm = perms[rand_r(&seed) % 5];
                ASSERT_OK(spmd_grid_transpose(&grid, perm, &grid));
                transpose_cells(&cells, perm);
            } else {
                int dim = rand_r(&seed) % 3;
                ASSERT_OK(spmd_grid_replicate(&grid, dim, &grid));
                replicate_cells(&cells, dim);
            }
            assert_cells(&cells, &grid);
        }
    }
    ck_assert_int_gt(reshaped, 2 * refused);
}
END_TEST

START_TEST(a_million_devices)
{
    spmd_grid grid = grid_of(1048576, SPMD_SHAPE(1024, 1024));
    spmd_sharding *sharding = NULL;
    ASSERT_OK(spmd_grid_transpose(&grid, NULL, &grid));
    ASSERT_OK(spmd_grid_replicate(&grid, 0, &grid));
    ASSERT_OK(spmd_sharding_create_positional_abstract(&grid, &sharding));
    assert_format(sharding, "dim1=1024,replicas=1024", "P(-, dim1)");
    assert_holds(sharding, SPMD_SHAPE(5, 2048), 1048575, 0, 5, 2046, 2048);
    ck_assert_int_eq(spmd_sharding_replica(sharding, 1048575), 1023);
    spmd_sharding_free(&sharding);
}
END_TEST

UNIT_MAIN("positional", reshape_says_how_many_parts, reshape_joins_what_it_cut,
          replicate_makes_a_dim_one, transpose_names_axes_in_another_order,
          transposed_is_equivalent_to_named, the_same_grid_gives_equal_shardings, mistakes_are_told,
          random_grids_do_as_numpy, a_million_devices)
