/* collectives.c - what each collective of a body costs, against the bare MPI call on the same
 * memory (pairs of its own for pargmax): 8 bytes, 64 KiB and 16 MiB, of the larger of what a rank
 * gives and gets; 64 MiB for those that a step of training is made of.
 *
 *     mpirun -n N bench/collectives [--quick | --once]
 *
 * MPI's reductions allocate inside; GLIBC_TUNABLES=glibc.malloc.hugetlb=1 makes that cheap.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct double_int {
    double value;
    int index;
};

/* A collective over all ranks. Blocks of `members` parts, or of one. */
struct call {
    spmd_ctx *ctx;
    spmd_block *in, *out;
    int members, member;
    int part;                     /* elements */
    int64_t *perm, (*pairs)[2];   /* round a ring */
    int64_t *places, *sizes;      /* of a ragged_all_to_all: part k at k * part */
    int64_t *landings;            /* of the parts, in their receivers */
    int64_t *told;                /* room for the others' places */
    int *int_places, *int_sizes;  /* the same for MPI */
    struct double_int *from, *to; /* of MPI_MAXLOC */
};

static void psum(void *state)
{
    struct call *c = state;
    bench_check(spmd_psum(c->ctx, c->in, "x", c->out));
}

static void pmean(void *state)
{
    struct call *c = state;
    bench_check(spmd_pmean(c->ctx, c->in, "x", c->out));
}

static void pmax(void *state)
{
    struct call *c = state;
    bench_check(spmd_pmax(c->ctx, c->in, "x", c->out));
}

static void pmin(void *state)
{
    struct call *c = state;
    bench_check(spmd_pmin(c->ctx, c->in, "x", c->out));
}

static void pargmax(void *state)
{
    struct call *c = state;
    bench_check(spmd_pargmax(c->ctx, c->in, "x", c->out));
}

static void all_gather(void *state)
{
    struct call *c = state;
    bench_check(spmd_all_gather(c->ctx, c->in, "x", 0, SPMD_TILED, c->out));
}

static void psum_scatter(void *state)
{
    struct call *c = state;
    bench_check(spmd_psum_scatter(c->ctx, c->in, "x", 0, SPMD_TILED, c->out));
}

static void all_to_all(void *state)
{
    struct call *c = state;
    bench_check(spmd_all_to_all(c->ctx, c->in, "x", 0, 0, SPMD_TILED, c->out));
}

static void ragged_all_to_all(void *state)
{
    struct call *c = state;
    bench_check(spmd_ragged_all_to_all(c->ctx, c->in, "x", c->members, c->places, c->sizes,
                                       c->landings, c->sizes, c->out));
}

static void ppermute(void *state)
{
    struct call *c = state;
    bench_check(
        spmd_ppermute(c->ctx, c->in, "x", c->members, (const int64_t(*)[2])c->pairs, c->out));
}

static void pshuffle(void *state)
{
    struct call *c = state;
    bench_check(spmd_pshuffle(c->ctx, c->in, "x", c->perm, c->out));
}

static void pswapaxes(void *state)
{
    struct call *c = state;
    spmd_shape shape = SPMD_SHAPE(c->members, c->part);
    spmd_block in = spmd_block_borrow(c->in->data, SPMD_U8, shape);
    spmd_block out = spmd_block_borrow(c->out->data, SPMD_U8, shape);
    bench_check(spmd_pswapaxes(c->ctx, &in, "x", 0, &out));
}

static void pbroadcast(void *state)
{
    struct call *c = state;
    bench_check(spmd_pbroadcast(c->ctx, c->in, "x", 0, c->out));
}

static void mpi_all_reduce(const struct call *c, MPI_Op op)
{
    MPI_Allreduce(c->in->data, c->out->data, c->part, MPI_DOUBLE, op, MPI_COMM_WORLD);
}

static void mpi_sum(void *state)
{
    mpi_all_reduce(state, MPI_SUM);
}

static void mpi_max(void *state)
{
    mpi_all_reduce(state, MPI_MAX);
}

static void mpi_min(void *state)
{
    mpi_all_reduce(state, MPI_MIN);
}

