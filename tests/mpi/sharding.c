/* sharding.c - MPI tests of shardings that bring their own mesh: grids of devices, one rank; and of
 * what the order of ranks means. */
#include <stdlib.h>

#include "meshes.h"

enum { ROWS = 7, COLUMNS = 10, SIZE = ROWS * COLUMNS };

static spmd_shape shape_of_data(void)
{
    return SPMD_SHAPE(ROWS, COLUMNS);
}

static void fill_host(int64_t host[SIZE])
{
    for (int i = 0; i < SIZE; i++)
        host[i] = i;
}

/* Every rank's block has what its box says. */
static void expect_indices(spmd_array *array)
{
    const spmd_block *block = spmd_array_block(array);
    if (!block)
        return;
    const int64_t *data = block->data;
    bool right = true;
    for (int64_t i = 0; i < block->shape[0]; i++)
        for (int64_t j = 0; j < block->shape[1]; j++)
            right = right && data[i * block->shape[1] + j] ==
                                 (block->offset[0] + i) * COLUMNS + block->offset[1] + j;
    EXPECT(right);
}

/* Host data lies as `sharding` says, and is whole when it comes from and goes to a line. */
static void expect_carries(const spmd_sharding *sharding)
{
    int64_t host[SIZE], back[SIZE] = {0};
    spmd_mesh *line = make_line();
    spmd_array *put = NULL, *rows = NULL, *moved = NULL, *returned = NULL;
    spmd_sharding *by_rows = NULL;
    fill_host(host);
    EXPECT_OK(spmd_sharding_create(line, "P(x)", &by_rows));
    if (EXPECT_OK(spmd_device_put(host, SIZE, SPMD_I64, shape_of_data(), sharding, &put)))
        expect_indices(put);
    EXPECT_OK(spmd_array_arange(line, "P(x)", SPMD_I64, shape_of_data(), &rows));
    if (EXPECT_OK(spmd_reshard_to(rows, sharding, &moved))) {
        expect_indices(moved);
        if (EXPECT_OK(spmd_reshard_to(moved, by_rows, &returned)) &&
            EXPECT_OK(spmd_array_gather(returned, SPMD_ALL, back, SIZE)))
            EXPECT(memcmp(host, back, sizeof host) == 0);
    }
    spmd_array_free(&put);
    spmd_array_free(&rows);
    spmd_array_free(&moved);
    spmd_array_free(&returned);
    spmd_sharding_free(&by_rows);
    spmd_mesh_free(&line);
}

/* All ranks in two columns where they divide, else in one. */
static int columns(void)
{
    return test_size % 2 == 0 ? 2 : 1;
}

static spmd_grid two_columns(void)
{
    spmd_grid grid = {.naxes = 0};
    EXPECT_OK(spmd_grid_make(test_size, &grid));
    EXPECT_OK(spmd_grid_reshape(&grid, SPMD_SHAPE(SPMD_INFER, columns()), &grid));
    return grid;
}

static void expect_grid_carries(const spmd_grid *grid)
{
    spmd_sharding *sharding = NULL;
    if (EXPECT_OK(spmd_sharding_create_positional(MPI_COMM_WORLD, grid, &sharding)))
        expect_carries(sharding);
    spmd_sharding_free(&sharding);
}

static void grids_carry_arrays(void)
{
    spmd_grid grid = two_columns(), made;
    expect_grid_carries(&grid);
    EXPECT_OK(spmd_grid_transpose(&grid, NULL, &made));
    expect_grid_carries(&made);
    for (int dim = 0; dim < 2; dim++) {
        EXPECT_OK(spmd_grid_replicate(&grid, dim, &made));
        expect_grid_carries(&made);
    }
    EXPECT_OK(spmd_grid_replicate(&grid, SPMD_ALL_DIMS, &made));
    expect_grid_carries(&made);
}

