/* mesh.c - MPI tests of meshes: their ranks, their communicators, their lifetime. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "harness.h"

/* A grid of all ranks: two columns where they divide, else one. */
static int columns(void)
{
    return test_size % 2 == 0 ? 2 : 1;
}

static spmd_mesh *make_grid(void)
{
    char text[40];
    spmd_mesh *mesh = NULL;
    snprintf(text, sizeof text, "x=*,y=%d", columns());
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

/* The sum of the members' ranks in MPI_COMM_WORLD. */
static int sum_ranks(MPI_Comm comm)
{
    int sum = -1;
    MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void star_takes_all_ranks(void)
{
    char text[40], expected[40];
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, " x = * ", &mesh));
    EXPECT(spmd_mesh_naxes(mesh) == 1);
    EXPECT(strcmp(spmd_mesh_axis_name(mesh, 0), "x") == 0);
    EXPECT(spmd_mesh_axis_name(mesh, 1) == NULL);
    EXPECT(spmd_mesh_axis_name(mesh, -1) == NULL);
    EXPECT(spmd_mesh_axis_size(mesh, "x") == test_size);
    EXPECT(spmd_mesh_axis_size(mesh, "y") == -1);
    EXPECT(spmd_mesh_size(mesh) == test_size);
    EXPECT(spmd_mesh_position(mesh) == test_rank);
    EXPECT(!spmd_mesh_is_abstract(mesh));
    int length = snprintf(expected, sizeof expected, "x=%d", test_size);
    EXPECT(spmd_mesh_format(text, sizeof text, mesh) == length && strcmp(text, expected) == 0);
    EXPECT(spmd_mesh_format(NULL, 0, mesh) == length);
    EXPECT(spmd_mesh_format(text, 2, mesh) == length && strcmp(text, "x") == 0);
    spmd_mesh_free(&mesh);
    EXPECT(mesh == NULL);
}

static void positions_are_row_major(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t coordinates[2];
    EXPECT(spmd_mesh_axis_size(mesh, "x") == test_size / columns());
    EXPECT(spmd_mesh_axis_size(mesh, "y") == columns());
    EXPECT_OK(spmd_mesh_coordinates(mesh, spmd_mesh_position(mesh), coordinates));
    EXPECT(coordinates[0] == test_rank / columns() && coordinates[1] == test_rank % columns());
    EXPECT_FAILS(spmd_mesh_coordinates(mesh, test_size, coordinates), SPMD_ERR_ARGUMENT,
                 "position");
    EXPECT_FAILS(spmd_mesh_coordinates(mesh, -1, coordinates), SPMD_ERR_ARGUMENT, "-1");
    spmd_mesh_free(&mesh);
}

static void names_and_sizes(void)
{
    spmd_mesh *mesh = NULL, *grid = make_grid(), *other = NULL;
    const char *const names[] = {"x", "y"}, *const swapped[] = {"y", "x"};
    const int64_t sizes[] = {SPMD_INFER, columns()};
    EXPECT_OK(spmd_mesh_create_sizes(MPI_COMM_WORLD, 2, names, sizes, &mesh));
    EXPECT_OK(spmd_mesh_create_sizes(MPI_COMM_WORLD, 2, swapped, sizes, &other));
    EXPECT(spmd_mesh_equal(mesh, grid));
    EXPECT(!spmd_mesh_equal(mesh, other));
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&other);
    EXPECT_FAILS(
        spmd_mesh_create_sizes(MPI_COMM_WORLD, 2, (const char *const[]){"x", "x"}, sizes, &mesh),
        SPMD_ERR_MESH, "x");
    EXPECT(mesh == NULL);
}

static void wrong_texts_are_refused_everywhere(void)
{
    spmd_mesh *mesh = NULL;
    char text[40];
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=", &mesh), SPMD_ERR_SYNTAX, "x=");
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=1,x=1", &mesh), SPMD_ERR_MESH, "x");
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=0", &mesh), SPMD_ERR_MESH, "x");
    snprintf(text, sizeof text, "x=%d,y=*", test_size + 1);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh), SPMD_ERR_MESH, text);
    EXPECT(spmd_mesh_create(MPI_COMM_WORLD, NULL, &mesh) != SPMD_OK);
    EXPECT(spmd_mesh_create(MPI_COMM_NULL, "x=1", &mesh) != SPMD_OK);
    EXPECT(mesh == NULL);
}

static void too_few_ranks_say_what_to_do(void)
{
    spmd_mesh *mesh = NULL;
    char text[40], part[200];
    snprintf(text, sizeof text, "x=%d,y=2", test_size);
    snprintf(part, sizeof part, "mesh %s needs %d ranks, this job has %d: mpirun -n %d ", text,
             2 * test_size, test_size, 2 * test_size);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh), SPMD_ERR_MESH, part);
    EXPECT(mesh == NULL);
}

