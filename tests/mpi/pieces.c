/* pieces.c - MPI tests of moves and reductions that take more than one MPI call, since MPI's counts
 * are int: with pieces of 48 bytes they give what they give in one.
 *
 * This test is linked with the library's layers, whose limit it can see. */
#include <string.h>

#include "harness.h"

extern int64_t spmd__mpi_piece_bytes;

enum { FEW = 48, EXTENT = 7 };

typedef spmd_status collective(spmd_ctx *ctx, const spmd_block *in, spmd_block *out);

static spmd_status psum(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_psum(ctx, in, "x", out);
}

static spmd_status psum_split(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    spmd_request *request = NULL;
    SPMD_TRY(spmd_psum_start(ctx, in, "x", out, &request));
    return spmd_wait(&request);
}

static spmd_status pmean(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_pmean(ctx, in, "x", out);
}

static spmd_status pmax(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_pmax(ctx, in, "x", out);
}

static spmd_status pargmin(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_pargmin(ctx, in, "x", out);
}

static spmd_status all_gather(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_all_gather(ctx, in, "x", 1, SPMD_TILED, out);
}

static spmd_status pbroadcast(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_pbroadcast(ctx, in, "x", test_size - 1, out);
}

/* `out` is `in` with three columns more on each side. */
static spmd_status halo(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    const spmd_halo halo[] = {{NULL, 0, 0, false}, {"x", 3, 3, true}};
    spmd_block *padded = spmd_halo_block(ctx, in, halo);
    SPMD_TRY(spmd_halo_exchange(ctx, padded, halo));
    memcpy(out->data, padded->data, (size_t)spmd_block_size(out) * spmd_dtype_size(out->dtype));
    return SPMD_OK;
}

static spmd_status psum_scatter(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_psum_scatter(ctx, in, "x", 1, SPMD_TILED, out);
}

static spmd_status psum_scatter_split(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    spmd_request *request = NULL;
    SPMD_TRY(spmd_psum_scatter_start(ctx, in, "x", 1, SPMD_TILED, out, &request));
    return spmd_wait(&request);
}

static spmd_status all_gather_split(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    spmd_request *request = NULL;
    SPMD_TRY(spmd_all_gather_start(ctx, in, "x", 1, SPMD_TILED, out, &request));
    return spmd_wait(&request);
}

static spmd_status all_to_all(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    return spmd_all_to_all(ctx, in, "x", 1, 1, SPMD_TILED, out);
}

static spmd_status all_to_all_split(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    spmd_request *request = NULL;
    SPMD_TRY(spmd_all_to_all_start(ctx, in, "x", 1, 1, SPMD_TILED, out, &request));
    return spmd_wait(&request);
}

/* Round a ring. */
static spmd_status pshuffle(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    int64_t *from = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(test_size))->data;
    for (int k = 0; k < test_size; k++)
        from[k] = (k + 1) % test_size;
    return spmd_pshuffle(ctx, in, "x", from, out);
}

static spmd_status ppermute_split(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    spmd_request *request = NULL;
    SPMD_TRY(spmd_ppermute_start(ctx, in, "x", 1, SPMD_PAIRS({0, test_size - 1}), out, &request));
    return spmd_wait(&request);
}

/* Two rows round a ring. */
static spmd_status ragged_all_to_all(spmd_ctx *ctx, const spmd_block *in, spmd_block *out)
{
    int64_t *zeros = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(test_size))->data;
    int64_t *sent = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(test_size))->data;
    int64_t *received = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(test_size))->data;
    sent[(test_rank + 1) % test_size] = 2;
    received[(test_rank + test_size - 1) % test_size] = 2;
    return spmd_ragged_all_to_all(ctx, in, "x", test_size, zeros, sent, zeros, received, out);
}

/* Columns for each rank, three of them. */
enum { ALL = -1 };

