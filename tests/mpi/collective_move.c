/* collective_move.c - MPI tests of collectives that move data: known results, every type, uneven
 * blocks, wrong calls. collective_random has all else. */
#include <stdio.h>
#include <string.h>

#include "meshes.h"
#include "pattern.h"

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Runs a body; ranks that the mesh does not need are idle. Without so many it does nothing. */
static void run_on(const char *text, int ranks, spmd_body *body)
{
    if (test_size < ranks)
        return;
    spmd_mesh *mesh = make_mesh(text);
    EXPECT_OK(spmd_shard_map(mesh, body, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* A scratch block of numbers. */
static spmd_block *numbers(spmd_ctx *ctx, spmd_shape shape, const int32_t values[])
{
    spmd_block *block = spmd_temp(ctx, SPMD_I32, shape);
    memcpy(block->data, values, (size_t)spmd_block_size(block) * sizeof *values);
    return block;
}

static spmd_block *room(spmd_ctx *ctx, spmd_shape shape)
{
    return spmd_temp(ctx, SPMD_I32, shape);
}

/* Rows [first, first + rows) of a matrix that counts. */
static spmd_block *rows_of(spmd_ctx *ctx, int64_t columns, int64_t first, int64_t rows)
{
    spmd_block *block = room(ctx, SPMD_SHAPE(rows, columns));
    for (int64_t i = 0; i < rows * columns; i++)
        ((int32_t *)block->data)[i] = (int32_t)(first * columns + i);
    return block;
}

static int32_t at(const spmd_block *block, int64_t i)
{
    return ((int32_t *)block->data)[i];
}

static void expect_numbers(const spmd_block *block, const int32_t values[])
{
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        EXPECT(at(block, i) == values[i]);
}

#define NUMBERS(...) ((const int32_t[]){__VA_ARGS__})

/* The results that JAX's documents show. */
static spmd_status documented(spmd_ctx *ctx, void *user)
{
    static const int32_t a[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
    static const int32_t swapped[16] = {3, 5, 5, 9, 1, 9, 3, 7, 4, 2, 5, 1, 1, 6, 8, 2};
    (void)user;
    int64_t me = spmd_axis_index(ctx, "i");
    spmd_block *one = numbers(ctx, SPMD_SHAPE(1), NUMBERS(3, 9, 5, 2) + me);
    spmd_block *all = room(ctx, SPMD_SHAPE(4)), *column = room(ctx, SPMD_SHAPE(4, 1));
    EXPECT_OK(spmd_all_gather(ctx, one, "i", 0, SPMD_TILED, all));
    expect_numbers(all, NUMBERS(3, 9, 5, 2));
    EXPECT_OK(spmd_all_gather(ctx, one, "i", 0, SPMD_UNTILED, column));
    expect_numbers(column, NUMBERS(3, 9, 5, 2));
    spmd_block *row = numbers(ctx, SPMD_SHAPE(4), a + 4 * me);
    EXPECT_OK(spmd_psum_scatter(ctx, row, "i", 0, SPMD_TILED, one));
    expect_numbers(one, NUMBERS(22, 20, 12, 17) + me);
    EXPECT_OK(spmd_all_to_all(ctx, row, "i", 0, 0, SPMD_TILED, row));
    expect_numbers(row, swapped + 4 * me);
    spmd_block *pair = numbers(ctx, SPMD_SHAPE(2), NUMBERS(0, 1, 2, 3, 4, 5, 6, 7) + 2 * me);
    EXPECT_OK(spmd_ppermute(ctx, pair, "i", 4, SPMD_PAIRS({0, 1}, {1, 2}, {2, 3}, {3, 0}), pair));
    expect_numbers(pair, NUMBERS(6, 7, 0, 1, 2, 3, 4, 5) + 2 * me);
    return SPMD_OK;
}

static spmd_status documented_groups(spmd_ctx *ctx, void *user)
{
    static const int32_t halves[4][2] = {{8, 10}, {20, 22}, {12, 14}, {16, 18}};
    static const int64_t first[4] = {0, 3, 0, 3}, second[4] = {2, 1, 2, 1};
    (void)user;
    int64_t me = spmd_axis_index(ctx, "i");
    const char *groups = "i [[0,2],[3,1]]";
    spmd_block *matrix = rows_of(ctx, 4, me, 1), *half = room(ctx, SPMD_SHAPE(2));
    spmd_block *row = numbers(ctx, SPMD_SHAPE(4), matrix->data);
    spmd_block *none = room(ctx, SPMD_SCALAR), *both = room(ctx, SPMD_SHAPE(2, 4));
    EXPECT_OK(spmd_psum_scatter(ctx, row, "i", 0, SPMD_UNTILED, none));
    expect_numbers(none, NUMBERS(24, 28, 32, 36) + me);
    EXPECT_OK(spmd_psum_scatter(ctx, row, groups, 0, SPMD_TILED, half));
    expect_numbers(half, halves[me]);
    EXPECT_OK(spmd_all_gather(ctx, row, groups, 0, SPMD_UNTILED, both));
    for (int64_t j = 0; j < 4; j++) {
        EXPECT(at(both, j) == 4 * first[me] + j);
        EXPECT(at(both, 4 + j) == 4 * second[me] + j);
    }
    spmd_block *quadrant = room(ctx, SPMD_SHAPE(2, 2));
    EXPECT_OK(spmd_all_to_all(ctx, matrix, "i [[0,1],[2,3]]", 1, 0, SPMD_TILED, quadrant));
    int32_t corner = (int32_t)(8 * (me / 2) + 2 * (me % 2));
    expect_numbers(quadrant, NUMBERS(corner, corner + 1, corner + 4, corner + 5));
    return SPMD_OK;
}

static void known_results_on_four_ranks(void)
{
    run_on("i=4", 4, documented);
    run_on("i=4", 4, documented_groups);
}

/* Blocks 4 x 2 of 8 x 8 numbers that count, along P(x, (y,z)). */
static spmd_status on_a_cube(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t x = spmd_axis_index(ctx, "x"), yz = spmd_axis_index(ctx, "y,z");
    spmd_block *in = room(ctx, SPMD_SHAPE(4, 2)), *wide = room(ctx, SPMD_SHAPE(4, 4));
    for (int64_t i = 0; i < 8; i++)
        ((int32_t *)in->data)[i] = (int32_t)(8 * (4 * x + i / 2) + 2 * yz + i % 2);
    EXPECT_OK(spmd_all_gather(ctx, in, "y,z [[0,1],[2,3]]", -1, SPMD_TILED, wide));
    for (int64_t i = 0; i < 16; i++)
        EXPECT(at(wide, i) == 8 * (4 * x + i / 4) + 4 * (yz / 2) + i % 4);
    return SPMD_OK;
}

/* Columns of 8 x 8 numbers that count: the even ones are summed, and the odd ones. */
static spmd_status columns_of_a_cube(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t me = spmd_axis_index(ctx, "x,y,z");
    spmd_block *in = room(ctx, SPMD_SHAPE(8, 1)), *out = room(ctx, SPMD_SHAPE(2, 1));
    for (int64_t i = 0; i < 8; i++)
        ((int32_t *)in->data)[i] = (int32_t)(8 * i + me);
    EXPECT_OK(spmd_psum_scatter(ctx, in, "x,y,z [[0,2,4,6],[1,3,5,7]]", 0, SPMD_TILED, out));
    for (int64_t i = 0; i < 2; i++)
        EXPECT(at(out, i) == 4 * 8 * (2 * (me / 2) + i) + (me % 2 ? 16 : 12));
    return SPMD_OK;
}

static spmd_status rings_of_a_cube(spmd_ctx *ctx, void *user)
{
    (void)user;
    int32_t me = (int32_t)spmd_axis_index(ctx, "x,y,z");
    const int64_t(*ring)[2] = SPMD_PAIRS({0, 1}, {1, 2}, {2, 3}, {3, 0});
    spmd_block *in = numbers(ctx, SPMD_SCALAR, &me), *out = room(ctx, SPMD_SCALAR);
    EXPECT_OK(spmd_ppermute(ctx, in, "x,y", 4, ring, out));
    EXPECT(at(out, 0) == (me + 6) % 8);
    EXPECT_OK(spmd_ppermute(ctx, in, "y,z", 4, ring, out));
    EXPECT(at(out, 0) == me / 4 * 4 + (me + 3) % 4);
    EXPECT_OK(spmd_ppermute(ctx, in, "z,y", 4, ring, out)); /* numbered by the mesh */
    EXPECT(at(out, 0) == me / 4 * 4 + (me + 3) % 4);
    return SPMD_OK;
}

static void known_results_on_eight_ranks(void)
{
    run_on("x=2,y=2,z=2", 8, on_a_cube);
    run_on("x=2,y=2,z=2", 8, columns_of_a_cube);
    run_on("x=2,y=2,z=2", 8, rings_of_a_cube);
}

/* Rows of n x n numbers become columns. */
static spmd_status transpose(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size, me = spmd_axis_index(ctx, "x");
    spmd_block *row = rows_of(ctx, n, me, 1);
    EXPECT_OK(spmd_all_to_all(ctx, row, "x", 1, 1, SPMD_TILED, row));
    for (int64_t k = 0; k < n; k++)
        EXPECT(at(row, k) == n * k + me);
    row = rows_of(ctx, n, me, 1);
    EXPECT_OK(spmd_pswapaxes(ctx, row, "x", -1, row));
    for (int64_t k = 0; k < n; k++)
        EXPECT(at(row, k) == n * k + me);
    return SPMD_OK;
}

static void members_and_a_dim_change_places(void)
{
    run_on("x=*", 1, transpose);
}

static spmd_status chain(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size, me = spmd_axis_index(ctx, "x"), pairs[64][2], perm[64];
    for (int64_t k = 0; k < n; k++) {
        pairs[k][0] = k;
        pairs[k][1] = k + 1;
        perm[k] = (k + n - 1) % n;
    }
    spmd_block *in = numbers(ctx, SPMD_SHAPE(2), NUMBERS((int32_t)me + 1, 7));
    spmd_block *out = numbers(ctx, SPMD_SHAPE(2), NUMBERS(5, 5));
    EXPECT_OK(spmd_ppermute(ctx, in, "x", n - 1, (const int64_t(*)[2])pairs, out));
    expect_numbers(out, NUMBERS((int32_t)me, me > 0 ? 7 : 0)); /* nobody sends to the first */
    EXPECT_OK(spmd_ppermute(ctx, in, "x", 0, NULL, out));
    expect_numbers(out, NUMBERS(0, 0));
    EXPECT_OK(spmd_pshuffle(ctx, in, "x", perm, out));
    expect_numbers(out, NUMBERS((int32_t)((me + n - 1) % n) + 1, 7));
    EXPECT_OK(spmd_pbroadcast(ctx, in, "x", 0, out));
    expect_numbers(out, NUMBERS(1, 7));
    return SPMD_OK;
}

static void chains_and_rings(void)
{
    run_on("x=*", 1, chain);
}

/* Two members, which have sent all that they say. */
static spmd_status ragged_pair(spmd_ctx *ctx, void *user)
{
    static const int32_t rows[2][3] = {{1, 2, 2}, {3, 4, 0}};
    static const int32_t wanted[2][4] = {{1, 3, 0, 0}, {2, 2, 4, 0}};
    static const int64_t in_offsets[2] = {0, 1}, sends[2][2] = {{1, 2}, {1, 1}},
                         out_offsets[2][2] = {{0, 0}, {1, 2}}, receives[2][2] = {{1, 1}, {2, 1}};
    (void)user;
    const char *axes = spmd_axis_size(ctx, "x") == 4 ? "x [[0,1],[2,3]]" : "x";
    int64_t me = spmd_axis_index(ctx, axes), factor = spmd_axis_index(ctx, "x") / 2 * 9 + 1;
    spmd_block *in = numbers(ctx, SPMD_SHAPE(3), rows[me]), *out = room(ctx, SPMD_SHAPE(4));
    for (int64_t i = 0; i < 3; i++)
        ((int32_t *)in->data)[i] *= (int32_t)factor;
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, axes, 2, in_offsets, sends[me], out_offsets[me],
                                     receives[me], out));
    for (int64_t i = 0; i < 4; i++)
        EXPECT(at(out, i) == factor * wanted[me][i]);
    return SPMD_OK;
}

static spmd_status ragged_alone(spmd_ctx *ctx, void *user)
{
    static const int32_t rows[2][4] = {{1, 0, 0, 0}, {2, 3, 4, 0}};
    static const int32_t wanted[2][4] = {{0, 0, 1, 0}, {0, 2, 3, 4}};
    static const int64_t zero = 0, sends[2] = {1, 3}, out_offsets[2] = {2, 1};
    (void)user;
    int64_t me = spmd_axis_index(ctx, "x");
    spmd_block *in = numbers(ctx, SPMD_SHAPE(4), rows[me]), *out = room(ctx, SPMD_SHAPE(4));
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, "x [[0],[1]]", 1, &zero, &sends[me], &out_offsets[me],
                                     &sends[me], out));
    expect_numbers(out, wanted[me]);
    return SPMD_OK;
}

