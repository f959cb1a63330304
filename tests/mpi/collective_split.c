/* collective_split.c - MPI tests of collectives in two phases: any order of waits, what may happen
 * in between, what is never waited for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* On all ranks: in two columns where they divide, else in one. Where ranks are checked, what a
 * start begins is done at a wait. */
static void run(spmd_body *body, void *user)
{
    const char *text = test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1";
    for (int check = 0; check < 2; check++) {
        spmd_mesh *mesh = NULL;
        setenv("SPMD_CHECK", check ? "1" : "0", 1);
        EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
        EXPECT_OK(spmd_shard_map(mesh, body, user, 0, NULL, NULL, 0, NULL, NULL, NULL));
        spmd_mesh_free(&mesh);
    }
    unsetenv("SPMD_CHECK");
}

typedef spmd_status call(spmd_ctx *, const spmd_block *, const char *, spmd_block *);
typedef spmd_status start(spmd_ctx *, const spmd_block *, const char *, spmd_block *,
                          spmd_request **);

static const struct {
    call *call;
    start *start;
    bool sums;
} pairs[] = {{spmd_psum, spmd_psum_start, true},
             {spmd_pmax, spmd_pmax_start, false},
             {spmd_pmin, spmd_pmin_start, false}};

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* A block of bytes that differ from rank to rank, none of which makes a number infinite. */
static spmd_block *some_bytes(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape)
{
    spmd_block *block = spmd_temp(ctx, dtype, shape);
    size_t bytes = (size_t)spmd_block_size(block) * spmd_dtype_size(dtype);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)block->data)[i] =
            (unsigned char)(dtype == SPMD_BOOL ? (i + (size_t)test_rank) % 2
                                               : (5 * i + 3 * (size_t)test_rank) % 64);
    return block;
}

static bool same(const spmd_block *a, const spmd_block *b)
{
    return memcmp(a->data, b->data, (size_t)spmd_block_size(a) * spmd_dtype_size(a->dtype)) == 0;
}

/* All of one type at once, which end in another order than they began. */
static void expect_together(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape, int kinds,
                            bool backwards)
{
    spmd_request *requests[3] = {NULL};
    spmd_block *out[3], *expected[3];
    spmd_block *in = some_bytes(ctx, dtype, shape);
    for (int k = 0; k < kinds; k++) {
        spmd_dtype result = pairs[k].sums ? spmd_psum_dtype(dtype) : dtype;
        out[k] = spmd_temp(ctx, result, shape);
        expected[k] = spmd_temp(ctx, result, shape);
        EXPECT_OK(pairs[k].call(ctx, in, "x,y", expected[k]));
    }
    for (int k = 0; k < kinds; k++)
        EXPECT_OK(pairs[k].start(ctx, in, "x,y", out[k], &requests[k]));
    for (int k = 0; k < kinds; k++) {
        spmd_request **request = &requests[backwards ? kinds - 1 - k : k];
        EXPECT(*request != NULL);
        EXPECT_OK(spmd_wait(request));
        EXPECT(*request == NULL);
    }
    for (int k = 0; k < kinds; k++)
        if (!EXPECT(same(out[k], expected[k])))
            fprintf(stderr, "of type %s\n", spmd_dtype_name(dtype));
}

static spmd_status all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int t = 0; t < DTYPES; t++)
        for (int backwards = 0; backwards < 2; backwards++) {
            bool ordered = dtypes[t] != SPMD_C64 && dtypes[t] != SPMD_C128;
            expect_together(ctx, dtypes[t], SPMD_SHAPE(3, 5), ordered ? 3 : 1, backwards);
            expect_together(ctx, dtypes[t], SPMD_SCALAR, ordered ? 3 : 1, backwards);
            expect_together(ctx, dtypes[t], SPMD_SHAPE(0, 2), ordered ? 3 : 1, backwards);
        }
    return SPMD_OK;
}

static void sums_and_extremes_of_every_type(void)
{
    run(all_types, NULL);
}

static int32_t *number(spmd_ctx *ctx, int32_t value, spmd_block **block)
{
    *block = spmd_temp(ctx, SPMD_I32, SPMD_SCALAR);
    *(int32_t *)(*block)->data = value;
    return (*block)->data;
}

