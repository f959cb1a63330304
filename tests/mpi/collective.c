/* collective.c - MPI tests of collectives: every type and operation, odd and empty blocks, errors.
 *
 * The cases are bodies over all ranks, which bring blocks of their own. Expected elements come
 * from arrays that count, so that every type is written by the library itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static bool is_complex(spmd_dtype dtype)
{
    return dtype == SPMD_C64 || dtype == SPMD_C128;
}

static int columns(void)
{
    return test_size % 2 == 0 ? 2 : 1;
}

/* Runs a body on all ranks: in two columns where they divide, else in one. */
static void run(spmd_body *body, void *user)
{
    spmd_mesh *mesh = NULL;
    char text[40];
    snprintf(text, sizeof text, "x=*,y=%d", columns());
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    EXPECT_OK(spmd_shard_map(mesh, body, user, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* A scratch block in which element i is `first + i`, in any type; of bool, whether that is odd. */
static spmd_block *count_from(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape, int64_t first)
{
    spmd_block *block = spmd_temp(ctx, dtype, shape);
    int64_t size = spmd_block_size(block);
    if (dtype == SPMD_BOOL) {
        for (int64_t i = 0; i < size; i++)
            ((bool *)block->data)[i] = (first + i) % 2;
        return block;
    }
    spmd_mesh *one = NULL;
    spmd_array *array = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_SELF, "one=1", &one));
    EXPECT_OK(spmd_array_arange(one, "P()", dtype, SPMD_SHAPE(first + size), &array));
    size_t element = spmd_dtype_size(dtype);
    memcpy(block->data, (char *)spmd_array_block(array)->data + (size_t)first * element,
           (size_t)size * element);
    spmd_array_free(&array);
    spmd_mesh_free(&one);
    return block;
}

static bool same(const spmd_block *a, const spmd_block *b)
{
    return a->dtype == b->dtype && spmd_shape_equal(spmd_block_shape(a), spmd_block_shape(b)) &&
           memcmp(a->data, b->data, (size_t)spmd_block_size(a) * spmd_dtype_size(a->dtype)) == 0;
}

/* Says which type a case is at, should it fail. */
static void expect_same(const spmd_block *got, const spmd_block *expected)
{
    if (!EXPECT(same(got, expected)))
        fprintf(stderr, "rank %d: of type %s\n", test_rank, spmd_dtype_name(expected->dtype));
}

/* Rank r has 5r, ..., 5r + 4: sums are 5n(n - 1)/2 + ni. */
static spmd_status sum_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size;
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype dtype = dtypes[t], sum_dtype = spmd_psum_dtype(dtype);
        if (dtype == SPMD_BOOL)
            continue;
        spmd_block *in = count_from(ctx, dtype, SPMD_SHAPE(5, 1), 5 * test_rank);
        spmd_block *out = spmd_temp(ctx, sum_dtype, SPMD_SHAPE(5, 1));
        spmd_block *expected = spmd_temp(ctx, sum_dtype, SPMD_SHAPE(5, 1));
        size_t element = spmd_dtype_size(sum_dtype);
        spmd_block *table = count_from(ctx, sum_dtype, SPMD_SHAPE(512), 0);
        for (int64_t i = 0; i < 5; i++)
            memcpy((char *)expected->data + (size_t)i * element,
                   (char *)table->data + (size_t)(5 * n * (n - 1) / 2 + n * i) * element, element);
        EXPECT(sum_dtype == dtype);
        EXPECT_OK(spmd_psum(ctx, in, "x,y", out));
        expect_same(out, expected);
        EXPECT_OK(spmd_psum(ctx, in, "x,y", in)); /* in place */
        expect_same(in, expected);
    }
    return SPMD_OK;
}

static void psum_of_every_type(void)
{
    run(sum_all_types, NULL);
}

static spmd_status order_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype dtype = dtypes[t];
        spmd_block *in = count_from(ctx, dtype, SPMD_SHAPE(1, 7), 7 * test_rank);
        spmd_block *out = spmd_temp(ctx, dtype, SPMD_SHAPE(1, 7));
        if (is_complex(dtype)) {
            EXPECT_FAILS(spmd_pmax(ctx, in, "x,y", out), SPMD_ERR_DTYPE, spmd_dtype_name(dtype));
            EXPECT_FAILS(spmd_pmin(ctx, in, "x,y", out), SPMD_ERR_DTYPE, spmd_dtype_name(dtype));
            continue;
        }
        if (dtype == SPMD_BOOL)
            continue;
        EXPECT_OK(spmd_pmin(ctx, in, "x,y", out));
        expect_same(out, count_from(ctx, dtype, SPMD_SHAPE(1, 7), 0));
        EXPECT_OK(spmd_pmax(ctx, in, "x,y", in));
        expect_same(in, count_from(ctx, dtype, SPMD_SHAPE(1, 7), 7 * (test_size - 1)));
    }
    return SPMD_OK;
}

static void pmax_and_pmin_of_every_type(void)
{
    run(order_all_types, NULL);
}