/* What idle ranks may do: all of it, at once. */
static void use_with_idle_ranks(spmd_mesh *mesh, int members)
{
    spmd_array *array = NULL, *moved = NULL;
    int64_t host[7] = {0};
    bool member = test_rank < members;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(7), &array));
    EXPECT((spmd_array_block(array) != NULL) == member);
    EXPECT_OK(spmd_reshard(array, "P()", &moved));
    EXPECT_OK(spmd_array_gather(moved, SPMD_ALL, host, 7));
    EXPECT(host[6] == (member ? 6 : 0));
    spmd_array_free(&array);
    spmd_array_free(&moved);
    EXPECT((spmd_mesh_comm(mesh, "x") == MPI_COMM_NULL) == !member);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
}

static void smaller_meshes_leave_ranks_idle(void)
{
    for (int members = 1; members <= test_size; members++) {
        char text[20];
        spmd_mesh *mesh = NULL;
        snprintf(text, sizeof text, "x=%d", members);
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
        EXPECT(spmd_mesh_size(mesh) == members);
        EXPECT(spmd_mesh_position(mesh) == (test_rank < members ? test_rank : -1));
        use_with_idle_ranks(mesh, members);
        spmd_mesh_free(&mesh);
    }
}

static void caller_may_free_his_communicator_at_once(void)
{
    MPI_Comm comm;
    spmd_mesh *mesh = NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    EXPECT_OK(spmd_mesh_create(comm, "x=*", &mesh));
    MPI_Comm_free(&comm);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    EXPECT(sum_ranks(spmd_mesh_comm(mesh, "x")) == test_size * (test_size - 1) / 2);
    spmd_mesh_free(&mesh);
}

static void error_handlers_stay_the_callers(void)
{
    MPI_Errhandler before, after;
    spmd_mesh *mesh = NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    EXPECT(before == after);
    spmd_mesh_free(&mesh);
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&after);
}

static void communicators_are_made_once(void)
{
    spmd_mesh *mesh = make_grid();
    MPI_Comm x = spmd_mesh_comm(mesh, "x"), both = spmd_mesh_comm(mesh, "x,y");
    int before = comms_alive;
    EXPECT(x != MPI_COMM_NULL && both != MPI_COMM_NULL);
    EXPECT(spmd_mesh_comm(mesh, "x") == x);
    EXPECT(spmd_mesh_comm(mesh, " ( x , y ) ") == both);
    EXPECT(comms_alive == before);
    EXPECT(spmd_mesh_comms(mesh) == 4 + test_checks); /* two of its own, and the checks' */
    spmd_mesh_free(&mesh);
}

static void communicators_hold_the_ranks_along_their_axes(void)
{
    spmd_mesh *mesh = make_grid();
    int rows = test_size / columns(), x = test_rank / columns(), y = test_rank % columns(), size;
    int column_sum = columns() * rows * (rows - 1) / 2 + rows * y;
    int row_sum = columns() * columns() * x + columns() * (columns() - 1) / 2;
    EXPECT(sum_ranks(spmd_mesh_comm(mesh, "x")) == column_sum);
    EXPECT(sum_ranks(spmd_mesh_comm(mesh, "y")) == row_sum);
    EXPECT(sum_ranks(spmd_mesh_comm(mesh, "x,y")) == test_size * (test_size - 1) / 2);
    EXPECT(sum_ranks(spmd_mesh_comm(mesh, "")) == test_rank);
    MPI_Comm_size(spmd_mesh_comm(mesh, ""), &size);
    EXPECT(size == 1);
    spmd_mesh_free(&mesh);
}

static void communicators_are_ordered_as_their_axes(void)
{
    spmd_mesh *mesh = make_grid();
    int rows = test_size / columns(), x = test_rank / columns(), y = test_rank % columns();
    int rank = -1;
    MPI_Comm_rank(spmd_mesh_comm(mesh, "x"), &rank);
    EXPECT(rank == x);
    MPI_Comm_rank(spmd_mesh_comm(mesh, "x,y"), &rank);
    EXPECT(rank == x * columns() + y);
    MPI_Comm_rank(spmd_mesh_comm(mesh, "y,x"), &rank);
    EXPECT(rank == y * rows + x);
    spmd_mesh_free(&mesh);
}