/* Along rows, columns and all, with a sum of its own in between. */
static spmd_status over_axes(spmd_ctx *ctx, void *user)
{
    (void)user;
    int32_t rows = (int32_t)spmd_axis_size(ctx, "x"), columns = (int32_t)spmd_axis_size(ctx, "y");
    int32_t x = (int32_t)spmd_axis_index(ctx, "x"), y = (int32_t)spmd_axis_index(ctx, "y");
    int32_t own = columns * x + y, all = rows * columns;
    spmd_block *in, *blocks[4];
    spmd_request *requests[3] = {NULL};
    number(ctx, own, &in);
    int32_t *along_x = number(ctx, 0, &blocks[0]), *along_y = number(ctx, 0, &blocks[1]);
    int32_t *over_all = number(ctx, 0, &blocks[2]), *between = number(ctx, 0, &blocks[3]);
    EXPECT_OK(spmd_psum_start(ctx, in, "x", blocks[0], &requests[0]));
    EXPECT_OK(spmd_psum_start(ctx, in, "y", blocks[1], &requests[1]));
    EXPECT_OK(spmd_pmax(ctx, in, "x,y", blocks[3]));
    EXPECT_OK(spmd_pmax_start(ctx, in, "y,x", blocks[2], &requests[2]));
    EXPECT(*between == all - 1);
    *between = own; /* computing goes on */
    EXPECT_OK(spmd_wait(&requests[2]));
    EXPECT_OK(spmd_wait(&requests[0]));
    EXPECT_OK(spmd_wait(&requests[1]));
    EXPECT(*over_all == all - 1);
    EXPECT(*along_x == columns * rows * (rows - 1) / 2 + rows * y);
    EXPECT(*along_y == columns * columns * x + columns * (columns - 1) / 2);
    return SPMD_OK;
}

static void several_axes_are_under_way_at_once(void)
{
    run(over_axes, NULL);
}

/* Members wait in orders of their own. */
static spmd_status own_orders(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in, *out[3];
    spmd_request *requests[3] = {NULL};
    number(ctx, test_rank, &in);
    for (int k = 0; k < 3; k++) {
        number(ctx, 0, &out[k]);
        EXPECT_OK(spmd_psum_start(ctx, in, "x,y", out[k], &requests[k]));
    }
    for (int k = 0; k < 3; k++)
        EXPECT_OK(spmd_wait(&requests[(k + test_rank) % 3]));
    for (int k = 0; k < 3; k++)
        EXPECT(*(int32_t *)out[k]->data == test_size * (test_size - 1) / 2);
    return SPMD_OK;
}

static void each_member_waits_in_its_own_order(void)
{
    run(own_orders, NULL);
}

/* Blocks and texts of a function that has returned. */
static spmd_status start_from_afar(spmd_ctx *ctx, double *data, spmd_request **request)
{
    char axes[8] = "x,y";
    spmd_block in = spmd_block_borrow(data, SPMD_F64, SPMD_SHAPE(3));
    spmd_block out = spmd_block_borrow(data + 3, SPMD_F64, SPMD_SHAPE(3));
    spmd_status status = spmd_psum_start(ctx, &in, axes, &out, request);
    memset(axes, 'q', sizeof axes);
    in.shape[0] = out.shape[0] = 1;
    return status;
}

static spmd_status from_afar(spmd_ctx *ctx, void *user)
{
    (void)user;
    double data[] = {1, 2, 3, 0, 0, 0, -1};
    spmd_request *request = NULL;
    EXPECT_OK(start_from_afar(ctx, data, &request));
    EXPECT_OK(spmd_wait(&request));
    for (int i = 0; i < 3; i++)
        EXPECT(data[3 + i] == test_size * (i + 1));
    EXPECT(data[6] == -1);
    return SPMD_OK;
}

static void blocks_need_not_last(void)
{
    run(from_afar, NULL);
}

static spmd_status in_place(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_request *request = NULL;
    for (int t = 0; t < DTYPES; t++) {
        if (dtypes[t] == SPMD_BOOL)
            continue;
        spmd_block *block = some_bytes(ctx, dtypes[t], SPMD_SHAPE(7));
        spmd_block *expected = spmd_temp(ctx, dtypes[t], SPMD_SHAPE(7));
        EXPECT_OK(spmd_psum(ctx, block, "x,y", expected));
        EXPECT_OK(spmd_psum_start(ctx, block, "x,y", block, &request));
        EXPECT_OK(spmd_wait(&request));
        EXPECT(same(block, expected));
    }
    return SPMD_OK;
}

static void out_may_be_in(void)
{
    run(in_place, NULL);
}

static spmd_status instance_sum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    spmd_request *request = NULL;
    SPMD_TRY(spmd_psum_start(ctx, in, "x,y", out, &request));
    return spmd_wait(&request);
}

/* One begins before a vmap and ends behind it. */
static spmd_status around_vmap(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *row = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3)), *sums = NULL, *in;
    spmd_request *request = NULL;
    int32_t *sum = number(ctx, 1, &in);
    for (int i = 0; i < 3; i++)
        ((float *)row->data)[i] = (float)(i + test_rank);
    EXPECT_OK(spmd_psum_start(ctx, in, "x,y", in, &request));
    EXPECT_OK(spmd_vmap(ctx, instance_sum, NULL, 1, SPMD_BLOCKS(row), SPMD_AXES(0), 1, &sums,
                        SPMD_AXES(0), NULL));
    EXPECT_OK(spmd_wait(&request));
    EXPECT(*sum == test_size);
    for (int i = 0; sums && i < 3; i++)
        EXPECT(((float *)sums->data)[i] ==
               (float)(test_size * i + test_size * (test_size - 1) / 2));
    return SPMD_OK;
}