static spmd_status flags(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in = count_from(ctx, SPMD_BOOL, SPMD_SHAPE(3), test_rank);
    spmd_block *counts = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(3));
    spmd_block *means = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    spmd_block *any = spmd_temp(ctx, SPMD_BOOL, SPMD_SHAPE(3));
    spmd_block *all = spmd_temp(ctx, SPMD_BOOL, SPMD_SHAPE(3));
    EXPECT(spmd_psum_dtype(SPMD_BOOL) == SPMD_I32);
    EXPECT_OK(spmd_psum(ctx, in, "x,y", counts));
    EXPECT_OK(spmd_pmean(ctx, in, "x,y", means));
    EXPECT_OK(spmd_pmax(ctx, in, "x,y", any));
    EXPECT_OK(spmd_pmin(ctx, in, "x,y", all));
    for (int i = 0; i < 3; i++) {
        int odd = (test_size + i % 2) / 2;
        EXPECT(((int32_t *)counts->data)[i] == odd);
        EXPECT(((float *)means->data)[i] == (float)odd / (float)test_size);
        EXPECT(((bool *)any->data)[i] == (odd > 0));
        EXPECT(((bool *)all->data)[i] == (odd == test_size));
    }
    EXPECT_FAILS(spmd_psum(ctx, in, "x,y", any), SPMD_ERR_DTYPE, "bool");
    return SPMD_OK;
}

static void bool_is_counted(void)
{
    run(flags, NULL);
}

static spmd_status complex_parts(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *narrow = spmd_temp(ctx, SPMD_C64, SPMD_SCALAR);
    spmd_block *wide = spmd_temp(ctx, SPMD_C128, SPMD_SCALAR);
    float n = (float)test_size, *single = narrow->data;
    double *twice = wide->data;
    single[0] = 1, single[1] = (float)test_rank;
    twice[0] = test_rank, twice[1] = -0.5;
    EXPECT_OK(spmd_psum(ctx, narrow, "x,y", narrow));
    EXPECT(single[0] == n && single[1] == n * (n - 1) / 2);
    EXPECT_OK(spmd_pmean(ctx, wide, "x,y", wide));
    EXPECT(twice[0] == (double)(n - 1) / 2 && twice[1] == -0.5);
    return SPMD_OK;
}

static void complex_numbers_are_summed_by_parts(void)
{
    run(complex_parts, NULL);
}

/* Rank r has 2r and 2r + 1: the mean of element i is n - 1 + i. */
static spmd_status mean_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype dtype = dtypes[t], mean_dtype = spmd_pmean_dtype(dtype);
        if (dtype == SPMD_BOOL)
            continue;
        spmd_block *in = count_from(ctx, dtype, SPMD_SHAPE(2), 2 * test_rank);
        spmd_block *out = spmd_temp(ctx, mean_dtype, SPMD_SHAPE(2));
        EXPECT_OK(spmd_pmean(ctx, in, "x,y", out));
        expect_same(out, count_from(ctx, mean_dtype, SPMD_SHAPE(2), test_size - 1));
    }
    return SPMD_OK;
}

static void pmean_of_every_type(void)
{
    run(mean_all_types, NULL);
}

static void types_of_sums_and_means(void)
{
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype dtype = dtypes[t];
        bool is_long = dtype == SPMD_I64 || dtype == SPMD_U64;
        bool is_whole = dtype <= SPMD_U64; /* bool, i8 ... u64 come first in the list */
        EXPECT(spmd_psum_dtype(dtype) == (dtype == SPMD_BOOL ? SPMD_I32 : dtype));
        EXPECT(spmd_pmean_dtype(dtype) == (is_long ? SPMD_F64 : is_whole ? SPMD_F32 : dtype));
    }
}

/* One step above where neighbours are 2 apart, and n - 1 ones: rounded once, none is lost. */
static spmd_status half_sums(spmd_ctx *ctx, void *user)
{
    static const struct {
        spmd_dtype dtype;
        uint16_t large, one, greatest;
    } halves[] = {{SPMD_F16, 0x6800, 0x3c00, 0x7bff}, {SPMD_BF16, 0x4380, 0x3f80, 0x7f7f}};
    (void)user;
    for (int h = 0; h < 2; h++) {
        spmd_block *block = spmd_temp(ctx, halves[h].dtype, SPMD_SHAPE(1));
        uint16_t *element = block->data;
        *element = test_rank == 0 ? halves[h].large : halves[h].one;
        EXPECT_OK(spmd_psum(ctx, block, "x,y", block));
        EXPECT(*element == halves[h].large + (int)nearbyint((test_size - 1) / 2.0));
        *element = test_rank == 0 ? halves[h].greatest : 0;
        EXPECT_OK(spmd_pmax(ctx, block, "x,y", block));
        EXPECT(*element == halves[h].greatest);
    }
    spmd_block *block = spmd_temp(ctx, SPMD_F16, SPMD_SHAPE(1));
    *(uint16_t *)block->data = halves[0].greatest;
    EXPECT_OK(spmd_pmean(ctx, block, "x,y", block));
    EXPECT(*(uint16_t *)block->data == halves[0].greatest);
    return SPMD_OK;
}

