/* agree.c - MPI tests of agreement: one rank's failure is everybody's, with its message. */
#include <stdio.h>
#include <string.h>

#include "harness.h"

static spmd_mesh *make_line(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    return mesh;
}

/* Every rank has the same message. */
static void expect_same_message(void)
{
    char message[4096] = "";
    snprintf(message, sizeof message, "%s", spmd_error_message());
    MPI_Bcast(message, sizeof message, MPI_BYTE, 0, MPI_COMM_WORLD);
    EXPECT(strcmp(message, spmd_error_message()) == 0);
}

/* How a message of rank `rank` begins for all, unless all ranks had the same one. */
static const char *from_rank(int rank, const char *message)
{
    static char expected[200];
    if (test_size == 1)
        return message;
    snprintf(expected, sizeof expected, "rank %d: %s", rank, message);
    return expected;
}

static void all_is_well(void)
{
    spmd_mesh *mesh = make_line();
    for (int i = 0; i < 100; i++)
        EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void one_failing_rank_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    for (int failing = 0; failing < test_size; failing++) {
        spmd_status status = test_rank == failing
                                 ? spmd_fail(SPMD_ERR_BODY, "no rows, said %d", test_rank)
                                 : SPMD_OK;
        char message[40];
        snprintf(message, sizeof message, "no rows, said %d", failing);
        EXPECT_FAILS(spmd_agree(mesh, status), SPMD_ERR_BODY, from_rank(failing, message));
        expect_same_message();
        EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    }
    spmd_mesh_free(&mesh);
}

static void the_lowest_failing_rank_speaks(void)
{
    spmd_mesh *mesh = make_line();
    for (int lowest = 0; lowest < test_size; lowest++) {
        spmd_status status = SPMD_OK;
        if (test_rank == lowest)
            status = spmd_fail(SPMD_ERR_SHAPE, "the first");
        else if (test_rank > lowest)
            status = spmd_fail(SPMD_ERR_FILE, "number %d", test_rank);
        EXPECT_FAILS(spmd_agree(mesh, status), SPMD_ERR_SHAPE, from_rank(lowest, "the first"));
        expect_same_message();
    }
    spmd_mesh_free(&mesh);
}

static void positions_name_ranks_of_the_mesh(void)
{
    MPI_Comm reversed;
    spmd_mesh *mesh = NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    EXPECT_OK(spmd_mesh_create(reversed, "x=*", &mesh));
    MPI_Comm_free(&reversed);
    spmd_status status = test_rank == 0 ? spmd_fail(SPMD_ERR_BODY, "here") : SPMD_OK;
    EXPECT_FAILS(spmd_agree(mesh, status), SPMD_ERR_BODY, from_rank(test_size - 1, "here"));
    spmd_mesh_free(&mesh);
}

static void all_ranks_may_fail(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_FAILS(spmd_agree(mesh, spmd_fail(SPMD_ERR_DTYPE, "alike")), SPMD_ERR_DTYPE, "alike");
    expect_same_message();
    EXPECT_FAILS(spmd_agree(mesh, spmd_fail(SPMD_ERR_DTYPE, "I am %d", test_rank)), SPMD_ERR_DTYPE,
                 from_rank(0, "I am 0"));
    expect_same_message();
    spmd_mesh_free(&mesh);
}

static void long_messages_arrive_cut(void)
{
    spmd_mesh *mesh = make_line();
    int last = test_size - 1;
    spmd_status status = SPMD_OK;
    if (test_rank == last)
        status = spmd_fail(SPMD_ERR_BODY, "long %0*d", 5000, 0);
    EXPECT_FAILS(spmd_agree(mesh, status), SPMD_ERR_BODY, from_rank(last, "long 000"));
    EXPECT(strlen(spmd_error_message()) > 500);
    expect_same_message();
    spmd_mesh_free(&mesh);
}

static void idle_ranks_do_not_wait(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=1", &mesh));
    if (test_rank == 0)
        EXPECT_FAILS(spmd_agree(mesh, spmd_fail(SPMD_ERR_BODY, "the member's")), SPMD_ERR_BODY,
                     "the member's");
    else
        EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void abstract_meshes_agree_alone(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &mesh));
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    EXPECT(spmd_agree(mesh, spmd_fail(SPMD_ERR_BODY, "mine")) == SPMD_ERR_BODY);
    spmd_mesh_free(&mesh);
}

