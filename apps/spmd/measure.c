/* measure.c - what spmd bench times: calls of the library on all ranks, and rivals of theirs. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* Within a batch nothing fails but what ends the run. */
static void must(spmd_status status)
{
    if (status == SPMD_OK)
        return;
    cmd_error("%s", spmd_error_message());
    MPI_Abort(MPI_COMM_WORLD, CMD_FAILED);
}

static void run_reshard(void *state)
{
    struct measure *measure = state;
    must(spmd_reshard_run(measure->reshard, 1, &measure->in, &measure->out));
}

static void run_map(void *state)
{
    struct measure *measure = state;
    must(spmd_shard_map_run(measure->map, measure, &measure->in, &measure->out));
}

static void run_memcpy(void *state)
{
    struct measure *measure = state;
    memcpy(measure->to, measure->from, (size_t)measure->count * sizeof(double));
}

static void run_allreduce(void *state)
{
    struct measure *measure = state;
    MPI_Allreduce(measure->from, measure->to, measure->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void run_sendrecv(void *state)
{
    struct measure *measure = state;
    int next = (measure->rank + 1) % measure->ranks;
    int last = (measure->rank + measure->ranks - 1) % measure->ranks;
    MPI_Sendrecv(measure->from, measure->count, MPI_DOUBLE, next, 0, measure->to, measure->count,
                 MPI_DOUBLE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static spmd_status sum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, "x", spmd_out_unset(ctx, 0, in->dtype, spmd_block_shape(in)));
}

static spmd_status send(spmd_ctx *ctx, void *user)
{
    const struct measure *measure = user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_ppermute(ctx, in, "x", measure->ranks, (const int64_t(*)[2])measure->ring,
                         spmd_out_unset(ctx, 0, in->dtype, spmd_block_shape(in)));
}

/* Memory that has been written to. */
static spmd_status allocate(size_t count, size_t size, void *out)
{
    void *memory = malloc(count * size + 1);
    if (!memory)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory to measure with: %zu objects of %zu bytes",
                         count, size);
    memset(memory, 0, count * size);
    memcpy(out, &memory, sizeof memory);
    return SPMD_OK;
}

/* What this rank alone needs. */
static spmd_status prepare(struct measure *measure)
{
    SPMD_TRY(allocate((size_t)measure->count, sizeof(double), &measure->from));
    SPMD_TRY(allocate((size_t)measure->count, sizeof(double), &measure->to));
    SPMD_TRY(allocate((size_t)measure->ranks, sizeof *measure->ring, &measure->ring));
    for (int r = 0; r < measure->ranks; r++) {
        measure->ring[r][0] = r;
        measure->ring[r][1] = (r + 1) % measure->ranks;
    }
    return SPMD_OK;
}

static struct measure begin(spmd_mesh *mesh, int64_t bytes)
{
    return (struct measure){
        .bytes = bytes, .ranks = (int)spmd_mesh_size(mesh), .rank = (int)spmd_mesh_position(mesh)};
}

static spmd_status plan_reshard(spmd_mesh *mesh, const char *from_text, const char *to_text,
                                spmd_shape shape, spmd_reshard_call **plan)
{
    spmd_sharding *from = NULL, *to = NULL;
    spmd_status status = spmd_sharding_create(mesh, from_text, &from);
    if (status == SPMD_OK)
        status = spmd_sharding_create(mesh, to_text, &to);
    if (status == SPMD_OK)
        status = spmd_reshard_plan(from, to, SPMD_F64, shape, plan);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    return status;
}

spmd_status measure_reshard(spmd_mesh *mesh, const char *from, const char *to, spmd_shape shape,
                            struct measure *measure)
{
    *measure = begin(mesh, spmd_shape_size(shape) * (int64_t)sizeof(double));
    measure->ours = (struct contender){"ours", run_reshard, measure};
    measure->rival = (struct contender){"memcpy", run_memcpy, measure};
    SPMD_TRY(plan_reshard(mesh, from, to, shape, &measure->reshard));
    SPMD_TRY(spmd_array_arange(mesh, from, SPMD_F64, shape, &measure->in));
    SPMD_TRY(spmd_reshard_run(measure->reshard, 1, &measure->in, &measure->out));
    measure->count = (int)spmd_block_size(spmd_array_block(measure->out));
    return spmd_agree(mesh, prepare(measure));
}

static spmd_status measure_body(spmd_mesh *mesh, spmd_body *body, int64_t bytes,
                                struct measure *measure)
{
    const spmd_shard_map_options options = {.replication = SPMD_REPLICATION_NEVER};
    const char *const specs[] = {"P(x)"};
    *measure = begin(mesh, bytes);
    measure->ours = (struct contender){"ours", run_map, measure};
    measure->count = (int)(bytes / (int64_t)sizeof(double));
    SPMD_TRY(spmd_agree(mesh, prepare(measure)));
    SPMD_TRY(spmd_array_zeros(mesh, "P(x)", SPMD_F64,
                              SPMD_SHAPE((int64_t)measure->count * measure->ranks), &measure->in));
    SPMD_TRY(spmd_shard_map_plan(mesh, body, 1, specs, 1, specs, &options, &measure->map));
    return spmd_shard_map_run(measure->map, measure, &measure->in, &measure->out);
}

spmd_status measure_message(spmd_mesh *mesh, int64_t bytes, struct measure *measure)
{
    SPMD_TRY(measure_body(mesh, send, bytes, measure));
    measure->rival = (struct contender){"MPI_Sendrecv", run_sendrecv, measure};
    return SPMD_OK;
}

spmd_status measure_sum(spmd_mesh *mesh, int64_t bytes, struct measure *measure)
{
    SPMD_TRY(measure_body(mesh, sum, bytes, measure));
    measure->rival = (struct contender){"MPI_Allreduce", run_allreduce, measure};
    return SPMD_OK;
}

void measure_end(struct measure *measure)
{
    spmd_reshard_free(&measure->reshard);
    spmd_shard_map_free(&measure->map);
    spmd_array_free(&measure->in);
    spmd_array_free(&measure->out);
    free(measure->ring);
    free(measure->from);
    free(measure->to);
}