static void halves_are_carried_in_f32(void)
{
    run(half_sums, NULL);
}

/* Rank r has a NaN as element r, and numbers elsewhere; the last element is a number on all. */
static spmd_status not_numbers(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = test_size;
    spmd_block *single = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(n + 1));
    spmd_block *wide = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(n + 1));
    spmd_block *half = spmd_temp(ctx, SPMD_F16, SPMD_SHAPE(n + 1));
    spmd_block *brain = spmd_temp(ctx, SPMD_BF16, SPMD_SHAPE(n + 1));
    for (int down = 0; down < 2; down++) {
        for (int64_t i = 0; i <= n; i++) {
            bool mine = i == test_rank;
            ((float *)single->data)[i] = mine ? NAN : (float)test_rank;
            ((double *)wide->data)[i] = mine ? NAN : down ? INFINITY : -INFINITY;
            ((uint16_t *)half->data)[i] = mine ? 0x7e00 : 0;
            ((uint16_t *)brain->data)[i] = mine ? 0x7fc0 : 0x3f80;
        }
        spmd_status (*extreme)(spmd_ctx *, const spmd_block *, const char *, spmd_block *) =
            down ? spmd_pmin : spmd_pmax;
        EXPECT_OK(extreme(ctx, single, "x,y", single));
        EXPECT_OK(extreme(ctx, wide, "x,y", wide));
        EXPECT_OK(extreme(ctx, half, "x,y", half));
        EXPECT_OK(extreme(ctx, brain, "x,y", brain));
        for (int64_t i = 0; i < n; i++) {
            EXPECT(isnan(((float *)single->data)[i]));
            EXPECT(isnan(((double *)wide->data)[i]));
            EXPECT((((uint16_t *)half->data)[i] & 0x7fff) > 0x7c00);
            EXPECT((((uint16_t *)brain->data)[i] & 0x7fff) > 0x7f80);
        }
        EXPECT(((float *)single->data)[n] == (down ? 0 : n - 1));
        EXPECT(((double *)wide->data)[n] == (down ? INFINITY : -INFINITY));
        EXPECT(((uint16_t *)half->data)[n] == 0);
        EXPECT(((uint16_t *)brain->data)[n] == 0x3f80);
    }
    return SPMD_OK;
}

static void not_a_number_wins(void)
{
    run(not_numbers, NULL);
}

static spmd_status whole_extremes(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *block = spmd_temp(ctx, SPMD_U64, SPMD_SHAPE(1));
    uint64_t *large = block->data, top = UINT64_MAX - (uint64_t)(test_size - 1);
    *large = UINT64_MAX - (uint64_t)test_rank;
    EXPECT_OK(spmd_pmin(ctx, block, "x,y", block));
    EXPECT(*large == top);
    *large = test_rank == 0 ? UINT64_MAX : 1;
    EXPECT_OK(spmd_psum(ctx, block, "x,y", block));
    EXPECT(*large == (uint64_t)(test_size - 2)); /* wraps */
    spmd_block *small = spmd_temp(ctx, SPMD_I8, SPMD_SHAPE(1));
    *(int8_t *)small->data = (int8_t)-test_rank;
    EXPECT_OK(spmd_pmax(ctx, small, "x,y", small));
    EXPECT(*(int8_t *)small->data == 0);
    *(int8_t *)small->data = (int8_t)(-100 - test_rank);
    EXPECT_OK(spmd_pmin(ctx, small, "x,y", small));
    EXPECT(*(int8_t *)small->data == -100 - (test_size - 1));
    spmd_block *longs = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(1));
    *(int64_t *)longs->data = INT64_MAX / 8 - test_rank; /* a double would round it */
    EXPECT_OK(spmd_psum(ctx, longs, "x,y", longs));
    EXPECT(*(int64_t *)longs->data ==
           test_size * (INT64_MAX / 8) - test_size * (test_size - 1) / 2);
    return SPMD_OK;
}

static void whole_numbers_are_exact_to_their_ends(void)
{
    run(whole_extremes, NULL);
}

static spmd_status empty_blocks(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_shape shape;
    spmd_block *in = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(0, 3));
    EXPECT_OK(spmd_psum(ctx, in, "x,y", in));
    EXPECT_OK(spmd_pmax(ctx, in, "x,y", in));
    EXPECT_OK(spmd_pmean(ctx, in, "x", in));
    EXPECT_OK(spmd_pbroadcast(ctx, in, "x,y", 0, in));
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "x,y", 1, SPMD_TILED, &shape));
    EXPECT(spmd_shape_equal(shape, SPMD_SHAPE(0, 3 * test_size)));
    EXPECT_OK(spmd_all_gather(ctx, in, "x,y", 1, SPMD_TILED, spmd_temp(ctx, SPMD_F32, shape)));
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "x,y", -1, SPMD_UNTILED, &shape));
    EXPECT(spmd_shape_equal(shape, SPMD_SHAPE(0, 3, test_size)));
    EXPECT_OK(spmd_all_gather(ctx, in, "x,y", -1, SPMD_UNTILED, spmd_temp(ctx, SPMD_F32, shape)));
    return SPMD_OK;
}