static void instances_of_a_vmap_have_their_own(void)
{
    run(around_vmap, NULL);
}

/* Many times over: nothing piles up, also where one is always under way. */
static spmd_status chain(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *one, *out[2];
    spmd_request *requests[2] = {NULL};
    number(ctx, 1, &one);
    number(ctx, 0, &out[0]);
    number(ctx, 0, &out[1]);
    EXPECT_OK(spmd_psum_start(ctx, one, "x,y", out[0], &requests[0]));
    for (int k = 1; k < 200; k++) {
        EXPECT_OK(spmd_psum_start(ctx, one, "x,y", out[k % 2], &requests[k % 2]));
        EXPECT_OK(spmd_wait(&requests[(k + 1) % 2]));
        EXPECT(*(int32_t *)out[(k + 1) % 2]->data == test_size);
    }
    return spmd_wait(&requests[1]);
}

static void one_after_the_other(void)
{
    run(chain, NULL);
}

static spmd_status forget(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in, *out;
    spmd_request *waited = NULL, *forgotten = NULL;
    number(ctx, 1, &in);
    number(ctx, 0, &out);
    EXPECT_OK(spmd_psum_start(ctx, in, "x", in, &waited));
    EXPECT_OK(spmd_pmax_start(ctx, in, "x,y", out, &forgotten));
    return spmd_wait(&waited);
}

/* One rank forgets to wait, the others do not. */
static spmd_status forget_once(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in;
    spmd_request *request = NULL;
    number(ctx, 1, &in);
    EXPECT_OK(spmd_psum_start(ctx, in, "x,y", in, &request));
    return test_rank == test_size - 1 ? SPMD_OK : spmd_wait(&request);
}

/* A body that fails by itself tells its own failure. */
static spmd_status give_up(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in;
    spmd_request *request = NULL;
    number(ctx, 1, &in);
    EXPECT_OK(spmd_psum_start(ctx, in, "x,y", in, &request));
    return spmd_fail(SPMD_ERR_ARGUMENT, "the body gave up");
}

static void expect_failures(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*,y=1", &mesh));
    EXPECT_FAILS(spmd_shard_map(mesh, forget, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_BODY, "pmax_start over x,y was never waited for");
    EXPECT_FAILS(spmd_shard_map(mesh, forget_once, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_BODY, "psum_start over x,y was never waited for");
    EXPECT_FAILS(spmd_shard_map(mesh, give_up, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "the body gave up");
    EXPECT_OK(spmd_shard_map(mesh, chain, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static void what_is_never_waited_for_fails_the_body(void)
{
    expect_failures();
    setenv("SPMD_CHECK", "1", 1);
    expect_failures();
    unsetenv("SPMD_CHECK");
}

static spmd_status wrong_starts(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in, *wide = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    spmd_block *complex = spmd_temp(ctx, SPMD_C64, SPMD_SCALAR);
    spmd_request *request = NULL;
    number(ctx, 1, &in);
    EXPECT_FAILS(spmd_psum_start(ctx, in, "x", in, NULL), SPMD_ERR_ARGUMENT, "request");
    EXPECT_FAILS(spmd_psum_start(ctx, in, "q", in, &request), SPMD_ERR_MESH,
                 "no axis q; name one of its own");
    EXPECT_FAILS(spmd_psum_start(ctx, in, "x", wide, &request), SPMD_ERR_DTYPE, "f64");
    EXPECT_FAILS(spmd_psum_start(ctx, NULL, "x", in, &request), SPMD_ERR_ARGUMENT, "block");
    EXPECT_FAILS(spmd_pmax_start(ctx, complex, "x", complex, &request), SPMD_ERR_DTYPE, "c64");
    EXPECT(request == NULL);
    EXPECT_OK(spmd_wait(&request));
    return SPMD_OK;
}

static void wrong_starts_are_refused(void)
{
    run(wrong_starts, NULL);
}

HARNESS_MAIN("collective_split", CASE(sums_and_extremes_of_every_type),
             CASE(several_axes_are_under_way_at_once), CASE(each_member_waits_in_its_own_order),
             CASE(blocks_need_not_last), CASE(out_may_be_in),
             CASE(instances_of_a_vmap_have_their_own), CASE(one_after_the_other),
             CASE(what_is_never_waited_for_fails_the_body), CASE(wrong_starts_are_refused))