static const struct trial {
    collective *call;
    spmd_dtype in, out;
    int64_t columns_in, columns_out;
} trials[] = {
    {psum, SPMD_F64, SPMD_F64, 3, 3},
    {psum, SPMD_C128, SPMD_C128, 3, 3},
    {psum, SPMD_I8, SPMD_I8, 3, 3},
    {psum, SPMD_BF16, SPMD_BF16, 3, 3},
    {psum_split, SPMD_F64, SPMD_F64, 3, 3},
    {psum_split, SPMD_BF16, SPMD_BF16, 3, 3},
    {pmean, SPMD_I64, SPMD_F64, 3, 3},
    {pmax, SPMD_F32, SPMD_F32, 3, 3},
    {pargmin, SPMD_F64, SPMD_I32, 3, 3},
    {all_gather, SPMD_I16, SPMD_I16, 3, ALL},
    {all_gather_split, SPMD_F64, SPMD_F64, 3, ALL},
    {psum_scatter, SPMD_F64, SPMD_F64, ALL, 3},
    {psum_scatter, SPMD_BF16, SPMD_BF16, ALL, 3},
    {psum_scatter_split, SPMD_F64, SPMD_F64, ALL, 3},
    {psum_scatter_split, SPMD_BF16, SPMD_BF16, ALL, 3},
    {all_to_all, SPMD_F64, SPMD_F64, ALL, ALL},
    {all_to_all_split, SPMD_I16, SPMD_I16, ALL, ALL},
    {ragged_all_to_all, SPMD_F64, SPMD_F64, 3, 3},
    {pshuffle, SPMD_F64, SPMD_F64, 3, 3},
    {ppermute_split, SPMD_F64, SPMD_F64, 3, 3},
    {pbroadcast, SPMD_F64, SPMD_F64, 3, 3},
    {halo, SPMD_F64, SPMD_F64, 3, 9},
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* Small whole numbers, which add up without rounding. */
static spmd_block *some_numbers(spmd_ctx *ctx, spmd_dtype dtype, int64_t width)
{
    spmd_block *block = spmd_temp(ctx, dtype, SPMD_SHAPE(EXTENT, width));
    int64_t count = spmd_block_size(block);
    for (int64_t i = 0; i < count; i++) {
        int number = (int)((i + 3 * test_rank) % 5);
        if (dtype == SPMD_F64 || dtype == SPMD_C128)
            ((double *)block->data)[i] = number;
        else if (dtype == SPMD_F32)
            ((float *)block->data)[i] = (float)number;
        else if (dtype == SPMD_BF16)
            ((uint16_t *)block->data)[i] = number % 2 ? 0x3f80 : 0x4000; /* 1 or 2 */
        else
            ((char *)block->data)[i] = (char)number;
    }
    return block;
}

static int64_t columns(int64_t count)
{
    return count == ALL ? 3 * test_size : count;
}

static spmd_status try_all(spmd_ctx *ctx, void *user)
{
    int64_t limit = spmd__mpi_piece_bytes;
    (void)user;
    for (int t = 0; t < TRIALS; t++) {
        const struct trial *trial = &trials[t];
        spmd_shape shape = SPMD_SHAPE(EXTENT, columns(trial->columns_out));
        spmd_block *in = some_numbers(ctx, trial->in, columns(trial->columns_in));
        spmd_block *whole = spmd_temp(ctx, trial->out, shape);
        spmd_block *pieces = spmd_temp(ctx, trial->out, shape);
        EXPECT_OK(trial->call(ctx, in, whole));
        spmd__mpi_piece_bytes = FEW;
        EXPECT_OK(trial->call(ctx, in, pieces));
        spmd__mpi_piece_bytes = limit;
        size_t bytes = (size_t)spmd_block_size(whole) * spmd_dtype_size(trial->out);
        if (!EXPECT(memcmp(whole->data, pieces->data, bytes) == 0))
            fprintf(stderr, "in trial %d\n", t);
    }
    return SPMD_OK;
}

static void collectives_in_pieces(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(spmd_shard_map(mesh, try_all, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("pieces", CASE(collectives_in_pieces))