static void mpi_max_location(void *state)
{
    struct call *c = state;
    MPI_Allreduce(c->from, c->to, c->part, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
}

static void mpi_all_gather(void *state)
{
    struct call *c = state;
    MPI_Allgather(c->in->data, c->part, MPI_BYTE, c->out->data, c->part, MPI_BYTE, MPI_COMM_WORLD);
}

static void mpi_reduce_scatter(void *state)
{
    struct call *c = state;
    MPI_Reduce_scatter_block(c->in->data, c->out->data, c->part, MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
}

static void mpi_all_to_all(void *state)
{
    struct call *c = state;
    MPI_Alltoall(c->in->data, c->part, MPI_BYTE, c->out->data, c->part, MPI_BYTE, MPI_COMM_WORLD);
}

/* Senders say where their rows go; MPI's receivers must know it. */
static void mpi_all_to_all_v(void *state)
{
    struct call *c = state;
    MPI_Alltoall(c->places, 1, MPI_INT64_T, c->told, 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Alltoallv(c->in->data, c->int_sizes, c->int_places, MPI_BYTE, c->out->data, c->int_sizes,
                  c->int_places, MPI_BYTE, MPI_COMM_WORLD);
}

static void mpi_ring(void *state)
{
    struct call *c = state;
    int next = (c->member + 1) % c->members, last = (c->member + c->members - 1) % c->members;
    MPI_Sendrecv(c->in->data, c->part, MPI_BYTE, next, 0, c->out->data, c->part, MPI_BYTE, last, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mpi_broadcast(void *state)
{
    struct call *c = state;
    MPI_Bcast(c->in->data, c->part, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Whose blocks have one part for each member; whether they are the same memory; whether there are
 * also large ones; whether MPI's result is another one: sums that are not divided, pairs. */
enum { NEITHER = 0, IN = 1, OUT = 2, BOTH = IN | OUT, IN_PLACE = 4, LARGE = 8, DIFFERENT = 16 };

static const struct measure {
    const char *name;
    spmd_dtype in, out;
    int form;
    void (*ours)(void *state);
    const char *rival;
    void (*theirs)(void *state);
} measures[] = {
    {"psum", SPMD_F64, SPMD_F64, NEITHER | LARGE, psum, "MPI_Allreduce", mpi_sum},
    {"pmean", SPMD_F64, SPMD_F64, DIFFERENT, pmean, "MPI_Allreduce", mpi_sum},
    {"pmax", SPMD_F64, SPMD_F64, NEITHER, pmax, "MPI_Allreduce", mpi_max},
    {"pmin", SPMD_F64, SPMD_F64, NEITHER, pmin, "MPI_Allreduce", mpi_min},
    {"pargmax", SPMD_F64, SPMD_I32, DIFFERENT, pargmax, "MPI_Allreduce of pairs", mpi_max_location},
    {"all_gather", SPMD_U8, SPMD_U8, OUT | LARGE, all_gather, "MPI_Allgather", mpi_all_gather},
    {"psum_scatter", SPMD_F64, SPMD_F64, IN | LARGE, psum_scatter, "MPI_Reduce_scatter_block",
     mpi_reduce_scatter},
    {"all_to_all", SPMD_U8, SPMD_U8, BOTH, all_to_all, "MPI_Alltoall", mpi_all_to_all},
    {"ragged_all_to_all", SPMD_U8, SPMD_U8, BOTH, ragged_all_to_all,
     "MPI_Alltoall of places + MPI_Alltoallv", mpi_all_to_all_v},
    {"ppermute", SPMD_U8, SPMD_U8, NEITHER, ppermute, "MPI_Sendrecv", mpi_ring},
    {"pshuffle", SPMD_U8, SPMD_U8, NEITHER, pshuffle, "MPI_Sendrecv", mpi_ring},
    {"pswapaxes", SPMD_U8, SPMD_U8, BOTH, pswapaxes, "MPI_Alltoall", mpi_all_to_all},
    {"pbroadcast", SPMD_U8, SPMD_U8, IN_PLACE, pbroadcast, "MPI_Bcast", mpi_broadcast},
};

/* Who sends what to whom. */
static struct call begin_call(spmd_ctx *ctx)
{
    int n = (int)spmd_axis_size(ctx, "x");
    return (struct call){.ctx = ctx,
                         .members = n,
                         .member = (int)spmd_axis_index(ctx, "x"),
                         .perm = bench_allocate(n, sizeof(int64_t)),
                         .pairs = bench_allocate(n, sizeof(int64_t[2])),
                         .places = bench_allocate(n, sizeof(int64_t)),
                         .sizes = bench_allocate(n, sizeof(int64_t)),
                         .landings = bench_allocate(n, sizeof(int64_t)),
                         .told = bench_allocate(n, sizeof(int64_t)),
                         .int_places = bench_allocate(n, sizeof(int)),
                         .int_sizes = bench_allocate(n, sizeof(int))};
}

static void end_call(struct call *c)
{
    free(c->perm);
    free(c->pairs);
    free(c->places);
    free(c->sizes);
    free(c->landings);
    free(c->told);
    free(c->int_places);
    free(c->int_sizes);
}

static void lay_out(struct call *c)
{
    for (int k = 0; k < c->members; k++) {
        c->pairs[k][0] = k;
        c->pairs[k][1] = (k + 1) % c->members;
        c->perm[(k + 1) % c->members] = k;
        c->places[k] = c->int_places[k] = k * c->part;
        c->sizes[k] = c->int_sizes[k] = c->part;
        c->landings[k] = (int64_t)c->member * c->part;
    }
}

/* Whole numbers, whose sums are exact. */
static void fill(const struct call *c)
{
    int64_t count = spmd_block_size(c->in);
    for (int64_t i = 0; i < count && c->in->dtype == SPMD_F64; i++)
        ((double *)c->in->data)[i] = (double)((i * 7 + c->member) % 64);
    for (int64_t i = 0; i < count && c->in->dtype == SPMD_U8; i++)
        ((unsigned char *)c->in->data)[i] = (unsigned char)(i * 7 + i / 251 + c->member);
}

/* Ends the program if MPI's result is not ours. */
static void check_rival(struct call *c, const struct measure *measure)
{
    size_t bytes = (size_t)spmd_block_size(c->out) * spmd_dtype_size(c->out->dtype);
    void *ours = bench_allocate((int64_t)bytes, 1);
    fill(c);
    measure->ours(c);
    memcpy(ours, c->out->data, bytes);
    memset(c->out->data, 0xff, bytes);
    fill(c);
    measure->theirs(c);
    if (!(measure->form & DIFFERENT) && memcmp(ours, c->out->data, bytes) != 0)
        bench_check(spmd_fail(SPMD_ERR_BODY, "%s has other results than %s", measure->rival,
                              measure->name));
    free(ours);
}

/* `bytes`, less what does not divide; at least one element a part. */
static void compare(struct call *c, const struct measure *measure, int64_t bytes)
{
    int64_t element = (int64_t)spmd_dtype_size(measure->in);
    int64_t parts = measure->form & BOTH ? c->members : 1;
    int64_t part = bytes / element / parts > 0 ? bytes / element / parts : 1;
    int64_t in = measure->form & IN ? parts * part : part;
    int64_t out = measure->form & OUT ? parts * part : part;
    c->part = (int)part;
    c->in = spmd_temp(c->ctx, measure->in, SPMD_SHAPE(in));
    c->out = measure->form & IN_PLACE ? c->in : spmd_temp(c->ctx, measure->out, SPMD_SHAPE(out));
    c->from = bench_allocate(part, sizeof *c->from);
    c->to = bench_allocate(part, sizeof *c->to);
    lay_out(c);
    check_rival(c, measure);
    bench_compare(measure->name, parts * part * element,
                  (struct contender){measure->name, measure->ours, c},
                  (struct contender){measure->rival, measure->theirs, c});
    free(c->from);
    free(c->to);
}

/* What one body measures. */
struct task {
    const struct measure *measure;
    int64_t bytes;
};

static spmd_status compare_one(spmd_ctx *ctx, void *user)
{
    const struct task *task = user;
    struct call call = begin_call(ctx);
    compare(&call, task->measure, task->bytes);
    end_call(&call);
    return SPMD_OK;
}

static void compare_all(spmd_mesh *mesh, int64_t bytes, int form)
{
    bench_print_memory();
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        struct task task = {&measures[m], bytes};
        if ((measures[m].form & form) == form)
            bench_check(
                spmd_shard_map(mesh, compare_one, &task, 0, NULL, NULL, 0, NULL, NULL, NULL));
    }
}

int main(int argc, char **argv)
{
    spmd_mesh *mesh;
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    bench_print_malloc();
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    compare_all(mesh, 8, NEITHER);
    compare_all(mesh, 64 << 10, NEITHER);
    compare_all(mesh, 16 << 20, NEITHER);
    compare_all(mesh, 64 << 20, LARGE);
    spmd_mesh_free(&mesh);
    MPI_Finalize();
    return 0;
}