static void ragged_rows(void)
{
    run_on("x=2", 2, ragged_pair);
    run_on("x=4", 4, ragged_pair);
    run_on("x=2", 2, ragged_alone);
}

/* What is wrong on one member is an error of all. */
static spmd_status ragged_mistakes(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size, zeros[64] = {0}, ones[64], beyond[64] = {0}, down[64] = {0};
    bool last = test_rank == test_size - 1;
    for (int64_t k = 0; k < n; k++)
        ones[k] = 1;
    beyond[0] = last ? 2 : 0;
    down[0] = last ? -1 : 0;
    spmd_block *in = room(ctx, SPMD_SHAPE(2, 3)), *out = room(ctx, SPMD_SHAPE(2, 3));
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, zeros, zeros, zeros, out));
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, beyond, ones, zeros, ones, out),
                 SPMD_ERR_ARGUMENT,
                 from_rank(test_size - 1, "ragged_all_to_all sends slice 0, 1 rows from row 2 on"));
    expect_same_message();
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, ones, beyond, ones, out),
                 SPMD_ERR_ARGUMENT, "receives slice");
    expect_same_message();
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, down, zeros, zeros, out),
                 SPMD_ERR_ARGUMENT, "-1 rows");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, zeros, zeros, beyond, out),
                 SPMD_ERR_ARGUMENT, "expects 2 rows");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, zeros, zeros, zeros, in),
                 SPMD_ERR_ARGUMENT, "the block that it reads");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", 0, zeros, zeros, zeros, zeros, out),
                 SPMD_ERR_ARGUMENT, "0 slices");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, zeros, NULL, zeros, out),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, room(ctx, SPMD_SCALAR), "x", n, zeros, zeros, zeros,
                                        zeros, out),
                 SPMD_ERR_SHAPE, "scalar");
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", n, zeros, zeros, zeros, zeros,
                                        room(ctx, SPMD_SHAPE(2, 4))),
                 SPMD_ERR_SHAPE, "i32[2,3]");
    return SPMD_OK;
}