/* Nothing lies there, so the extents need not fit together; what they would add up to must fit. */
static spmd_status endless_blocks(spmd_ctx *ctx, void *user)
{
    const int64_t zeros[8] = {0};
    spmd_shape shape;
    (void)user;
    spmd_block *in = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(INT64_MAX, 0, INT64_MAX));
    EXPECT_OK(spmd_psum(ctx, in, "x,y", in));
    EXPECT_OK(spmd_ragged_all_to_all(ctx, in, "x,y", test_size, zeros, zeros, zeros, zeros, in));
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "x,y", 1, SPMD_TILED, &shape));
    EXPECT_OK(spmd_all_gather(ctx, in, "x,y", 1, SPMD_TILED, spmd_temp(ctx, SPMD_F32, shape)));
    EXPECT_OK(spmd_psum_scatter_shape(ctx, in, "x,y", 0, SPMD_TILED, &shape));
    EXPECT_OK(spmd_psum_scatter(ctx, in, "x,y", 0, SPMD_TILED, spmd_temp(ctx, SPMD_F32, shape)));
    EXPECT_OK(spmd_all_to_all_shape(ctx, in, "x,y", 0, 1, SPMD_TILED, &shape));
    EXPECT_OK(spmd_all_to_all(ctx, in, "x,y", 0, 1, SPMD_TILED, spmd_temp(ctx, SPMD_F32, shape)));
    if (test_size == 1)
        return SPMD_OK;
    EXPECT_FAILS(spmd_all_gather_shape(ctx, in, "x,y", 0, SPMD_TILED, &shape), SPMD_ERR_SHAPE,
                 "more than 2^63 - 1 elements");
    EXPECT_FAILS(spmd_all_to_all_shape(ctx, in, "x,y", 1, 0, SPMD_TILED, &shape), SPMD_ERR_SHAPE,
                 "more than 2^63 - 1 elements");
    return SPMD_OK;
}

static void endless_blocks_take_part(void)
{
    run(endless_blocks, NULL);
}

static void empty_blocks_take_part(void)
{
    run(empty_blocks, NULL);
}

static spmd_status along_one_axis(spmd_ctx *ctx, void *user)
{
    (void)user;
    int rows = test_size / columns(), x = test_rank / columns(), y = test_rank % columns();
    spmd_block *block = spmd_temp(ctx, SPMD_I32, SPMD_SCALAR);
    int32_t *value = block->data;
    *value = test_rank;
    EXPECT_OK(spmd_psum(ctx, block, "x", block));
    EXPECT(*value == columns() * rows * (rows - 1) / 2 + rows * y);
    *value = test_rank;
    EXPECT_OK(spmd_psum(ctx, block, "y", block));
    EXPECT(*value == columns() * columns() * x + columns() * (columns() - 1) / 2);
    EXPECT_OK(spmd_psum(ctx, block, "x", block)); /* the second sums what the first gave */
    EXPECT(*value == test_size * (test_size - 1) / 2);
    EXPECT_OK(spmd_psum(ctx, block, "y", block)); /* equal copies are counted */
    EXPECT(*value == columns() * test_size * (test_size - 1) / 2);
    return SPMD_OK;
}

static void groups_are_the_ranks_along_the_axes(void)
{
    run(along_one_axis, NULL);
}

static spmd_status no_axes(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_shape shape;
    spmd_block *in = count_from(ctx, SPMD_F64, SPMD_SHAPE(3), test_rank);
    spmd_block *out = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(3));
    EXPECT_OK(spmd_psum(ctx, in, "", out));
    expect_same(out, in);
    EXPECT_OK(spmd_pmean(ctx, in, "()", out));
    expect_same(out, in);
    EXPECT_OK(spmd_pmax(ctx, in, "", out));
    expect_same(out, in);
    EXPECT_OK(spmd_pbroadcast(ctx, in, "", 0, out));
    expect_same(out, in);
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "", 0, SPMD_TILED, &shape));
    EXPECT(spmd_shape_equal(shape, SPMD_SHAPE(3)));
    EXPECT_OK(spmd_all_gather(ctx, in, "", 0, SPMD_TILED, out));
    expect_same(out, in);
    EXPECT(spmd_axis_index(ctx, "") == 0 && spmd_axis_size(ctx, "") == 1);
    return SPMD_OK;
}

static void without_axes_nothing_changes(void)
{
    run(no_axes, NULL);
}

static spmd_status indices(spmd_ctx *ctx, void *user)
{
    (void)user;
    int rows = test_size / columns(), x = test_rank / columns(), y = test_rank % columns();
    EXPECT(spmd_axis_index(ctx, "x") == x && spmd_axis_size(ctx, "x") == rows);
    EXPECT(spmd_axis_index(ctx, "y") == y && spmd_axis_size(ctx, "y") == columns());
    EXPECT(spmd_axis_index(ctx, "x,y") == x * columns() + y);
    EXPECT(spmd_axis_index(ctx, "(y,x)") == y * rows + x);
    EXPECT(spmd_axis_size(ctx, "y,x") == test_size);
    EXPECT(spmd_axis_index(ctx, "q") == -1 && spmd_axis_size(ctx, "q") == -1);
    EXPECT(spmd_axis_index(ctx, "x,x") == -1);
    return SPMD_OK;
}

