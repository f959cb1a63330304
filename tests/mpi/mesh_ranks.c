/* mesh_ranks.c - meshes of any ranks, in any order. */
#include <stdlib.h>
#include <string.h>

#include "meshes.h"

/* This process among the members of a communicator, and their number; -1 without one. */
static int rank_in(MPI_Comm comm)
{
    int rank = -1;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_rank(comm, &rank);
    return rank;
}

static void positions_are_the_ranks_that_were_named(void)
{
    for (int first = 0; first < test_size; first++)
        for (int step = -1; step <= 1; step += 2) {
            spmd_mesh *mesh = make_of_ranks("x=*", first, step);
            EXPECT(spmd_mesh_size(mesh) == test_size);
            for (int p = 0; p < test_size; p++) {
                int rank = (first + step * p + test_size) % test_size;
                EXPECT(spmd_mesh_rank(mesh, p) == rank);
                EXPECT((spmd_mesh_position(mesh) == p) == (rank == test_rank));
            }
            EXPECT(rank_in(spmd_mesh_comm(mesh, "x")) == spmd_mesh_position(mesh));
            spmd_mesh_free(&mesh);
        }
}

static void ranks_that_are_not_named_are_idle(void)
{
    spmd_mesh *mesh = make_reversed_rest();
    int members = test_size > 1 ? test_size - 1 : 1;
    bool member = test_rank > 0 || test_size == 1;
    EXPECT(spmd_mesh_size(mesh) == members);
    EXPECT(spmd_mesh_position(mesh) == (member ? test_size - 1 - test_rank : -1));
    EXPECT(spmd_mesh_rank(mesh, 0) == test_size - 1);
    EXPECT(spmd_mesh_rank(mesh, members) == -1 && spmd_mesh_rank(mesh, -1) == -1);
    EXPECT((spmd_mesh_comm(mesh, "x") != MPI_COMM_NULL) == member);
    EXPECT(rank_in(spmd_mesh_comm(mesh, "x")) == spmd_mesh_position(mesh));
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void plain_meshes_tell_ranks_too(void)
{
    spmd_mesh *mesh = make_shorter_line();
    EXPECT(spmd_mesh_rank(mesh, 0) == 0);
    EXPECT(spmd_mesh_rank(mesh, spmd_mesh_size(mesh) - 1) == spmd_mesh_size(mesh) - 1);
    EXPECT(spmd_mesh_rank(mesh, spmd_mesh_size(mesh)) == -1);
    spmd_mesh_free(&mesh);
}

static void axes_of_permuted_meshes_join_the_right_ranks(void)
{
    if (test_size % 2 != 0)
        return;
    spmd_mesh *mesh = make_reversed("x=2,y=*");
    int columns = test_size / 2, position = test_size - 1 - test_rank, sums[2];
    MPI_Allreduce(&test_rank, &sums[0], 1, MPI_INT, MPI_SUM, spmd_mesh_comm(mesh, "x"));
    MPI_Allreduce(&position, &sums[1], 1, MPI_INT, MPI_SUM, spmd_mesh_comm(mesh, "y"));
    EXPECT(sums[0] == 2 * (test_size - 1) - 2 * (position % columns) - columns);
    EXPECT(sums[1] == columns * (position / columns * columns) + columns * (columns - 1) / 2);
    EXPECT(rank_in(spmd_mesh_comm(mesh, "x")) == position / columns);
    EXPECT(rank_in(spmd_mesh_comm(mesh, "y")) == position % columns);
    EXPECT(rank_in(spmd_mesh_comm(mesh, "x,y")) == position);
    spmd_mesh_free(&mesh);
}

static void wrong_lists_name_the_rank(void)
{
    spmd_mesh *mesh = NULL;
    int *ranks = calloc((size_t)test_size, sizeof *ranks);
    char text[40], part[120];
    for (int p = 0; p < test_size; p++)
        ranks[p] = p;
    ranks[test_size - 1] = test_size;
    snprintf(part, sizeof part, "mesh x=%d: position %d is to be rank %d, but", test_size,
             test_size - 1, test_size);
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=*", ranks, &mesh), SPMD_ERR_MESH, part);
    ranks[0] = -1;
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=*", ranks, &mesh), SPMD_ERR_MESH,
                 "position 0 is to be rank -1, but the ranks of this communicator are 0 to");
    ranks[0] = ranks[test_size - 1] = test_size - 1;
    snprintf(part, sizeof part, "rank %d stands at positions 0 and %d", test_size - 1,
             test_size - 1);
    if (test_size > 1)
        EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=*", ranks, &mesh), SPMD_ERR_MESH,
                     part);
    snprintf(text, sizeof text, "x=%d", test_size + 1);
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, text, ranks, &mesh), SPMD_ERR_MESH,
                 "ranks, this job has");
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=*", NULL, &mesh), SPMD_ERR_ARGUMENT,
                 "list of its ranks is NULL");
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x", ranks, &mesh), SPMD_ERR_SYNTAX, "x");
    EXPECT_FAILS(spmd_mesh_create_ranks(MPI_COMM_NULL, "x=1", ranks, &mesh), SPMD_ERR_ARGUMENT,
                 "MPI_COMM_NULL");
    EXPECT(mesh == NULL);
    free(ranks);
}