/* So many slices that members do not tell all of them to all: a row each. */
static spmd_status many_slices(spmd_ctx *ctx, void *user)
{
    enum { MANY = 1100 };
    (void)user;
    int64_t n = test_size, me = test_rank, each = MANY / n + 1, count = n * each;
    int64_t from[2 * MANY], to[2 * MANY], ones[2 * MANY];
    spmd_block *in = room(ctx, SPMD_SHAPE(count)), *out = room(ctx, SPMD_SHAPE(count));
    for (int64_t i = 0; i < count; i++) {
        ((int32_t *)in->data)[i] = (int32_t)(me * count + i);
        from[i] = i;
        to[i] = me * each + i % each;
        ones[i] = 1;
    }
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, "x", count, from, ones, to, ones, out));
    int64_t wrong = 0;
    for (int64_t m = 0; m < n; m++)
        for (int64_t k = 0; k < each; k++)
            wrong += ((int32_t *)out->data)[m * each + k] != m * count + me * each + k;
    EXPECT(wrong == 0);
    ones[count - 1] = me == n - 1 ? 2 : 1;
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, in, "x", count, from, ones, to, ones, out),
                 SPMD_ERR_ARGUMENT, from_rank(test_size - 1, "ragged_all_to_all sends slice"));
    expect_same_message();
    return SPMD_OK;
}