static void places_along_axes(void)
{
    run(indices, NULL);
}

/* Where the rank at place `member` of the group along `axes` has index i, j of its 2 x 3 block. */
static int64_t value_at(int64_t member, int64_t i, int64_t j)
{
    return 100 * member + 10 * i + j;
}

static spmd_block *labelled(spmd_ctx *ctx, const char *axes)
{
    spmd_block *block = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(2, 3));
    for (int64_t k = 0; k < 6; k++)
        ((int64_t *)block->data)[k] = value_at(spmd_axis_index(ctx, axes), k / 3, k % 3);
    return block;
}

/* Element m, i, j of a gather along `dim` (the new one, or the joined one). */
static int64_t gathered(const spmd_block *out, int dim, spmd_tiling tiling, int64_t m, int64_t i,
                        int64_t j)
{
    int64_t index[3] = {i, j, 0};
    if (tiling == SPMD_TILED) {
        index[dim] += m * (dim == 0 ? 2 : 3);
    } else {
        memmove(index + dim + 1, index + dim, sizeof(int64_t) * (size_t)(2 - dim));
        index[dim] = m;
    }
    int64_t at = 0;
    for (int d = 0; d < out->ndim; d++)
        at += index[d] * out->stride[d];
    return ((int64_t *)out->data)[at];
}

static void expect_gather(spmd_ctx *ctx, const char *axes, int dim, spmd_tiling tiling)
{
    spmd_block *in = labelled(ctx, axes);
    int64_t members = spmd_axis_size(ctx, axes);
    int ndim = tiling == SPMD_TILED ? 2 : 3, from_start = dim < 0 ? dim + ndim : dim;
    spmd_shape shape = {0};
    if (!EXPECT_OK(spmd_all_gather_shape(ctx, in, axes, dim, tiling, &shape)))
        return;
    EXPECT(shape.ndim == ndim && spmd_shape_size(shape) == 6 * members);
    spmd_block *out = spmd_temp(ctx, SPMD_I64, shape);
    EXPECT_OK(spmd_all_gather(ctx, in, axes, dim, tiling, out));
    for (int64_t m = 0; m < members; m++)
        for (int64_t k = 0; k < 6; k++)
            EXPECT(gathered(out, from_start, tiling, m, k / 3, k % 3) == value_at(m, k / 3, k % 3));
}

static spmd_status gather_everywhere(spmd_ctx *ctx, void *user)
{
    static const char *const lists[] = {"x", "y", "x,y", "y,x"};
    (void)user;
    for (int a = 0; a < 4; a++) {
        for (int dim = -2; dim < 2; dim++)
            expect_gather(ctx, lists[a], dim, SPMD_TILED);
        for (int dim = -3; dim < 3; dim++)
            expect_gather(ctx, lists[a], dim, SPMD_UNTILED);
    }
    return SPMD_OK;
}

static void all_gather_along_every_dim(void)
{
    run(gather_everywhere, NULL);
}

static spmd_status gather_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int t = 0; t < DTYPES; t++) {
        spmd_block *in = count_from(ctx, dtypes[t], SPMD_SHAPE(3), 3 * test_rank);
        spmd_block *out = spmd_temp(ctx, dtypes[t], SPMD_SHAPE(3 * test_size));
        EXPECT_OK(spmd_all_gather(ctx, in, "x,y", 0, SPMD_TILED, out));
        expect_same(out, count_from(ctx, dtypes[t], SPMD_SHAPE(3 * test_size), 0));
        spmd_block *scalar = count_from(ctx, dtypes[t], SPMD_SCALAR, test_rank);
        spmd_block *row = spmd_temp(ctx, dtypes[t], SPMD_SHAPE(test_size));
        EXPECT_OK(spmd_all_gather(ctx, scalar, "x,y", 0, SPMD_UNTILED, row));
        expect_same(row, count_from(ctx, dtypes[t], SPMD_SHAPE(test_size), 0));
    }
    return SPMD_OK;
}

static void all_gather_of_every_type(void)
{
    run(gather_all_types, NULL);
}

/* What an uneven case gathers: input 0 along a dimension over some axes gives an array that
 * counts, all of it. */
struct uneven {
    const char *axes;
    int dim;
};

static spmd_status gather_uneven(spmd_ctx *ctx, void *user)
{
    const struct uneven *uneven = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape = {0}, global = spmd_shape_make(in->ndim, in->global);
    if (!EXPECT_OK(spmd_all_gather_shape(ctx, in, uneven->axes, uneven->dim, SPMD_TILED, &shape)))
        return SPMD_OK;
    EXPECT(spmd_shape_equal(shape, global));
    spmd_block *out = spmd_temp(ctx, SPMD_I32, shape);
    EXPECT_OK(spmd_all_gather(ctx, in, uneven->axes, uneven->dim, SPMD_TILED, out));
    for (int64_t i = 0; i < spmd_shape_size(global); i++)
        EXPECT(((int32_t *)out->data)[i] == i);
    return SPMD_OK;
}