static void wrong_axes_have_no_communicator(void)
{
    spmd_mesh *mesh = make_grid();
    EXPECT(spmd_mesh_comm(mesh, "q") == MPI_COMM_NULL);
    EXPECT(strstr(spmd_error_message(), "no axis q; name one of its own") != NULL);
    EXPECT(spmd_mesh_comm(mesh, "x,x") == MPI_COMM_NULL);
    EXPECT(strstr(spmd_error_message(), "twice") != NULL);
    EXPECT(spmd_mesh_comm(mesh, "x,") == MPI_COMM_NULL);
    EXPECT(spmd_mesh_comm(mesh, NULL) == MPI_COMM_NULL);
    spmd_mesh_free(&mesh);
}

/* Only the ranks of a group take part in making its communicator. */
static void first_use_may_happen_on_some_rows_only(void)
{
    spmd_mesh *mesh = make_grid();
    if (test_rank / columns() == 0)
        EXPECT(sum_ranks(spmd_mesh_comm(mesh, "y")) == columns() * (columns() - 1) / 2);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void freeing_in_any_order(void)
{
    spmd_mesh *mesh = NULL, *none = NULL;
    spmd_sharding *sharding = NULL;
    spmd_array *array = NULL, *again = NULL;
    int64_t host[5] = {0};
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &sharding));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(5), &array));
    spmd_mesh_free(&mesh);
    EXPECT(sum_ranks(spmd_mesh_comm(spmd_sharding_mesh(sharding), "x")) ==
           test_size * (test_size - 1) / 2);
    spmd_sharding_free(&sharding);
    again = spmd_array_hold(array);
    spmd_array_free(&array);
    EXPECT_OK(spmd_array_gather(again, SPMD_ALL, host, 5));
    EXPECT(host[4] == 4);
    spmd_array_free(&again);
    spmd_mesh_free(&none);
    spmd_sharding_free(&sharding);
    spmd_array_free(&array);
}

static void failures_leave_nothing_behind(void)
{
    int before = comms_alive;
    spmd_mesh *mesh = NULL;
    char text[40];
    snprintf(text, sizeof text, "x=%d", test_size + 1);
    for (int i = 0; i < 10; i++)
        EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh), SPMD_ERR_MESH, text);
    EXPECT(comms_alive == before);
}

static void many_meshes_at_a_time(void)
{
    enum { MESHES = 8 };
    spmd_mesh *meshes[MESHES] = {NULL};
    for (int i = 0; i < MESHES; i++) {
        char text[40];
        snprintf(text, sizeof text, "a%d=%d,b=1", i, 1 + i % test_size);
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &meshes[i]));
    }
    for (int i = MESHES - 1; i >= 0; i--) {
        int64_t size = 1 + i % test_size;
        char axis[16];
        snprintf(axis, sizeof axis, "a%d", i);
        MPI_Comm comm = spmd_mesh_comm(meshes[i], axis);
        if (test_rank < size)
            EXPECT(sum_ranks(comm) == size * (size - 1) / 2);
        EXPECT_OK(spmd_agree(meshes[i], SPMD_OK));
    }
    for (int i = 0; i < MESHES; i++)
        spmd_mesh_free(&meshes[(i * 3) % MESHES]);
}

static void meshes_over_parts_of_the_job(void)
{
    MPI_Comm half;
    spmd_mesh *mesh = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &half);
    EXPECT_OK(spmd_mesh_create(half, "x=*", &mesh));
    MPI_Comm_free(&half);
    EXPECT(spmd_mesh_position(mesh) == test_rank / 2);
    EXPECT(spmd_mesh_size(mesh) == (test_size + 1 - test_rank % 2) / 2);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void ranks_in_another_order(void)
{
    MPI_Comm reversed;
    spmd_mesh *mesh = NULL, *plain = NULL;
    spmd_array *array = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    EXPECT_OK(spmd_mesh_create(reversed, "x=*", &mesh));
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &plain));
    MPI_Comm_free(&reversed);
    EXPECT(spmd_mesh_position(mesh) == test_size - 1 - test_rank);
    EXPECT(spmd_mesh_equal(mesh, plain) == (test_size == 1));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(3 * test_size), &array));
    EXPECT(*(int64_t *)spmd_array_block(array)->data == 3 * (test_size - 1 - test_rank));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&plain);
}