/* A grid that was transposed lies on the ranks as the named spec of the axes exchanged. */
static void grids_are_equivalent_to_names(void)
{
    spmd_grid grid = two_columns();
    char text[40];
    snprintf(text, sizeof text, "x=*,y=%d", columns());
    spmd_mesh *mesh = make_mesh(text);
    spmd_sharding *positional = NULL, *again = NULL, *named = NULL;
    EXPECT_OK(spmd_grid_transpose(&grid, NULL, &grid));
    EXPECT_OK(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &positional));
    EXPECT_OK(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &again));
    EXPECT_OK(spmd_sharding_create(mesh, "P(y, x)", &named));
    EXPECT(spmd_sharding_is_equivalent(positional, named, 2));
    EXPECT(spmd_sharding_equal(positional, again));
    EXPECT(!spmd_sharding_equal(positional, named));
    spmd_sharding_free(&positional);
    spmd_sharding_free(&again);
    spmd_sharding_free(&named);
    spmd_mesh_free(&mesh);
}

static void fewer_devices_leave_ranks_idle(void)
{
    int devices = test_size > 1 ? test_size - 1 : 1;
    spmd_grid grid;
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_grid_make(devices, &grid));
    if (EXPECT_OK(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &sharding))) {
        EXPECT(is_idle(spmd_sharding_mesh(sharding)) == (test_rank >= devices));
        expect_carries(sharding);
    }
    spmd_sharding_free(&sharding);
}

static void grids_that_do_not_fit_are_refused(void)
{
    spmd_grid grid;
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_grid_make(test_size + 1, &grid));
    EXPECT_FAILS(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &sharding), SPMD_ERR_MESH,
                 "ranks, this job has");
    EXPECT_FAILS(spmd_sharding_create_positional(MPI_COMM_WORLD, NULL, &sharding),
                 SPMD_ERR_ARGUMENT, "the grid of devices is NULL");
    EXPECT(sharding == NULL);
}

/* One mesh, two specs of it: the ranks that pass another one are noticed. */
static void grids_that_differ_are_noticed(void)
{
    spmd_grid grid;
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_grid_make(test_size, &grid));
    EXPECT_OK(spmd_grid_reshape(
        &grid, is_last_of_many() ? SPMD_SHAPE(test_size, 1, 1) : SPMD_SHAPE(test_size, 1), &grid));
    expect_disagreement(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &sharding));
    spmd_sharding_free(&sharding);
}

static void one_rank_has_it_all(void)
{
    spmd_mesh *mesh = make_grid();
    for (int64_t position = 0; position < test_size; position++) {
        spmd_sharding *single = NULL;
        if (!EXPECT_OK(spmd_sharding_create_single(mesh, position, &single)))
            continue;
        EXPECT(is_idle(spmd_sharding_mesh(single)) == (test_rank != position));
        EXPECT(spmd_sharding_is_fully_replicated(single));
        expect_carries(single);
        spmd_sharding_free(&single);
    }
    spmd_mesh_free(&mesh);
}

static void one_rank_of_a_smaller_mesh(void)
{
    spmd_mesh *mesh = make_shorter_line();
    int64_t last = spmd_mesh_size(mesh) - 1;
    spmd_sharding *single = NULL;
    if (EXPECT_OK(spmd_sharding_create_single(mesh, last, &single)))
        EXPECT(is_idle(spmd_sharding_mesh(single)) == (test_rank != last));
    spmd_sharding_free(&single);
    EXPECT_FAILS(spmd_sharding_create_single(mesh, last + 1, &single), SPMD_ERR_ARGUMENT,
                 "there is no position");
    EXPECT_FAILS(spmd_sharding_create_single(NULL, 0, &single), SPMD_ERR_ARGUMENT, "needs a mesh");
    spmd_mesh_free(&mesh);
}

static void positions_that_differ_are_noticed(void)
{
    spmd_mesh *mesh = make_line();
    spmd_sharding *single = NULL;
    expect_disagreement(spmd_sharding_create_single(mesh, is_last_of_many() ? 1 : 0, &single));
    spmd_sharding_free(&single);
    spmd_mesh_free(&mesh);
}