static void all_gather_of_uneven_blocks(void)
{
    static const struct {
        const char *spec;
        struct uneven uneven;
    } cases[] = {{"P((x,y), -)", {"x,y", 0}},
                 {"P(-, (x,y))", {"x,y", 1}},
                 {"P(-, (y,x))", {"y,x", -1}},
                 {"P((y,x))", {"y,x", -2}}};
    spmd_mesh *mesh = NULL;
    char text[40];
    snprintf(text, sizeof text, "x=*,y=%d", columns());
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    for (int c = 0; c < 4; c++)
        for (int64_t n = 0; n <= 2 * test_size + 1; n++) {
            spmd_array *in = NULL;
            struct uneven uneven = cases[c].uneven;
            spmd_shape shape = cases[c].spec[2] == '-' ? SPMD_SHAPE(3, n) : SPMD_SHAPE(n, 3);
            EXPECT_OK(spmd_array_arange(mesh, cases[c].spec, SPMD_I32, shape, &in));
            EXPECT_OK(spmd_shard_map(mesh, gather_uneven, &uneven, 1, SPMD_ARRAYS(in),
                                     SPMD_SPECS(cases[c].spec), 0, NULL, NULL, NULL));
            spmd_array_free(&in);
        }
    spmd_mesh_free(&mesh);
}

/* Members stand in the order of the axes as given, whatever their sizes. */
static spmd_status gather_in_another_order(spmd_ctx *ctx, void *user)
{
    const spmd_sharding *sharding = user;
    const spmd_block *in = spmd_in(ctx, 0);
    int64_t rows = spmd_axis_size(ctx, "x"), at = 0;
    spmd_shape shape = {0};
    EXPECT_OK(spmd_all_gather_shape(ctx, in, "y,x", 0, SPMD_TILED, &shape));
    EXPECT(spmd_shape_equal(shape, SPMD_SHAPE(in->global[0])));
    spmd_block *out = spmd_temp(ctx, SPMD_I32, shape);
    EXPECT_OK(spmd_all_gather(ctx, in, "y,x", 0, SPMD_TILED, out));
    for (int64_t member = 0; member < test_size; member++) {
        int64_t position = member % rows * columns() + member / rows;
        spmd_box box;
        EXPECT_OK(spmd_sharding_box(sharding, shape, position, &box));
        for (int64_t i = box.lo[0]; i < box.hi[0]; i++)
            EXPECT(((int32_t *)out->data)[at++] == i);
    }
    return SPMD_OK;
}

static void all_gather_in_another_order(void)
{
    spmd_mesh *mesh = NULL;
    spmd_sharding *sharding = NULL;
    spmd_array *in = NULL;
    char text[40];
    snprintf(text, sizeof text, "x=*,y=%d", columns());
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    EXPECT_OK(spmd_sharding_create(mesh, "P((x,y))", &sharding));
    EXPECT_OK(spmd_array_arange(mesh, "P((x,y))", SPMD_I32, SPMD_SHAPE(2 * test_size + 1), &in));
    EXPECT_OK(spmd_shard_map(mesh, gather_in_another_order, sharding, 1, SPMD_ARRAYS(in),
                             SPMD_SPECS("P((x,y))"), 0, NULL, NULL, NULL));
    spmd_array_free(&in);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static spmd_status broadcast(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int64_t source = 0; source < test_size; source++) {
        spmd_block *in = count_from(ctx, SPMD_F32, SPMD_SHAPE(5), 5 * test_rank);
        spmd_block *out = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(5));
        EXPECT_OK(spmd_pbroadcast(ctx, in, "x,y", source, out));
        expect_same(out, count_from(ctx, SPMD_F32, SPMD_SHAPE(5), 5 * source));
        expect_same(in, count_from(ctx, SPMD_F32, SPMD_SHAPE(5), 5 * test_rank));
        EXPECT_OK(spmd_pbroadcast(ctx, in, "x,y", source, in));
        expect_same(in, out);
    }
    spmd_block *along = labelled(ctx, "x,y");
    int64_t last = columns() - 1, row = test_rank / columns();
    EXPECT_OK(spmd_pbroadcast(ctx, along, "y", last, along));
    EXPECT(*(int64_t *)along->data == value_at(row * columns() + last, 0, 0));
    EXPECT(spmd_pbroadcast(ctx, along, "x,y", test_size, along) != SPMD_OK);
    EXPECT(spmd_pbroadcast(ctx, along, "x,y", -1, along) != SPMD_OK);
    return SPMD_OK;
}

static void pbroadcast_from_every_member(void)
{
    run(broadcast, NULL);
}