static void abstract_meshes_need_no_ranks(void)
{
    spmd_mesh *mesh = NULL, *same = NULL, *other = NULL;
    int64_t coordinates[2];
    EXPECT_OK(spmd_mesh_create_abstract("x=1000,y=1000", &mesh));
    EXPECT_OK(spmd_mesh_create_abstract("x=1000,y=1000", &same));
    EXPECT_OK(spmd_mesh_create_abstract("x=1000,z=1000", &other));
    EXPECT(spmd_mesh_is_abstract(mesh));
    EXPECT(spmd_mesh_size(mesh) == 1000000);
    EXPECT(spmd_mesh_position(mesh) == -1);
    EXPECT_OK(spmd_mesh_coordinates(mesh, 123456, coordinates));
    EXPECT(coordinates[0] == 123 && coordinates[1] == 456);
    EXPECT(spmd_mesh_equal(mesh, same) && !spmd_mesh_equal(mesh, other));
    EXPECT(spmd_mesh_comm(mesh, "x") == MPI_COMM_NULL);
    EXPECT(spmd_mesh_comms(mesh) == 0);
    EXPECT(spmd_mesh_rank(mesh, 0) == -1);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    EXPECT(spmd_mesh_naxes(mesh) == 2 && spmd_mesh_axis_size(mesh, "y") == 1000);
    EXPECT(strcmp(spmd_mesh_axis_name(mesh, 1), "y") == 0);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&same);
    spmd_mesh_free(&other);
    EXPECT_FAILS(spmd_mesh_create_abstract("x=1", NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_mesh_create_abstract("x=*", &mesh), SPMD_ERR_MESH, "x");
    EXPECT_FAILS(spmd_mesh_create_abstract("x", &mesh), SPMD_ERR_SYNTAX, "x");
}

static void equal_meshes(void)
{
    spmd_mesh *a = make_grid(), *b = make_grid(), *one = NULL, *abstract = NULL;
    char text[40];
    EXPECT(spmd_mesh_equal(a, a) && spmd_mesh_equal(a, b));
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=1,y=1", &one));
    EXPECT(spmd_mesh_equal(a, one) == (test_size == 1));
    spmd_mesh_format(text, sizeof text, a);
    EXPECT_OK(spmd_mesh_create_abstract(text, &abstract));
    EXPECT(!spmd_mesh_equal(a, abstract));
    spmd_mesh_free(&a);
    spmd_mesh_free(&b);
    spmd_mesh_free(&one);
    spmd_mesh_free(&abstract);
}

/* One element more than parts does not divide, unless there is one part. */
static spmd_status place_unevenly(spmd_mesh *mesh)
{
    spmd_array *array = NULL;
    spmd_status status =
        spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(test_size + 1), &array);
    spmd_array_free(&array);
    return status;
}

static void strict_meshes_refuse_uneven_arrays(void)
{
    spmd_mesh *mesh = NULL;
    spmd_status refused = test_size > 1 ? SPMD_ERR_SPEC : SPMD_OK;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(place_unevenly(mesh));
    spmd_mesh_set_strict(mesh, true);
    EXPECT(place_unevenly(mesh) == refused);
    spmd_mesh_set_strict(mesh, false);
    EXPECT_OK(place_unevenly(mesh));
    spmd_mesh_free(&mesh);
    setenv("SPMD_STRICT", "1", 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT(place_unevenly(mesh) == refused);
    spmd_mesh_free(&mesh);
    setenv("SPMD_STRICT", "0", 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(place_unevenly(mesh));
    spmd_mesh_free(&mesh);
    setenv("SPMD_STRICT", "yes", 1);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh), SPMD_ERR_ARGUMENT,
                 "SPMD_STRICT=yes in the environment: it is 0 or 1");
    unsetenv("SPMD_STRICT");
}

static void intercommunicators_are_refused(void)
{
    spmd_mesh *mesh = NULL;
    MPI_Comm half, inter;
    bool first = test_rank < (test_size + 1) / 2;
    if (test_size == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, !first, test_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? (test_size + 1) / 2 : 0, 0, &inter);
    EXPECT_FAILS(spmd_mesh_create(inter, "x=*", &mesh), SPMD_ERR_ARGUMENT, "intracommunicator");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

HARNESS_MAIN("mesh", CASE(star_takes_all_ranks), CASE(positions_are_row_major),
             CASE(names_and_sizes), CASE(wrong_texts_are_refused_everywhere),
             CASE(too_few_ranks_say_what_to_do), CASE(smaller_meshes_leave_ranks_idle),
             CASE(caller_may_free_his_communicator_at_once), CASE(error_handlers_stay_the_callers),
             CASE(communicators_are_made_once), CASE(communicators_hold_the_ranks_along_their_axes),
             CASE(communicators_are_ordered_as_their_axes), CASE(wrong_axes_have_no_communicator),
             CASE(first_use_may_happen_on_some_rows_only), CASE(freeing_in_any_order),
             CASE(failures_leave_nothing_behind), CASE(many_meshes_at_a_time),
             CASE(intercommunicators_are_refused), CASE(meshes_over_parts_of_the_job),
             CASE(ranks_in_another_order), CASE(abstract_meshes_need_no_ranks), CASE(equal_meshes),
             CASE(strict_meshes_refuse_uneven_arrays))
