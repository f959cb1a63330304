/* reshard.c - moves of a square matrix of doubles from one sharding to another, against: memcpy of
 * what each rank gets; packing by hand around MPI_Alltoallv; MPI_Alltoallw with subarray types.
 *
 *     mpirun -n N bench/reshard [--quick | --once]
 *
 * GLIBC_TUNABLES=glibc.malloc.hugetlb=1 gives the rivals' memory large pages.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* One move and all ways to do it. */
struct move {
    spmd_mesh *mesh;
    spmd_sharding *from, *to;
    spmd_shape shape;
    spmd_array *source, *target;
    spmd_reshard_call *plan;
    /* The rivals' blocks, and what goes between each pair of ranks. */
    int ranks;
    char *source_block, *target_block, *sent, *received;
    int *send_bytes, *send_places, *receive_bytes, *receive_places; /* [ranks] */
    MPI_Datatype *send_types, *receive_types;                       /* [ranks] */
    int *ones, *zeros;                                              /* [ranks] */
    spmd_box from_box, to_box;
    spmd_box *send_boxes, *receive_boxes; /* [ranks] */
};

static void run_ours(void *state)
{
    struct move *move = state;
    bench_check(spmd_reshard_run(move->plan, 1, &move->source, &move->target));
}

/* The result is a new array each time. */
static void run_fresh(void *state)
{
    struct move *move = state;
    spmd_array_free(&move->target);
    run_ours(state);
}

static void run_memcpy(void *state)
{
    struct move *move = state;
    memcpy(move->target_block, move->source_block,
           (size_t)spmd_box_size(&move->to_box) * sizeof(double));
}

static bool meet(const spmd_box *a, const spmd_box *b, spmd_box *common)
{
    *common = *a;
    for (int d = 0; d < a->ndim; d++) {
        common->lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        common->hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        if (common->lo[d] >= common->hi[d]) {
            common->hi[d] = common->lo[d];
            return false;
        }
    }
    return true;
}

/* Copies the rows of `part` between a block and packed memory. */
static void pack(char *packed, const char *block, const spmd_box *whole, const spmd_box *part)
{
    size_t width = (size_t)(whole->hi[1] - whole->lo[1]) * sizeof(double);
    size_t bytes = (size_t)(part->hi[1] - part->lo[1]) * sizeof(double);
    size_t left = (size_t)(part->lo[1] - whole->lo[1]) * sizeof(double);
    for (int64_t row = part->lo[0]; row < part->hi[0]; row++, packed += bytes)
        memcpy(packed, block + (size_t)(row - whole->lo[0]) * width + left, bytes);
}

static void unpack(char *block, const char *packed, const spmd_box *whole, const spmd_box *part)
{
    size_t width = (size_t)(whole->hi[1] - whole->lo[1]) * sizeof(double);
    size_t bytes = (size_t)(part->hi[1] - part->lo[1]) * sizeof(double);
    size_t left = (size_t)(part->lo[1] - whole->lo[1]) * sizeof(double);
    for (int64_t row = part->lo[0]; row < part->hi[0]; row++, packed += bytes)
        memcpy(block + (size_t)(row - whole->lo[0]) * width + left, packed, bytes);
}

static void run_alltoallv(void *state)
{
    struct move *move = state;
    for (int r = 0; r < move->ranks; r++)
        pack(move->sent + move->send_places[r], move->source_block, &move->from_box,
             &move->send_boxes[r]);
    MPI_Alltoallv(move->sent, move->send_bytes, move->send_places, MPI_BYTE, move->received,
                  move->receive_bytes, move->receive_places, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < move->ranks; r++)
        unpack(move->target_block, move->received + move->receive_places[r], &move->to_box,
               &move->receive_boxes[r]);
}

static void run_alltoallw(void *state)
{
    struct move *move = state;
    MPI_Alltoallw(move->source_block, move->ones, move->zeros, move->send_types, move->target_block,
                  move->ones, move->zeros, move->receive_types, MPI_COMM_WORLD);
}