static spmd_status wrong_calls(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(4));
    spmd_block *shorter = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    spmd_block *column = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(4, 1));
    spmd_block *whole = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(4));
    spmd_block turned = spmd_block_borrow(in->data, SPMD_F32, SPMD_SHAPE(2, 2));
    spmd_block *square = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(2, 2));
    spmd_shape shape;
    turned.stride[0] = 1;
    turned.stride[1] = 2;
    EXPECT_FAILS(spmd_psum(ctx, &turned, "x", square), SPMD_ERR_SHAPE, "its input has strides");
    EXPECT_FAILS(spmd_pmax(ctx, square, "x", &turned), SPMD_ERR_SHAPE, "out has strides");
    EXPECT_FAILS(spmd_psum(ctx, in, "q", in), SPMD_ERR_MESH, "no axis q; name one of its own");
    EXPECT_FAILS(spmd_psum(ctx, in, "x,x", in), SPMD_ERR_MESH, "twice");
    EXPECT_FAILS(spmd_psum(ctx, in, "x,", in), SPMD_ERR_SYNTAX, "x,");
    EXPECT_FAILS(spmd_psum(ctx, in, "x", shorter), SPMD_ERR_SHAPE, "f32[4]");
    EXPECT_FAILS(spmd_pmean(ctx, in, "x", column), SPMD_ERR_SHAPE, "f32[4,1]");
    EXPECT_FAILS(spmd_pmax(ctx, in, "x", whole), SPMD_ERR_DTYPE, "i32[4]");
    EXPECT_FAILS(spmd_pmean(ctx, whole, "x", whole), SPMD_ERR_DTYPE, "f32[4]");
    EXPECT_FAILS(spmd_pbroadcast(ctx, in, "x", 0, whole), SPMD_ERR_DTYPE, "i32[4]");
    EXPECT_FAILS(spmd_all_gather(ctx, in, "x,y", 0, SPMD_UNTILED, in), SPMD_ERR_SHAPE, "f32[4]");
    EXPECT_FAILS(spmd_all_gather(ctx, in, "q", 0, SPMD_TILED, in), SPMD_ERR_MESH,
                 "no axis q; name one of its own");
    EXPECT_FAILS(spmd_all_gather_shape(ctx, in, "x", 1, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "all_gather over x: there is no dim 1, only -1 to 0");
    EXPECT_FAILS(spmd_all_gather_shape(ctx, in, "x", -2, SPMD_TILED, &shape), SPMD_ERR_ARGUMENT,
                 "all_gather over x: there is no dim -2, only -1 to 0");
    EXPECT(spmd_axis_index(ctx, "q") == -1 && spmd_axis_size(ctx, "q") == -1);
    EXPECT(strstr(spmd_error_message(), "no axis q; name one of its own") != NULL);
    EXPECT(spmd_all_gather_shape(ctx, in, "x", 2, SPMD_UNTILED, &shape) != SPMD_OK);
    EXPECT(spmd_all_gather_shape(ctx, in, "x", -3, SPMD_UNTILED, &shape) != SPMD_OK);
    spmd_block *scalar = spmd_temp(ctx, SPMD_F32, SPMD_SCALAR);
    EXPECT(spmd_all_gather_shape(ctx, scalar, "x", 0, SPMD_TILED, &shape) != SPMD_OK);
    EXPECT(spmd_psum(ctx, NULL, "x", in) != SPMD_OK);
    EXPECT(spmd_psum(ctx, in, "x", NULL) != SPMD_OK);
    EXPECT(spmd_psum(ctx, in, NULL, in) != SPMD_OK);
    return SPMD_OK;
}

/* In memory of one block: its beginning and its end, with an element in both; and flags. */
static spmd_status overlapping_blocks(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_request *request = NULL;
    spmd_block *whole = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(7));
    int32_t *data = whole->data;
    memset(data, 0, 7 * sizeof *data);
    spmd_block head = spmd_block_borrow(data, SPMD_I32, SPMD_SHAPE(4));
    spmd_block tail = spmd_block_borrow(data + 3, SPMD_I32, SPMD_SHAPE(4));
    spmd_block next = spmd_block_borrow(data + 4, SPMD_I32, SPMD_SHAPE(3));
    spmd_block last = spmd_block_borrow(data + 1, SPMD_I32, SPMD_SHAPE(3));
    spmd_block flags = spmd_block_borrow(data, SPMD_BOOL, SPMD_SHAPE(7));
    spmd_block none = spmd_block_borrow(data + 1, SPMD_I32, SPMD_SHAPE(0));
    const char *part = "out overlaps its input";
    EXPECT_FAILS(spmd_psum(ctx, &head, "x", &tail), SPMD_ERR_ARGUMENT, part);
    EXPECT_FAILS(spmd_pmin(ctx, &tail, "x", &head), SPMD_ERR_ARGUMENT, part);
    EXPECT_FAILS(spmd_psum_start(ctx, &head, "x", &tail, &request), SPMD_ERR_ARGUMENT, part);
    EXPECT_FAILS(spmd_all_gather(ctx, &last, "x", 0, SPMD_TILED, whole), SPMD_ERR_ARGUMENT, part);
    EXPECT_FAILS(spmd_psum(ctx, &flags, "x", whole), SPMD_ERR_ARGUMENT, part);
    EXPECT_OK(spmd_psum(ctx, &last, "x", &next));
    EXPECT_OK(spmd_psum(ctx, &next, "x", &last));
    EXPECT_OK(spmd_psum(ctx, whole, "x", whole));
    EXPECT_OK(spmd_psum(ctx, &none, "x", &none));
    return SPMD_OK;
}