static void ragged_rows_in_many_slices(void)
{
    run_on("x=*", 1, many_slices);
}

static void ragged_mistakes_are_everybodys(void)
{
    run_on("x=*", 1, ragged_mistakes);
}

/* The whole array from one axis after the other, in every type. */
static spmd_status gather_twice(spmd_ctx *ctx, void *user)
{
    spmd_dtype dtype = *(spmd_dtype *)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape, whole = spmd_shape_make(2, in->global);
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "x", 0, SPMD_TILED, &shape));
    spmd_block *half = spmd_temp(ctx, dtype, shape), *all = spmd_temp(ctx, dtype, whole);
    EXPECT_OK(spmd_all_gather(ctx, in, "x", 0, SPMD_TILED, half));
    EXPECT_OK(spmd_all_gather(ctx, half, "y", 1, SPMD_TILED, all));
    spmd_box box = spmd_box_whole(whole);
    EXPECT(pattern_is_in(all->data, &box, whole, dtype));
    return SPMD_OK;
}

static void all_gather_along_both_axes_of_every_type(void)
{
    spmd_mesh *mesh = make_grid();
    for (int t = 0; t < DTYPES; t++) {
        spmd_shape shape = SPMD_SHAPE(2 * test_size, 3 * test_size);
        spmd_array *array = pattern_array(mesh, "P(x,y)", dtypes[t], shape);
        EXPECT_OK(spmd_shard_map(mesh, gather_twice, (void *)&dtypes[t], 1, &array,
                                 SPMD_SPECS("P(x,y)"), 0, NULL, NULL, NULL));
        spmd_array_free(&array);
    }
    spmd_mesh_free(&mesh);
}

/* Bytes that are small numbers in every type, and add up without rounding. */
static spmd_block *small_numbers(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape)
{
    spmd_mesh *one = NULL;
    spmd_array *array = NULL;
    spmd_block *block = spmd_temp(ctx, dtype, shape);
    int64_t size = spmd_block_size(block);
    if (dtype == SPMD_BOOL) {
        for (int64_t i = 0; i < size; i++)
            ((bool *)block->data)[i] = (i + test_rank) % 3 == 0;
        return block;
    }
    EXPECT_OK(spmd_mesh_create(MPI_COMM_SELF, "one=1", &one));
    EXPECT_OK(spmd_array_arange(one, "P()", dtype, SPMD_SHAPE(8), &array));
    size_t element = spmd_dtype_size(dtype);
    for (int64_t i = 0; i < size; i++)
        memcpy((char *)block->data + (size_t)i * element,
               (char *)spmd_array_block(array)->data + (size_t)((i + test_rank) % 8) * element,
               element);
    spmd_array_free(&array);
    spmd_mesh_free(&one);
    return block;
}