static MPI_Datatype type_of(const spmd_box *whole, const spmd_box *part)
{
    MPI_Datatype type;
    int sizes[2], parts[2], starts[2];
    for (int d = 0; d < 2; d++) {
        sizes[d] = (int)(whole->hi[d] - whole->lo[d]);
        parts[d] = (int)(part->hi[d] - part->lo[d]);
        starts[d] = (int)(part->lo[d] - whole->lo[d]);
    }
    if (parts[0] == 0 || parts[1] == 0)
        MPI_Type_contiguous(0, MPI_DOUBLE, &type);
    else
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* What goes between this rank and each other one; replicas are not among these moves. */
static void plan_rivals(struct move *move)
{
    int ranks = move->ranks, sent = 0, received = 0;
    for (int r = 0; r < ranks; r++) {
        spmd_box other;
        bench_check(spmd_sharding_box(move->to, move->shape, r, &other));
        meet(&move->from_box, &other, &move->send_boxes[r]);
        move->send_bytes[r] = (int)(spmd_box_size(&move->send_boxes[r]) * 8);
        move->send_places[r] = sent;
        sent += move->send_bytes[r];
        bench_check(spmd_sharding_box(move->from, move->shape, r, &other));
        meet(&move->to_box, &other, &move->receive_boxes[r]);
        move->receive_bytes[r] = (int)(spmd_box_size(&move->receive_boxes[r]) * 8);
        move->receive_places[r] = received;
        received += move->receive_bytes[r];
        move->send_types[r] = type_of(&move->from_box, &move->send_boxes[r]);
        move->receive_types[r] = type_of(&move->to_box, &move->receive_boxes[r]);
        move->ones[r] = 1;
        move->zeros[r] = 0;
    }
}

static void *allocate(int64_t count, size_t size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);
    if (!memory) {
        fprintf(stderr, "bench: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(memory, 1, (size_t)count * size);
    return memory;
}

static struct move begin(spmd_mesh *mesh, const char *from, const char *to, int64_t n)
{
    struct move move = {.mesh = mesh, .shape = SPMD_SHAPE(n, n)};
    int ranks = move.ranks = (int)spmd_mesh_size(mesh), position = (int)spmd_mesh_position(mesh);
    bench_check(spmd_sharding_create(mesh, from, &move.from));
    bench_check(spmd_sharding_create(mesh, to, &move.to));
    bench_check(spmd_array_arange(mesh, from, SPMD_F64, move.shape, &move.source));
    bench_check(spmd_reshard_plan(move.from, move.to, SPMD_F64, move.shape, &move.plan));
    bench_check(spmd_sharding_box(move.from, move.shape, position, &move.from_box));
    bench_check(spmd_sharding_box(move.to, move.shape, position, &move.to_box));
    int64_t source = spmd_box_size(&move.from_box), target = spmd_box_size(&move.to_box);
    int64_t most = source > target ? source : target;
    move.source_block = allocate(most, sizeof(double));
    move.target_block = allocate(most, sizeof(double));
    move.sent = allocate(source, sizeof(double));
    move.received = allocate(target, sizeof(double));
    move.send_bytes = allocate(ranks, sizeof(int));
    move.send_places = allocate(ranks, sizeof(int));
    move.receive_bytes = allocate(ranks, sizeof(int));
    move.receive_places = allocate(ranks, sizeof(int));
    move.ones = allocate(ranks, sizeof(int));
    move.zeros = allocate(ranks, sizeof(int));
    move.send_types = allocate(ranks, sizeof(MPI_Datatype));
    move.receive_types = allocate(ranks, sizeof(MPI_Datatype));
    move.send_boxes = allocate(ranks, sizeof(spmd_box));
    move.receive_boxes = allocate(ranks, sizeof(spmd_box));
    plan_rivals(&move);
    return move;
}

static void end(struct move *move)
{
    for (int r = 0; r < move->ranks; r++) {
        MPI_Type_free(&move->send_types[r]);
        MPI_Type_free(&move->receive_types[r]);
    }
    free(move->source_block);
    free(move->target_block);
    free(move->sent);
    free(move->received);
    free(move->send_bytes);
    free(move->send_places);
    free(move->receive_bytes);
    free(move->receive_places);
    free(move->ones);
    free(move->zeros);
    free(move->send_types);
    free(move->receive_types);
    free(move->send_boxes);
    free(move->receive_boxes);
    spmd_reshard_free(&move->plan);
    spmd_array_free(&move->source);
    spmd_array_free(&move->target);
    spmd_sharding_free(&move->from);
    spmd_sharding_free(&move->to);
}

static void compare(const char *mesh_text, const char *from, const char *to, int64_t n)
{
    spmd_mesh *mesh;
    char measure[128];
    bench_check(spmd_mesh_create(MPI_COMM_WORLD, mesh_text, &mesh));
    struct move move = begin(mesh, from, to, n);
    int64_t bytes = n * n * 8;
    snprintf(measure, sizeof measure, "reshard %lldx%lld %s: %s to %s", (long long)n, (long long)n,
             mesh_text, from, to);
    for (char *at = measure; *at; at++)
        if (*at == ',')
            *at = ';';
    struct contender ours = {"ours", run_ours, &move};
    bench_compare(measure, bytes, ours, (struct contender){"memcpy", run_memcpy, &move});
    bench_compare(measure, bytes, ours,
                  (struct contender){"pack + MPI_Alltoallv + unpack", run_alltoallv, &move});
    bench_compare(measure, bytes, ours,
                  (struct contender){"MPI_Alltoallw of subarrays", run_alltoallw, &move});
    bench_compare(strcat(measure, "; new array"), bytes,
                  (struct contender){"ours", run_fresh, &move},
                  (struct contender){"memcpy", run_memcpy, &move});
    end(&move);
    spmd_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    int ranks;
    char columns[32];
    MPI_Init(&argc, &argv);
    bench_begin(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t sizes[] = {256, bench_is_short() ? 2048 : 8192};
    for (int i = 0; i < 2; i++) {
        compare("x=*", "P(x,-)", "P(-,x)", sizes[i]);
        if (ranks % 2 != 0)
            continue;
        snprintf(columns, sizeof columns, "x=*,y=%d", 2);
        compare(columns, "P((x,y),-)", "P(x,y)", sizes[i]);
        compare(columns, "P(-,(x,y))", "P(x,y)", sizes[i]);
        compare(columns, "P(x,y)", "P((x,y),-)", sizes[i]);
        compare(columns, "P(x,y)", "P(-,(x,y))", sizes[i]);
    }
    MPI_Finalize();
    return 0;
}
