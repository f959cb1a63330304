/* shard_map.c - what a shard_map costs over the communication of its body: a psum, against the
 * bare MPI_Allreduce on the same ranks and memory.
 *
 *     mpirun -n N bench/shard_map [--quick]
 */
#include <stdlib.h>

#include "bench.h"

static spmd_status psum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, "x", spmd_out(ctx, 0, SPMD_F64, spmd_block_shape(in)));
}

/* The same sum in three ways. */
struct sum {
    spmd_mesh *mesh;
    spmd_array *in;
    spmd_array *out;
    spmd_shard_map_call *plan;
    double *from, *to; /* of the bare call */
    int count;
};

static void run_plan(void *state)
{
    struct sum *sum = state;
    bench_check(spmd_shard_map_run(sum->plan, NULL, &sum->in, &sum->out));
}

static void run_once(void *state)
{
    struct sum *sum = state;
    bench_check(spmd_shard_map(sum->mesh, psum, NULL, 1, &sum->in, SPMD_SPECS("P(x)"), 1, &sum->out,
                               SPMD_SPECS("P()"), NULL));
}

static void run_mpi(void *state)
{
    struct sum *sum = state;
    MPI_Allreduce(sum->from, sum->to, sum->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static struct sum begin_sum(spmd_mesh *mesh, int count)
{
    struct sum sum = {.mesh = mesh, .count = count};
    sum.from = calloc((size_t)count, sizeof *sum.from);
    sum.to = calloc((size_t)count, sizeof *sum.to);
    bench_check(spmd_array_zeros(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(count * spmd_mesh_size(mesh)),
                                 &sum.in));
    return sum;
}

static void plan_sum(struct sum *sum, spmd_replication replication)
{
    bench_check(spmd_shard_map_plan(sum->mesh, psum, 1, SPMD_SPECS("P(x)"), 1, SPMD_SPECS("P()"),
                                    &(spmd_shard_map_options){.replication = replication},
                                    &sum->plan));
}

static void end_sum(struct sum *sum)
{
    free(sum->from);
    free(sum->to);
    spmd_array_free(&sum->in);
    spmd_array_free(&sum->out);
}

static void compare(spmd_mesh *mesh, int64_t bytes, const char *planned, const char *checked,
                    const char *once)
{
    struct sum sum = begin_sum(mesh, (int)(bytes / (int64_t)sizeof(double)));
    struct contender mpi = {"MPI_Allreduce", run_mpi, &sum};
    plan_sum(&sum, SPMD_REPLICATION_FIRST);
    bench_compare(planned, bytes, (struct contender){"planned", run_plan, &sum}, mpi);
    spmd_shard_map_free(&sum.plan);
    plan_sum(&sum, SPMD_REPLICATION_ALWAYS);
    bench_compare(checked, bytes, (struct contender){"checked", run_plan, &sum}, mpi);
    spmd_shard_map_free(&sum.plan);
    bench_compare(once, bytes, (struct contender){"once", run_once, &sum}, mpi);
    end_sum(&sum);
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    compare(mesh, 8, "psum planned", "psum planned and checked at each run", "psum one-shot");
    compare(mesh, 1 << 20, "psum planned", "psum planned and checked at each run", "psum one-shot");
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