/* What psum_scatter gives is this member's part of what psum gives. */
static spmd_status scatter_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size, me = spmd_axis_index(ctx, "x");
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype sum_type = spmd_psum_dtype(dtypes[t]);
        size_t bytes = (size_t)3 * spmd_dtype_size(sum_type);
        spmd_request *request = NULL;
        spmd_block *in = small_numbers(ctx, dtypes[t], SPMD_SHAPE(n, 3));
        spmd_block *sum = spmd_temp(ctx, sum_type, SPMD_SHAPE(n, 3));
        spmd_block *out = spmd_temp(ctx, sum_type, SPMD_SHAPE(1, 3));
        spmd_block *row = spmd_temp(ctx, sum_type, SPMD_SHAPE(3));
        EXPECT_OK(spmd_psum(ctx, in, "x", sum));
        EXPECT_OK(spmd_psum_scatter(ctx, in, "x", 0, SPMD_TILED, out));
        EXPECT_OK(spmd_psum_scatter_start(ctx, in, "x", 0, SPMD_UNTILED, row, &request));
        EXPECT_OK(spmd_wait(&request));
        const char *wanted = (char *)sum->data + (size_t)me * bytes;
        if (!EXPECT(memcmp(out->data, wanted, bytes) == 0) ||
            !EXPECT(memcmp(row->data, wanted, bytes) == 0))
            fprintf(stderr, "of type %s\n", spmd_dtype_name(dtypes[t]));
    }
    return SPMD_OK;
}

static void psum_scatter_of_every_type(void)
{
    run_on("x=*", 1, scatter_all_types);
}

/* How an array lies before and after: all_to_all brings it from rows to columns. */
struct lie {
    const char *axes, *rows, *columns;
};

static spmd_status rows_to_columns(spmd_ctx *ctx, void *user)
{
    const struct lie *lie = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0};
    SPMD_TRY(spmd_all_to_all_shape(ctx, in, lie->axes, 1, 0, SPMD_TILED, &shape));
    return spmd_all_to_all(ctx, in, lie->axes, 1, 0, SPMD_TILED,
                           spmd_out(ctx, 0, in->dtype, shape));
}

static spmd_status rows_to_columns_in_two_phases(spmd_ctx *ctx, void *user)
{
    const struct lie *lie = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0};
    spmd_request *request = NULL;
    SPMD_TRY(spmd_all_to_all_shape(ctx, in, lie->axes, 1, 0, SPMD_TILED, &shape));
    SPMD_TRY(spmd_all_to_all_start(ctx, in, lie->axes, 1, 0, SPMD_TILED,
                                   spmd_out(ctx, 0, in->dtype, shape), &request));
    return spmd_wait(&request);
}

/* What all_to_all gave knows its place, so it goes back, however long the parts are. */
static spmd_status rows_to_columns_and_back(spmd_ctx *ctx, void *user)
{
    const struct lie *lie = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0};
    SPMD_TRY(spmd_all_to_all_shape(ctx, in, lie->axes, 1, 0, SPMD_TILED, &shape));
    spmd_block *columns = spmd_temp(ctx, in->dtype, shape);
    SPMD_TRY(spmd_all_to_all(ctx, in, lie->axes, 1, 0, SPMD_TILED, columns));
    return spmd_all_to_all(ctx, columns, lie->axes, 0, 1, SPMD_TILED,
                           spmd_out(ctx, 0, in->dtype, spmd_block_shape(in)));
}

