/* cost.c - the table of costs that a mesh has, as SPMD_COSTS says on its rank 0. */
#include <stdlib.h>

#include "costs.h"
#include "meshes.h"
#include "sight.h"

/* Reductions of this rank: the calls come by here (PMPI). */
static int reductions;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

static void expect_refused(spmd_status wanted, const char *part)
{
    spmd_mesh *mesh = NULL;
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh), wanted, part);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=1", &mesh), wanted, "SPMD_COSTS=");
    EXPECT(mesh == NULL);
    expect_same_message();
}

static void wrong_tables_are_refused_by_all(void)
{
    costs_set("pool_form = 1\n");
    expect_refused(SPMD_ERR_SYNTAX, "in the environment: line 1: there is no cost pool_form");
    costs_set("\npool_from = -1\n");
    expect_refused(SPMD_ERR_SYNTAX, "line 2: pool_from is a number of at least 0");
    setenv("SPMD_COSTS", "/nonexistent/costs", 1);
    expect_refused(SPMD_ERR_FILE, "SPMD_COSTS=/nonexistent/costs in the environment: cannot open");
    setenv("SPMD_COSTS", "/dev/null", 1);
    expect_refused(SPMD_ERR_FILE, "no regular file");
    unsetenv("SPMD_COSTS");
}

static spmd_status sum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, "x", spmd_out(ctx, 0, in->dtype, spmd_block_shape(in)));
}

/* How often a psum of 64 KiB reduces by MPI on a mesh that is made now. */
static int count_reductions(void)
{
    const spmd_shard_map_options never = {.replication = SPMD_REPLICATION_NEVER};
    const char *const specs[] = {"P()"};
    spmd_mesh *mesh = make_line();
    spmd_array *in = NULL, *out = NULL;
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_F64, SPMD_SHAPE(8192), &in));
    EXPECT_OK(spmd_shard_map_plan(mesh, sum, 1, specs, 1, specs, &never, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, NULL, &in, &out));
    int before = reductions;
    EXPECT_OK(spmd_shard_map_run(plan, NULL, &in, &out));
    int count = reductions - before;
    spmd_shard_map_free(&plan);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
    return count;
}

static void sizes_from_which_blocks_are_read_count(void)
{
    costs_set("pool_from = inf\n");
    int by_mpi = count_reductions();
    costs_set("pool_from = 65536\n");
    int by_reading = count_reductions();
    costs_set("pool_from = 65537\n");
    EXPECT(count_reductions() == by_mpi);
    EXPECT(by_reading == by_mpi - ranks_see_each_other());
    costs_set("stream_from = 0\npool_from = 0\n");
    EXPECT(count_reductions() == by_reading);
    costs_set(NULL);
}

HARNESS_MAIN("cost", CASE(costs_begin), CASE(wrong_tables_are_refused_by_all),
             CASE(sizes_from_which_blocks_are_read_count), CASE(costs_end))
