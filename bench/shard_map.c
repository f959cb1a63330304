/* shard_map.c - what a shard_map costs over its body: a psum, against the bare MPI_Allreduce on the
 * same ranks and memory; and a loop without communication, against the bare function.
 *
 *     mpirun -n N bench/shard_map [--quick | --once]
 */
#include <stdlib.h>

#include "bench.h"

static spmd_status psum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, "x", spmd_out_unset(ctx, 0, SPMD_F64, spmd_block_shape(in)));
}

/* A function of plain memory, and as a body. */
static void scale(const double *from, double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = 2 * from[i] + 1;
}

static spmd_status scaled(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    scale(in->data, spmd_out_unset(ctx, 0, SPMD_F64, spmd_block_shape(in))->data, in->shape[0]);
    return SPMD_OK;
}

/* The same work in several ways. */
struct work {
    spmd_mesh *mesh;
    spmd_body *body;
    const char *out_spec;
    spmd_array *in;
    spmd_array *out;
    spmd_shard_map_call *plan;
    double *from, *to; /* of the bare call */
    int count;
};

static void run_plan(void *state)
{
    struct work *work = state;
    bench_check(spmd_shard_map_run(work->plan, NULL, &work->in, &work->out));
}

static void run_once(void *state)
{
    struct work *work = state;
    bench_check(spmd_shard_map(work->mesh, work->body, NULL, 1, &work->in, SPMD_SPECS("P(x)"), 1,
                               &work->out, SPMD_SPECS(work->out_spec), NULL));
}

static void run_mpi(void *state)
{
    struct work *work = state;
    MPI_Allreduce(work->from, work->to, work->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void run_function(void *state)
{
    struct work *work = state;
    scale(work->from, work->to, work->count);
}

static void begin(struct work *work, int64_t bytes)
{
    work->count = (int)(bytes / (int64_t)sizeof(double));
    work->from = calloc((size_t)work->count, sizeof *work->from);
    work->to = calloc((size_t)work->count, sizeof *work->to);
    bench_check(spmd_array_zeros(work->mesh, "P(x)", SPMD_F64,
                                 SPMD_SHAPE(work->count * spmd_mesh_size(work->mesh)), &work->in));
}

static void end(struct work *work)
{
    free(work->from);
    free(work->to);
    spmd_array_free(&work->in);
    spmd_array_free(&work->out);
}

static void plan(struct work *work, spmd_replication replication)
{
    bench_check(spmd_shard_map_plan(
        work->mesh, work->body, 1, SPMD_SPECS("P(x)"), 1, SPMD_SPECS(work->out_spec),
        &(spmd_shard_map_options){.replication = replication}, &work->plan));
}

/* Names of one body's measures. */
struct names {
    const char *planned, *checked, *once, *rival;
};

static void compare(struct work work, int64_t bytes, struct names names, void (*bare)(void *state))
{
    begin(&work, bytes);
    struct contender rival = {names.rival, bare, &work};
    plan(&work, SPMD_REPLICATION_FIRST);
    bench_compare(names.planned, bytes, (struct contender){"planned", run_plan, &work}, rival);
    spmd_shard_map_free(&work.plan);
    plan(&work, SPMD_REPLICATION_ALWAYS);
    bench_compare(names.checked, bytes, (struct contender){"checked", run_plan, &work}, rival);
    spmd_shard_map_free(&work.plan);
    bench_compare(names.once, bytes, (struct contender){"once", run_once, &work}, rival);
    end(&work);
}

int main(int argc, char **argv)
{
    static const struct names sum = {"psum planned", "psum planned and checked at each run",
                                     "psum one-shot", "MPI_Allreduce"};
    static const struct names loop = {"loop planned", "loop planned and checked at each run",
                                      "loop one-shot", "function call"};
    spmd_mesh *mesh;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes <<= 17) {
        compare((struct work){.mesh = mesh, .body = psum, .out_spec = "P()"}, bytes, sum, run_mpi);
        compare((struct work){.mesh = mesh, .body = scaled, .out_spec = "P(x)"}, bytes, loop,
                run_function);
    }
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