static void uneven_rows_become_columns(void)
{
    spmd_body *bodies[] = {rows_to_columns, rows_to_columns_in_two_phases,
                           rows_to_columns_and_back};
    struct lie lies[] = {{"x", "P(x,-)", "P(-,x)"},
                         {"x,y", "P((x,y),-)", "P(-,(x,y))"},
                         {"y,x", "P((y,x),-)", "P(-,(y,x))"}};
    spmd_mesh *mesh = make_grid();
    for (int64_t rows = 0; rows < 2 * test_size; rows += 1 + test_size / 3)
        for (int64_t columns = 0; columns < 2 * test_size; columns += 1 + test_size / 4)
            for (int l = 0; l < 9; l++) {
                struct lie *lie = &lies[l % 3];
                const char *after = l < 6 ? lie->columns : lie->rows;
                spmd_shape shape = SPMD_SHAPE(rows, columns);
                spmd_array *in = pattern_array(mesh, lie->rows, SPMD_I16, shape), *out = NULL;
                spmd_sharding *split = NULL;
                EXPECT_OK(spmd_sharding_create(mesh, after, &split));
                EXPECT_OK(spmd_shard_map(mesh, bodies[l / 3], lie, 1, &in, SPMD_SPECS(lie->rows), 1,
                                         &out, SPMD_SPECS(after), NULL));
                EXPECT(pattern_is_on(out, shape, SPMD_I16, split));
                spmd_sharding_free(&split);
                spmd_array_free(&in);
                spmd_array_free(&out);
            }
    spmd_mesh_free(&mesh);
}

static spmd_status scatter_sum(spmd_ctx *ctx, void *user)
{
    const char *axes = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0};
    SPMD_TRY(spmd_psum_scatter_shape(ctx, in, axes, 0, SPMD_TILED, &shape));
    return spmd_psum_scatter(ctx, in, axes, 0, SPMD_TILED, spmd_out(ctx, 0, SPMD_I64, shape));
}

static spmd_status scatter_sum_and_gather(spmd_ctx *ctx, void *user)
{
    const char *axes = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0};
    SPMD_TRY(spmd_psum_scatter_shape(ctx, in, axes, 0, SPMD_TILED, &shape));
    spmd_block *part = spmd_temp(ctx, SPMD_I64, shape);
    SPMD_TRY(spmd_psum_scatter(ctx, in, axes, 0, SPMD_TILED, part));
    return spmd_all_gather(ctx, part, axes, 0, SPMD_TILED,
                           spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in)));
}

static spmd_status scatter_sum_and_gather_in_two_phases(spmd_ctx *ctx, void *user)
{
    const char *axes = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_request *request = NULL;
    spmd_shape shape = {0};
    SPMD_TRY(spmd_psum_scatter_shape(ctx, in, axes, 0, SPMD_TILED, &shape));
    spmd_block *part = spmd_temp(ctx, SPMD_I64, shape);
    SPMD_TRY(spmd_psum_scatter_start(ctx, in, axes, 0, SPMD_TILED, part, &request));
    SPMD_TRY(spmd_wait(&request));
    SPMD_TRY(spmd_all_gather_start(ctx, part, axes, 0, SPMD_TILED,
                                   spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in)), &request));
    return spmd_wait(&request);
}

/* Sums of arrays of many lengths, by a body whose result lies as `out_spec`. */
static void sum_every_length(spmd_body *body, const char *out_spec)
{
    spmd_mesh *mesh = make_grid();
    for (int64_t n = 0; n <= 2 * test_size; n++) {
        spmd_array *in = NULL, *out = NULL;
        int64_t host[64] = {0}, wrong = 0;
        EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_I64, SPMD_SHAPE(n), &in));
        EXPECT_OK(spmd_shard_map(mesh, body, "y,x", 1, &in, SPMD_SPECS("P()"), 1, &out,
                                 SPMD_SPECS(out_spec), NULL));
        EXPECT_OK(spmd_array_gather(out, SPMD_ALL, host, n));
        for (int64_t i = 0; i < n; i++)
            wrong += host[i] != test_size * i;
        EXPECT(wrong == 0);
        spmd_array_free(&in);
        spmd_array_free(&out);
    }
    spmd_mesh_free(&mesh);
}

/* The parts of a sum lie as an array split over the axes, whether they divide it or not. */
static void uneven_sums_lie_as_arrays(void)
{
    sum_every_length(scatter_sum, "P((y,x))");
}

/* And so they know their place, and are joined again. */
static void uneven_sums_are_joined(void)
{
    sum_every_length(scatter_sum_and_gather, "P()");
    sum_every_length(scatter_sum_and_gather_in_two_phases, "P()");
}

/* The same over the instances of a vmap: five ones, in three parts. */
static spmd_status join_among_instances(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t me = spmd_axis_index(ctx, "batch");
    spmd_block *ones = numbers(ctx, SPMD_SHAPE(5), NUMBERS(1, 1, 1, 1, 1));
    spmd_block *part = room(ctx, SPMD_SHAPE(me < 2 ? 2 : 1));
    SPMD_TRY(spmd_psum_scatter(ctx, ones, "batch", 0, SPMD_TILED, part));
    SPMD_TRY(spmd_all_gather(ctx, part, "batch", 0, SPMD_TILED, ones));
    expect_numbers(ones, NUMBERS(3, 3, 3, 3, 3));
    return SPMD_OK;
}