static void lists_that_differ_are_noticed(void)
{
    spmd_mesh *mesh = NULL;
    const int one[] = {is_last_of_many() ? 1 : 0};
    expect_disagreement(spmd_mesh_create_ranks(MPI_COMM_WORLD, "x=1", one, &mesh));
    EXPECT((mesh == NULL) == (test_size > 1));
    spmd_mesh_free(&mesh);
}

static void the_plain_order_is_the_plain_mesh(void)
{
    spmd_mesh *plain = make_line(), *same = make_of_ranks("x=*", 0, 1);
    spmd_mesh *reversed = make_reversed("x=*"), *again = make_reversed("x=*");
    EXPECT(spmd_mesh_equal(plain, same));
    EXPECT(spmd_mesh_equal(reversed, again));
    EXPECT(spmd_mesh_equal(plain, reversed) == (test_size == 1));
    spmd_mesh_free(&plain);
    spmd_mesh_free(&same);
    spmd_mesh_free(&reversed);
    spmd_mesh_free(&again);
}

/* JAX: is_equivalent_to compares the devices in their order, also of what is replicated. */
static void shardings_on_other_orders_are_not_equivalent(void)
{
    spmd_mesh *plain = make_line(), *reversed = make_reversed("x=*"), *again = make_reversed("x=*");
    spmd_mesh *const other[] = {reversed, again};
    static const char *const specs[] = {"P()", "P(x)"};
    for (int s = 0; s < 2; s++) {
        spmd_sharding *ours = NULL, *theirs[2] = {NULL};
        EXPECT_OK(spmd_sharding_create(plain, specs[s], &ours));
        for (int i = 0; i < 2; i++)
            EXPECT_OK(spmd_sharding_create(other[i], specs[s], &theirs[i]));
        EXPECT(spmd_sharding_is_equivalent(ours, theirs[0], 2) == (test_size == 1));
        EXPECT(spmd_sharding_is_equivalent(theirs[0], theirs[1], 2));
        spmd_sharding_free(&ours);
        spmd_sharding_free(&theirs[0]);
        spmd_sharding_free(&theirs[1]);
    }
    spmd_mesh_free(&plain);
    spmd_mesh_free(&reversed);
    spmd_mesh_free(&again);
}

/* Lowest is the rank, not the position. */
static void the_lowest_failing_rank_speaks(void)
{
    spmd_mesh *mesh = make_reversed("x=*");
    spmd_status status = SPMD_OK;
    if (test_rank > 0 || test_size == 1)
        status = spmd_fail(SPMD_ERR_BODY, "I am %d", test_rank);
    EXPECT_FAILS(spmd_agree(mesh, status), SPMD_ERR_BODY,
                 test_size == 1 ? "I am 0" : "rank 1: I am 1");
    expect_same_message();
    spmd_mesh_free(&mesh);
}

static void a_stranger_is_named_by_its_rank(void)
{
    spmd_mesh *mesh = make_reversed("x=*");
    spmd_array *array = NULL;
    char message[60];
    int64_t rows = test_rank == 0 ? 5 : 6;
    spmd_status status = spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(rows), &array);
    snprintf(message, sizeof message, "rank 0 passed other arguments than rank %d", test_size - 1);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, message);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("mesh_ranks", CASE(positions_are_the_ranks_that_were_named),
             CASE(ranks_that_are_not_named_are_idle), CASE(plain_meshes_tell_ranks_too),
             CASE(axes_of_permuted_meshes_join_the_right_ranks), CASE(wrong_lists_name_the_rank),
             CASE(lists_that_differ_are_noticed), CASE(the_plain_order_is_the_plain_mesh),
             CASE(shardings_on_other_orders_are_not_equivalent),
             CASE(the_lowest_failing_rank_speaks), CASE(a_stranger_is_named_by_its_rank))
