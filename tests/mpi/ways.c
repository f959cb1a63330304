/* ways.c - each way to move data can be forced, is then the one that is taken, and gives the same.
 */
#include "moves.h"

static void each_way_is_the_one_that_is_taken(void)
{
    moves_expect("", false, false);
    moves_expect("auto", false, false);
    moves_expect("pool", false, false);
    moves_expect("readv", false, true);
    moves_expect("messages", true, false);
}

static void a_way_that_there_is_not_is_told(void)
{
    spmd_mesh *mesh = NULL;
    setenv("SPMD_MOVE", "fast", 1);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh), SPMD_ERR_ARGUMENT,
                 "SPMD_MOVE=fast in the environment: it is auto, pool, readv, messages or "
                 "collective");
    if (test_rank != test_size - 1)
        setenv("SPMD_MOVE", "auto", 1);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh), SPMD_ERR_ARGUMENT,
                 "SPMD_MOVE=fast");
    EXPECT(mesh == NULL);
    unsetenv("SPMD_MOVE");
}

static void ways_that_differ_are_told(void)
{
    spmd_mesh *mesh = NULL;
    setenv("SPMD_MOVE", test_rank == 0 ? "messages" : "pool", 1);
    if (test_size > 1)
        EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh), SPMD_ERR_ARGUMENT,
                     "SPMD_MOVE is pool on some ranks and messages on others");
    else
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    spmd_mesh_free(&mesh);
    unsetenv("SPMD_MOVE");
}

enum { ELEMENTS = 300007 };

/* What the collectives of a body gave. */
struct results {
    float sum[ELEMENTS];
    float mean[ELEMENTS];
    float part[ELEMENTS];
};

/* Elements of which sums depend on their order, in a block of the body, or in memory of its own. */
static spmd_block *make_operand(spmd_ctx *ctx, spmd_block *borrowed)
{
    spmd_block *block = borrowed ? borrowed : spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(ELEMENTS));
    float *data = block->data;
    for (int64_t i = 0; i < ELEMENTS; i++)
        data[i] = 1.0f / (float)(1 + (i * 7 + test_rank * 13) % 1009);
    return block;
}

static spmd_status reduce(spmd_ctx *ctx, void *user)
{
    struct results *results = user;
    spmd_block *in = make_operand(ctx, NULL), *out = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(ELEMENTS));
    spmd_shape part;
    EXPECT_OK(spmd_psum(ctx, in, "x", out));
    memcpy(results->sum, out->data, sizeof results->sum);
    EXPECT_OK(spmd_pmean(ctx, in, "x", out));
    memcpy(results->mean, out->data, sizeof results->mean);
    EXPECT_OK(spmd_psum_scatter_shape(ctx, in, "x", 0, SPMD_TILED, &part));
    spmd_block *mine = spmd_temp(ctx, SPMD_F32, part);
    EXPECT_OK(spmd_psum_scatter(ctx, in, "x", 0, SPMD_TILED, mine));
    memcpy(results->part, mine->data, (size_t)part.dim[0] * sizeof(float));
    return SPMD_OK;
}

static void run_body(const char *way, spmd_body *body, void *user)
{
    spmd_mesh *mesh = NULL;
    setenv("SPMD_MOVE", way, 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    unsetenv("SPMD_MOVE");
    moves_begin();
    EXPECT_OK(spmd_shard_map(mesh, body, user, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static void sums_are_the_same_bits_by_all_ways_to_read(void)
{
    struct results *pool = calloc(1, sizeof *pool), *readv = calloc(1, sizeof *readv);
    run_body("pool", reduce, pool);
    EXPECT(moves_read == 0);
    run_body("readv", reduce, readv);
    EXPECT(moves_read > 0 || test_size == 1);
    EXPECT(memcmp(pool, readv, sizeof *pool) == 0);
    free(pool);
    free(readv);
}

/* Whole numbers, in memory of the program's own: sums, rows of all members, and an exchange. */
static spmd_status use_own_memory(spmd_ctx *ctx, void *user)
{
    (void)user;
    enum { ROW = 30000 };
    int64_t n = test_size, wrong = 0, *data = calloc((size_t)(3 * n * ROW), sizeof *data);
    int64_t *sum = data + n * ROW, *rows = data + 2 * n * ROW;
    spmd_block in = spmd_block_borrow(data, SPMD_I64, SPMD_SHAPE(n * ROW));
    spmd_block out = spmd_block_borrow(sum, SPMD_I64, SPMD_SHAPE(n * ROW));
    spmd_block row = spmd_block_borrow(data, SPMD_I64, SPMD_SHAPE(ROW));
    spmd_block all = spmd_block_borrow(rows, SPMD_I64, SPMD_SHAPE(n, ROW));
    for (int64_t i = 0; i < n * ROW; i++)
        data[i] = i * n + test_rank;
    EXPECT_OK(spmd_psum(ctx, &in, "x", &out));
    EXPECT_OK(spmd_all_gather(ctx, &row, "x", 0, SPMD_UNTILED, &all));
    for (int64_t i = 0; i < n * ROW; i++)
        wrong += sum[i] != n * n * i + n * (n - 1) / 2 || rows[i] != i % ROW * n + i / ROW;
    EXPECT_OK(spmd_all_to_all(ctx, &in, "x", 0, 0, SPMD_TILED, &out));
    for (int64_t i = 0; i < n * ROW; i++)
        wrong += sum[i] != (test_rank * ROW + i % ROW) * n + i / ROW;
    EXPECT(wrong == 0);
    free(data);
    return SPMD_OK;
}

static void collectives_read_memory_of_the_programs_own(void)
{
    static const char *const ways[] = {"auto", "pool", "readv", "messages"};
    for (int i = 0; i < 4; i++) {
        run_body(ways[i], use_own_memory, NULL);
        EXPECT((moves_read > 0) == (i % 2 == 0 && test_size > 1));
    }
}

int main(int argc, char **argv)
{
    const struct harness_case cases[] = {
        CASE(each_way_is_the_one_that_is_taken),
        CASE(a_way_that_there_is_not_is_told),
        CASE(ways_that_differ_are_told),
        CASE(sums_are_the_same_bits_by_all_ways_to_read),
        CASE(collectives_read_memory_of_the_programs_own),
    };
    moves_leave_mpi_out();
    return harness_main(&argc, &argv, "ways", cases, (int)(sizeof cases / sizeof *cases));
}