static void uneven_sums_are_joined_among_instances(void)
{
    EXPECT_OK(spmd_vmap(NULL, join_among_instances, NULL, 0, NULL, NULL, 0, NULL, NULL,
                        &(spmd_vmap_options){.axis_size = 3, .axis_name = "batch"}));
}

/* Rows of a and the part of b along y, in f32: a product of them, to be summed over `axes`. */
static spmd_status multiply(spmd_ctx *ctx, void *axes)
{
    const spmd_block *a = spmd_in(ctx, 0), *b = spmd_in(ctx, 1);
    int64_t rows = a->shape[0], inner = a->shape[1], columns = b->shape[1];
    spmd_block *product = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(rows, columns));
    spmd_shape shape;
    for (int64_t i = 0; i < rows * columns; i++)
        for (int64_t k = 0; k < inner; k++)
            ((float *)product->data)[i] += ((float *)a->data)[i / columns * inner + k] *
                                           ((float *)b->data)[k * columns + i % columns];
    SPMD_TRY(spmd_psum_scatter_shape(ctx, product, axes, 0, SPMD_TILED, &shape));
    return spmd_psum_scatter(ctx, product, axes, 0, SPMD_TILED, spmd_out(ctx, 0, SPMD_F32, shape));
}

/* Element [i, j] of the product of two 8 x 8 matrices of numbers that count modulo 8. */
static float product_at(int64_t i, int64_t j)
{
    float sum = 0;
    for (int64_t k = 0; k < 8; k++)
        sum += (float)((i + k) % 8 * ((k + j) % 8));
    return sum;
}

static spmd_status fill_matrix(const spmd_box *box, void *data, void *user)
{
    float *at = data;
    (void)user;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *at++ = (float)((i + j) % 8);
    return SPMD_OK;
}

/* A matrix product: over y, and over z and y, which adds the rows of the parts along z. */
static void products_are_summed_and_split(void)
{
    spmd_mesh *mesh = make_mesh(test_size % 2 == 0 ? "z=2,y=*" : "z=1,y=*");
    int64_t nz = spmd_mesh_axis_size(mesh, "z"), rows = 8 / nz;
    spmd_array *a = NULL, *b = NULL, *out = NULL;
    float host[64];
    EXPECT_OK(spmd_array_from_callback(mesh, "P(z,y)", SPMD_F32, SPMD_SHAPE(8, 8), fill_matrix,
                                       NULL, &a));
    EXPECT_OK(
        spmd_array_from_callback(mesh, "P(y)", SPMD_F32, SPMD_SHAPE(8, 8), fill_matrix, NULL, &b));
    EXPECT_OK(spmd_shard_map(mesh, multiply, "y", 2, SPMD_ARRAYS(a, b),
                             SPMD_SPECS("P(z,y)", "P(y)"), 1, &out, SPMD_SPECS("P((z,y))"), NULL));
    EXPECT_OK(spmd_array_gather(out, SPMD_ALL, host, 64));
    for (int64_t i = 0; i < 64; i++)
        EXPECT(host[i] == product_at(i / 8, i % 8));
    spmd_array_free(&out);
    EXPECT_OK(spmd_shard_map(mesh, multiply, "z,y", 2, SPMD_ARRAYS(a, b),
                             SPMD_SPECS("P(z,y)", "P(y)"), 1, &out, SPMD_SPECS("P((z,y))"), NULL));
    EXPECT_OK(spmd_array_gather(out, SPMD_ALL, host, rows * 8));
    for (int64_t i = 0; i < rows * 8; i++) {
        float sum = 0;
        for (int64_t z = 0; z < nz; z++)
            sum += product_at(rows * z + i / 8, i % 8);
        EXPECT(host[i] == sum);
    }
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status wrong_calls(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size, perm[64], twice[64];
    spmd_shape shape;
    spmd_block *in = room(ctx, SPMD_SHAPE(n + 1, 2)), *out = room(ctx, SPMD_SHAPE(n + 1, 2));
    for (int64_t k = 0; k < n; k++) {
        perm[k] = k;
        twice[k] = n > 1 && k == 1 ? 0 : k;
    }
    EXPECT_FAILS(spmd_psum_scatter_shape(ctx, in, "x", 0, SPMD_UNTILED, &shape), SPMD_ERR_SHAPE,
                 "psum_scatter over x deals out dim 0 of 2");
    EXPECT_FAILS(spmd_psum_scatter_shape(ctx, in, "x", 2, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "psum_scatter over x: there is no dim 2, only -2 to 1");
    EXPECT_FAILS(spmd_psum_scatter(ctx, in, "x", 0, SPMD_TILED, room(ctx, SPMD_SHAPE(n + 5))),
                 SPMD_ERR_SHAPE, "psum_scatter gives a block i32[");
    EXPECT_FAILS(spmd_all_gather(ctx, in, "x", 0, SPMD_TILED, room(ctx, SPMD_SHAPE(n))),
                 SPMD_ERR_SHAPE, "declare it so, or set offset and global of in");
    EXPECT_FAILS(spmd_all_to_all_shape(ctx, in, "x", 0, 1, SPMD_UNTILED, &shape), SPMD_ERR_SHAPE,
                 "all_to_all over x deals out dim 0 of 2");
    EXPECT_FAILS(spmd_all_to_all_shape(ctx, in, "x", 0, -3, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "all_to_all over x: there is no dim -3, only -2 to 1");
    EXPECT_FAILS(spmd_pswapaxes(ctx, in, "x", 0, out), SPMD_ERR_SHAPE, "pswapaxes");
    EXPECT_FAILS(spmd_all_gather_shape(ctx, NULL, "x", 0, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "needs a block");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 1, SPMD_PAIRS({0, n}), out), SPMD_ERR_ARGUMENT,
                 "no member");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 1, SPMD_PAIRS({-1, 0}), out), SPMD_ERR_ARGUMENT,
                 "no member -1");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 2, SPMD_PAIRS({0, 0}, {0, n - 1}), out),
                 SPMD_ERR_ARGUMENT, "is a source twice");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 2, SPMD_PAIRS({0, 0}, {n > 1, 0}), out),
                 SPMD_ERR_ARGUMENT, "twice");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", INT64_MAX, SPMD_PAIRS({0, 0}), out), SPMD_ERR_ARGUMENT,
                 "twice");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 2, NULL, out), SPMD_ERR_ARGUMENT, "2 pairs");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", -1, NULL, out), SPMD_ERR_ARGUMENT, "-1 pairs");
    EXPECT_FAILS(spmd_ppermute(ctx, in, "x", 0, NULL, room(ctx, SPMD_SHAPE(n))), SPMD_ERR_SHAPE,
                 "ppermute gives");
    EXPECT_FAILS(spmd_pshuffle(ctx, in, "x", NULL, out), SPMD_ERR_ARGUMENT, "a permutation");
    if (n > 1)
        EXPECT_FAILS(spmd_pshuffle(ctx, in, "x", twice, out), SPMD_ERR_ARGUMENT,
                     "pshuffle over x: member 0 is a source twice");
    perm[0] = n;
    EXPECT_FAILS(spmd_pshuffle(ctx, in, "x", perm, out), SPMD_ERR_ARGUMENT, "no member");
    EXPECT_FAILS(spmd_pbroadcast(ctx, in, "x", n, out), SPMD_ERR_ARGUMENT,
                 "pbroadcast over x: there is no member");
    return SPMD_OK;
}

