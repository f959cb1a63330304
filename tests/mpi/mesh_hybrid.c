/* mesh_hybrid.c - meshes over nodes. One machine plays several: comms.h. */
#include <stdlib.h>
#include <string.h>

#include "comms.h"
#include "meshes.h"

/* Two nodes, of the first and of the last half of the ranks; dealt in turn, so that the higher
 * number has the lowest rank; and uneven. */
static int halves(int rank)
{
    return rank >= test_size / 2;
}

static int in_turn(int rank)
{
    return rank % 2 == 0 ? 9 : 4;
}

static int last_alone(int rank)
{
    return rank == test_size - 1;
}

static spmd_mesh *make_hybrid(const char *nodes, const char *local)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create_hybrid(MPI_COMM_WORLD, nodes, local, &mesh));
    return mesh;
}

static void one_node_is_a_plain_mesh(void)
{
    spmd_mesh *hybrid = make_hybrid("data=1", "data=1,model=*"),
              *plain = make_mesh("data=1,model=*");
    EXPECT(spmd_mesh_equal(hybrid, plain));
    spmd_mesh_free(&hybrid);
    spmd_mesh_free(&plain);
    hybrid = make_hybrid("node=*", "model=1"); /* on more ranks than one, some are idle */
    EXPECT(spmd_mesh_size(hybrid) == 1);
    EXPECT(spmd_mesh_position(hybrid) == (test_rank == 0 ? 0 : -1));
    EXPECT_OK(spmd_agree(hybrid, SPMD_OK));
    spmd_mesh_free(&hybrid);
}

/* The local axis joins the ranks of one node, the axis over nodes its counterparts. */
static void check_two_nodes(int (*node)(int rank), int rank_of(int node, int number))
{
    int half = test_size / 2;
    comms_node = node;
    spmd_mesh *mesh = make_hybrid("data=*", "model=*");
    EXPECT(spmd_mesh_axis_size(mesh, "data") == 2 && spmd_mesh_axis_size(mesh, "model") == half);
    for (int p = 0; p < test_size; p++)
        EXPECT(spmd_mesh_rank(mesh, p) == rank_of(p / half, p % half));
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
    comms_node = NULL;
}

static int rank_of_halves(int node, int number)
{
    return node * (test_size / 2) + number;
}

static int rank_of_turns(int node, int number)
{
    return 2 * number + node;
}

static void two_nodes(void)
{
    if (test_size % 2 != 0)
        return;
    check_two_nodes(halves, rank_of_halves);
    check_two_nodes(in_turn, rank_of_turns);
}

static void an_axis_over_nodes_and_inside(void)
{
    if (test_size % 4 != 0)
        return;
    int local = test_size / 4;
    char text[40];
    comms_node = in_turn;
    spmd_mesh *mesh = make_hybrid("data=2", "model=2,data=*");
    snprintf(text, sizeof text, "data=%d,model=2", 2 * local);
    spmd_mesh *abstract = NULL;
    EXPECT_OK(spmd_mesh_create_abstract(text, &abstract));
    EXPECT(spmd_mesh_axis_size(mesh, "data") == 2 * local);
    for (int64_t p = 0; p < test_size; p++) {
        int64_t at[2];
        EXPECT_OK(spmd_mesh_coordinates(abstract, p, at));
        int node = (int)at[0] / local, number = (int)at[1] * local + (int)at[0] % local;
        EXPECT(spmd_mesh_rank(mesh, p) == 2 * number + node);
    }
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&mesh);
    comms_node = NULL;
}

static void what_does_not_fit_is_told(void)
{
    spmd_mesh *mesh = NULL;
    char host[MPI_MAX_PROCESSOR_NAME], part[200];
    int length, before = comms_alive;
    MPI_Get_processor_name(host, &length);
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=2", "model=1", &mesh), SPMD_ERR_MESH,
                 "data=2 over nodes needs 2 nodes, this job has 1");
    snprintf(part, sizeof part, "node 0 (host %.50s", host);
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=1", "model=1000", &mesh),
                 SPMD_ERR_MESH, part);
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data", "model=1", &mesh), SPMD_ERR_SYNTAX,
                 "data");
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=1", NULL, &mesh), SPMD_ERR_ARGUMENT,
                 "no text");
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=1", "model=*", NULL),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT(spmd_mesh_create_hybrid(MPI_COMM_NULL, "data=1", "model=*", &mesh) != SPMD_OK);
    EXPECT(mesh == NULL && comms_alive == before);
}

static void uneven_nodes_are_told(void)
{
    if (test_size < 3)
        return;
    spmd_mesh *mesh = NULL;
    char part[120];
    comms_node = last_alone;
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=2", "model=*", &mesh), SPMD_ERR_MESH,
                 "node 1 (host ");
    snprintf(part, sizeof part, ") has 1 rank, model=%d inside of a node needs %d", test_size - 1,
             test_size - 1);
    EXPECT(strstr(spmd_error_message(), part) != NULL);
    EXPECT_FAILS(spmd_mesh_create_hybrid(MPI_COMM_WORLD, "data=2", "model=1", &mesh), SPMD_ERR_MESH,
                 "model=1 inside of a node needs just 1");
    EXPECT(mesh == NULL);
    comms_node = NULL;
}

HARNESS_MAIN("mesh_hybrid", CASE(one_node_is_a_plain_mesh), CASE(two_nodes),
             CASE(an_axis_over_nodes_and_inside), CASE(what_does_not_fit_is_told),
             CASE(uneven_nodes_are_told))