/* What a call with different arguments on the last rank gives. */
static void expect_disagreement(spmd_status status)
{
    if (test_size == 1) {
        EXPECT_OK(status);
    } else {
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, "passed other arguments than rank 0");
        expect_same_message();
    }
}

static void different_arguments_are_an_error_on_all(void)
{
    spmd_mesh *mesh = NULL, *line = make_line();
    spmd_array *array = NULL;
    bool odd = test_size > 1 && test_rank == test_size - 1;
    expect_disagreement(spmd_mesh_create(MPI_COMM_WORLD, odd ? "x=1,z=1" : "x=1,y=1", &mesh));
    EXPECT((mesh != NULL) == (test_size == 1));
    expect_disagreement(
        spmd_array_zeros(line, odd ? "P()" : "P(x)", SPMD_F32, SPMD_SHAPE(8), &array));
    EXPECT((array != NULL) == (test_size == 1));
    spmd_array_free(&array);
    expect_disagreement(
        spmd_array_zeros(line, "P(x)", odd ? SPMD_I32 : SPMD_F32, SPMD_SHAPE(8), &array));
    spmd_array_free(&array);
    expect_disagreement(spmd_array_arange(line, "P(x)", SPMD_F32, SPMD_SHAPE(odd ? 9 : 8), &array));
    spmd_array_free(&array);
    EXPECT_OK(spmd_array_zeros(line, "P(x)", SPMD_F32, SPMD_SHAPE(8), &array));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&line);
}

static void one_call_is_named_once(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    char text[100];
    bool odd = test_size > 1 && test_rank == test_size - 1;
    spmd_status status = spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(odd ? 9 : 8), &array);
    snprintf(text, sizeof text, "rank %d passed other arguments than rank 0 to spmd_array_zeros (",
             test_size - 1);
    EXPECT(status == SPMD_OK || strncmp(spmd_error_message(), text, strlen(text)) == 0);
    EXPECT(status == SPMD_OK || !strstr(spmd_error_message(), "beside"));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void a_bad_argument_on_one_rank_is_an_error_on_all(void)
{
    spmd_mesh *mesh = make_line(), *other = NULL;
    spmd_array *array = NULL;
    bool odd = test_rank == test_size - 1;
    EXPECT_FAILS(spmd_array_zeros(mesh, odd ? "P(q)" : "P(x)", SPMD_F32, SPMD_SHAPE(8), &array),
                 SPMD_ERR_SPEC, from_rank(test_size - 1, "P(q)"));
    expect_same_message();
    EXPECT(array == NULL);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, odd ? "x=" : "x=*", &other), SPMD_ERR_SYNTAX,
                 from_rank(test_size - 1, "mesh"));
    EXPECT(other == NULL);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static spmd_status fill_or_fail(const spmd_box *box, void *data, void *failing)
{
    if (test_rank == *(int *)failing)
        return spmd_fail(SPMD_ERR_FILE, "no data for %d", (int)box->lo[0]);
    memset(data, 0, (size_t)spmd_box_size(box));
    return SPMD_OK;
}

static void a_failing_callback_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    for (int failing = 0; failing < test_size; failing++) {
        spmd_array *array = NULL;
        char message[40];
        snprintf(message, sizeof message, "no data for %d", failing);
        EXPECT_FAILS(spmd_array_from_callback(mesh, "P(x)", SPMD_I8, SPMD_SHAPE(test_size),
                                              fill_or_fail, &failing, &array),
                     SPMD_ERR_FILE, from_rank(failing, message));
        EXPECT(array == NULL);
    }
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("agree", CASE(all_is_well), CASE(one_failing_rank_is_everybodys),
             CASE(the_lowest_failing_rank_speaks), CASE(positions_name_ranks_of_the_mesh),
             CASE(all_ranks_may_fail), CASE(long_messages_arrive_cut), CASE(idle_ranks_do_not_wait),
             CASE(abstract_meshes_agree_alone), CASE(different_arguments_are_an_error_on_all),
             CASE(one_call_is_named_once), CASE(a_bad_argument_on_one_rank_is_an_error_on_all),
             CASE(a_failing_callback_is_everybodys))