/* Groups of 1 and of 2: gathers and splits need equal ones, moves from member to member do not. */
static spmd_status uneven_groups(spmd_ctx *ctx, void *user)
{
    const char *groups = "x [[0],[1,2]]";
    int32_t me = (int32_t)spmd_axis_index(ctx, "x"), place = (int32_t)spmd_axis_index(ctx, groups);
    spmd_shape shape;
    (void)user;
    spmd_block *in = numbers(ctx, SPMD_SHAPE(2), NUMBERS(me, me));
    spmd_block *out = room(ctx, SPMD_SHAPE(2));
    EXPECT_FAILS(spmd_all_gather_shape(ctx, in, groups, 0, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "all_gather needs groups of the same size");
    EXPECT_FAILS(spmd_psum_scatter_shape(ctx, in, groups, 0, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "same size");
    EXPECT_FAILS(spmd_all_to_all_shape(ctx, in, groups, 0, 0, SPMD_TILED, &shape),
                 SPMD_ERR_ARGUMENT, "same size");
    EXPECT_OK(spmd_pbroadcast(ctx, in, groups, 0, out));
    expect_numbers(out, NUMBERS(me - place, me - place));
    return SPMD_OK;
}

static void wrong_calls_are_refused(void)
{
    run_on("x=*", 1, wrong_calls);
    run_on("x=3", 3, uneven_groups);
}

HARNESS_MAIN("collective_move", CASE(known_results_on_four_ranks),
             CASE(known_results_on_eight_ranks), CASE(members_and_a_dim_change_places),
             CASE(chains_and_rings), CASE(ragged_rows), CASE(ragged_rows_in_many_slices),
             CASE(ragged_mistakes_are_everybodys), CASE(all_gather_along_both_axes_of_every_type),
             CASE(psum_scatter_of_every_type), CASE(uneven_rows_become_columns),
             CASE(uneven_sums_lie_as_arrays), CASE(uneven_sums_are_joined),
             CASE(uneven_sums_are_joined_among_instances), CASE(products_are_summed_and_split),
             CASE(wrong_calls_are_refused))