static void blocks_that_overlap_are_refused(void)
{
    run(overlapping_blocks, NULL);
}

/* Blocks that programs made. `shape` asks, and needs no memory. */
static void expect_refused(spmd_ctx *ctx, spmd_block block, spmd_status wanted, bool shape)
{
    const spmd_halo halo[SPMD_MAX_DIMS + 1] = {{"x", 1, 1, true}};
    const spmd_vmap_options named = {.axis_name = "v", .axis_size = 2};
    spmd_block *made = NULL, *given = &block, *good = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(4));
    spmd_block same = block;
    spmd_shape asked;
    EXPECT_FAILS(spmd_psum(ctx, &block, "x", &same), wanted, "the block to read");
    EXPECT_FAILS(spmd_psum(ctx, good, "x", &same), wanted, "the block to write");
    EXPECT_FAILS(spmd_halo_exchange(ctx, &block, halo), wanted, "the block of a border");
    EXPECT_FAILS(spmd_block_print(ctx, "odd", &block, stderr), wanted, "the block odd");
    EXPECT_FAILS(spmd_vmap(ctx, wrong_calls, NULL, 1, SPMD_BLOCKS(&block), SPMD_AXES(0), 1, &made,
                           SPMD_AXES(0), NULL),
                 wanted, "input 0");
    EXPECT_FAILS(spmd_vmap(ctx, wrong_calls, NULL, 0, NULL, NULL, 1, &given, SPMD_AXES(0), &named),
                 wanted, "output 0");
    if (shape)
        EXPECT_FAILS(spmd_all_gather_shape(ctx, &block, "x", 0, SPMD_TILED, &asked), wanted, "");
}

static spmd_status odd_blocks(spmd_ctx *ctx, void *user)
{
    const spmd_block *good = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(4));
    spmd_block block = *good;
    (void)user;
    block.dtype = (spmd_dtype)99;
    expect_refused(ctx, block, SPMD_ERR_DTYPE, true);
    block.dtype = SPMD_DTYPE_NONE;
    expect_refused(ctx, block, SPMD_ERR_DTYPE, true);
    block = *good;
    block.ndim = SPMD_MAX_DIMS + 1;
    expect_refused(ctx, block, SPMD_ERR_SHAPE, true);
    block.ndim = -1;
    expect_refused(ctx, block, SPMD_ERR_SHAPE, true);
    block = *good;
    block.shape[0] = -4;
    expect_refused(ctx, block, SPMD_ERR_SHAPE, true);
    block.shape[0] = INT64_MAX;
    expect_refused(ctx, block, SPMD_ERR_SHAPE, true);
    block = *good;
    block.data = NULL;
    expect_refused(ctx, block, SPMD_ERR_ARGUMENT, false);
    return SPMD_OK;
}

static void odd_blocks_are_refused(void)
{
    run(odd_blocks, NULL);
}

static void wrong_calls_are_refused(void)
{
    run(wrong_calls, NULL);
}

static spmd_status sum_input(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, "x", spmd_out(ctx, 0, SPMD_F32, spmd_block_shape(in)));
}

static void sums_of_uneven_blocks_are_refused(void)
{
    spmd_mesh *mesh = NULL;
    spmd_array *in = NULL, *out = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(2 * test_size + 1), &in));
    spmd_status status = spmd_shard_map(mesh, sum_input, NULL, 1, &in, SPMD_SPECS("P(x)"), 1, &out,
                                        SPMD_SPECS("P()"), NULL);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_SHAPE, "psum needs equal blocks");
    else
        EXPECT_OK(status);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("collective", CASE(psum_of_every_type), CASE(pmax_and_pmin_of_every_type),
             CASE(bool_is_counted), CASE(complex_numbers_are_summed_by_parts),
             CASE(pmean_of_every_type), CASE(types_of_sums_and_means),
             CASE(halves_are_carried_in_f32), CASE(not_a_number_wins),
             CASE(whole_numbers_are_exact_to_their_ends), CASE(empty_blocks_take_part),
             CASE(endless_blocks_take_part), CASE(groups_are_the_ranks_along_the_axes),
             CASE(without_axes_nothing_changes), CASE(places_along_axes),
             CASE(all_gather_along_every_dim), CASE(all_gather_of_every_type),
             CASE(all_gather_of_uneven_blocks), CASE(all_gather_in_another_order),
             CASE(pbroadcast_from_every_member), CASE(sums_of_uneven_blocks_are_refused),
             CASE(wrong_calls_are_refused), CASE(odd_blocks_are_refused),
             CASE(blocks_that_overlap_are_refused))