/* Single shardings are the same if their rank is. */
static void idle_ranks_hear_of_wrong_positions(void)
{
    spmd_mesh *mesh = make_shorter_line();
    spmd_sharding *single = NULL;
    int wrong = test_rank == test_size - 1 ? (int)spmd_mesh_size(mesh) : 0;
    EXPECT_FAILS(spmd_sharding_create_single(mesh, wrong, &single), SPMD_ERR_ARGUMENT, "position");
    EXPECT_FAILS(spmd_sharding_create_single(mesh, 0, test_rank == 0 ? NULL : &single),
                 SPMD_ERR_ARGUMENT, "no place for the new sharding");
    EXPECT(single == NULL);
    spmd_mesh_free(&mesh);
}

static void one_rank_without_a_grid_is_everybodys_mistake(void)
{
    spmd_grid grid;
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_grid_make(test_size, &grid));
    EXPECT_FAILS(
        spmd_sharding_create_positional(MPI_COMM_WORLD, test_rank == 0 ? NULL : &grid, &sharding),
        SPMD_ERR_ARGUMENT, "grid of devices is NULL");
    EXPECT(sharding == NULL);
}

static void singles_compare_by_rank(void)
{
    spmd_mesh *mesh = make_line();
    spmd_sharding *first = NULL, *again = NULL, *last = NULL;
    EXPECT_OK(spmd_sharding_create_single(mesh, 0, &first));
    EXPECT_OK(spmd_sharding_create_single(mesh, 0, &again));
    EXPECT_OK(spmd_sharding_create_single(mesh, test_size - 1, &last));
    EXPECT(spmd_sharding_equal(first, again) && spmd_sharding_is_equivalent(first, again, 2));
    EXPECT(spmd_sharding_equal(first, last) == (test_size == 1));
    EXPECT(spmd_sharding_is_equivalent(first, last, 2) == (test_size == 1));
    spmd_sharding_free(&first);
    spmd_sharding_free(&again);
    spmd_sharding_free(&last);
    spmd_mesh_free(&mesh);
}

/* The same ranks in reverse are another mesh, also for what is replicated. */
static void G19_reversed_ranks_are_not_equivalent(void)
{
    MPI_Comm reversed;
    spmd_mesh *forth = make_line(), *back = NULL;
    spmd_sharding *a = NULL, *b = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    EXPECT_OK(spmd_mesh_create(reversed, "x=*", &back));
    MPI_Comm_free(&reversed);
    EXPECT_OK(spmd_sharding_create(forth, "P()", &a));
    EXPECT_OK(spmd_sharding_create(back, "P()", &b));
    EXPECT(spmd_sharding_is_equivalent(a, b, 2) == (test_size == 1));
    EXPECT(spmd_sharding_equal(a, b) == (test_size == 1));
    expect_carries(b);
    spmd_sharding_free(&a);
    spmd_sharding_free(&b);
    spmd_mesh_free(&forth);
    spmd_mesh_free(&back);
}

static void entries_carry_arrays(void)
{
    const char *const entries[] = {"y", "x"};
    spmd_mesh *mesh = make_grid();
    spmd_sharding *sharding = NULL;
    if (EXPECT_OK(spmd_sharding_create_entries(mesh, 2, entries, NULL, SPMD_SUM, &sharding)))
        expect_carries(sharding);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("sharding", CASE(grids_carry_arrays), CASE(grids_are_equivalent_to_names),
             CASE(fewer_devices_leave_ranks_idle), CASE(grids_that_do_not_fit_are_refused),
             CASE(grids_that_differ_are_noticed), CASE(one_rank_has_it_all),
             CASE(one_rank_of_a_smaller_mesh), CASE(positions_that_differ_are_noticed),
             CASE(singles_compare_by_rank), CASE(idle_ranks_hear_of_wrong_positions),
             CASE(one_rank_without_a_grid_is_everybodys_mistake),
             CASE(G19_reversed_ranks_are_not_equivalent), CASE(entries_carry_arrays))
