/* collective_sum.c - MPI tests of sums, means and extremes: known results, groups of ranks, which
 * member has the greatest element. */
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

/* Runs a body; ranks that the mesh does not need are idle. */
static void run_on(const char *text, spmd_body *body, void *user)
{
    spmd_mesh *mesh = NULL;
    if (!EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh)))
        return;
    EXPECT_OK(spmd_shard_map(mesh, body, user, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* A scratch row of `n` numbers. */
static spmd_block *row_of(spmd_ctx *ctx, int64_t n, const float values[])
{
    spmd_block *row = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(n));
    memcpy(row->data, values, (size_t)n * sizeof *values);
    return row;
}

static void expect_row(const spmd_block *row, const float values[])
{
    for (int64_t i = 0; i < spmd_block_size(row); i++)
        EXPECT(((float *)row->data)[i] == values[i]);
}

static spmd_status along_a_row(spmd_ctx *ctx, void *user)
{
    static const float a[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
    (void)user;
    int64_t member = spmd_axis_index(ctx, "i");
    float index = (float)member;
    spmd_block *row = row_of(ctx, 4, a + 4 * member);
    EXPECT_OK(spmd_psum(ctx, row, "i", row));
    expect_row(row, (const float[]){22, 20, 12, 17});
    spmd_block *one = row_of(ctx, 1, &index);
    EXPECT_OK(spmd_pmean(ctx, one, "i", one));
    expect_row(one, (const float[]){1.5});
    one = row_of(ctx, 1, (const float[]){1});
    EXPECT_OK(spmd_psum(ctx, one, "i", one));
    expect_row(one, (const float[]){4});
    one = row_of(ctx, 1, &index);
    EXPECT_OK(spmd_psum(ctx, one, "i", one));
    EXPECT_OK(spmd_psum(ctx, one, "i", one)); /* of equal numbers: four times as much */
    expect_row(one, (const float[]){24});
    spmd_block *pair = row_of(ctx, 2, (const float[]){2 * index, 2 * index + 1});
    spmd_block *out = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(2));
    EXPECT_OK(spmd_pmin(ctx, pair, "i", out));
    expect_row(out, (const float[]){0, 1});
    EXPECT_OK(spmd_pmax(ctx, pair, "i", out));
    expect_row(out, (const float[]){6, 7});
    return SPMD_OK;
}

/* Blocks 2 x 2 of 4 x 4 numbers that count. */
static spmd_status along_a_square(spmd_ctx *ctx, void *user)
{
    static const float columns[2][4] = {{8, 10, 12, 14}, {16, 18, 20, 22}};
    (void)user;
    int64_t i = spmd_axis_index(ctx, "i"), j = spmd_axis_index(ctx, "j");
    float corner = (float)(8 * i + 2 * j);
    spmd_block *block = row_of(ctx, 4, (const float[]){corner, corner + 1, corner + 4, corner + 5});
    spmd_block *out = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(4));
    EXPECT_OK(spmd_psum(ctx, block, "i", out));
    expect_row(out, (const float[]){columns[0][2 * j], columns[0][2 * j + 1], columns[1][2 * j],
                                    columns[1][2 * j + 1]});
    EXPECT_OK(spmd_psum(ctx, block, "i,j", out));
    expect_row(out, (const float[]){20, 24, 36, 40});
    return SPMD_OK;
}

static spmd_status along_groups_of_two(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t member = spmd_axis_index(ctx, "x");
    float first = (float)(4 * member);
    spmd_block *row = row_of(ctx, 4, (const float[]){first, first + 1, first + 2, first + 3});
    EXPECT_OK(spmd_psum(ctx, row, "x [[0,1],[2,3]]", row));
    if (member < 2)
        expect_row(row, (const float[]){4, 6, 8, 10});
    else
        expect_row(row, (const float[]){20, 22, 24, 26});
    return SPMD_OK;
}

static void known_results_on_four_ranks(void)
{
    if (test_size < 4)
        return;
    run_on("i=4", along_a_row, NULL);
    run_on("i=2,j=2", along_a_square, NULL);
    run_on("x=4", along_groups_of_two, NULL);
}

static bool counts_as_even(int64_t member)
{
    return member % 2 == 0;
}

static bool is_first(int64_t member)
{
    return member == 0;
}

static bool is_one_of_two(int64_t member)
{
    return member < 2;
}

/* "x [[those that are in the first group],[the others]]" of `n`. */
static void print_groups(char *text, size_t size, const char *axes, int64_t n,
                         bool (*in_first)(int64_t))
{
    size_t length = (size_t)snprintf(text, size, "%s [", axes);
    for (int first = 1; first >= 0; first--) {
        char before = '[';
        for (int64_t m = 0; m < n; m++)
            if (in_first(m) == first) {
                length +=
                    (size_t)snprintf(text + length, size - length, "%s%c%lld",
                                     !first && before == '[' ? "," : "", before, (long long)m);
                before = ',';
            }
        length += (size_t)snprintf(text + length, size - length, "%s", before == ',' ? "]" : "");
    }
    snprintf(text + length, size - length, "]");
}

/* What members of a group bring, added up one by one. */
struct tally {
    int64_t size, place;
    double sum, greatest;
};

static struct tally count_up(int64_t n, int64_t me, bool (*in_first)(int64_t))
{
    struct tally tally = {0};
    for (int64_t m = 0; m < n; m++)
        if (in_first(m) == in_first(me)) {
            tally.place += m < me;
            tally.size++;
            tally.sum += (double)(m * m + 1);
            tally.greatest = (double)(m * m + 1);
        }
    return tally;
}

/* Two groups of the ranks along x and y. */
static spmd_status in_two_groups(spmd_ctx *ctx, void *user)
{
    bool (*in_first)(int64_t) = *(bool (**)(int64_t))user;
    int64_t n = spmd_axis_size(ctx, "x,y"), me = spmd_axis_index(ctx, "x,y");
    struct tally tally = count_up(n, me, in_first);
    char axes[256];
    print_groups(axes, sizeof axes, "x,y", n, in_first);
    EXPECT(spmd_axis_size(ctx, axes) == tally.size);
    EXPECT(spmd_axis_index(ctx, axes) == tally.place);
    spmd_block *in = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    spmd_block *out = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    double *value = in->data, *result = out->data;
    *value = (double)(me * me + 1);
    EXPECT_OK(spmd_psum(ctx, in, axes, out));
    EXPECT(*result == tally.sum);
    EXPECT_OK(spmd_pmean(ctx, in, axes, out));
    EXPECT(*result == tally.sum / (double)tally.size);
    EXPECT_OK(spmd_pmax(ctx, in, axes, out));
    EXPECT(*result == tally.greatest);
    spmd_block *who = spmd_temp(ctx, SPMD_I32, SPMD_SCALAR);
    EXPECT_OK(spmd_pargmax(ctx, in, axes, who));
    EXPECT(*(int32_t *)who->data == tally.size - 1);
    *value = 2;
    EXPECT_OK(spmd_psum(ctx, in, axes, out));
    EXPECT(*result == 2 * (double)tally.size);
    return SPMD_OK;
}

static void groups_from_a_text(void)
{
    bool (*divisions[])(int64_t) = {counts_as_even, is_first, is_one_of_two};
    for (int d = 0; d < 3; d++)
        run_on(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1", in_two_groups, &divisions[d]);
}

static spmd_status wrong_groups(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *in = spmd_temp(ctx, SPMD_F32, SPMD_SCALAR);
    EXPECT_FAILS(spmd_psum(ctx, in, "x [[0,0]]", in), SPMD_ERR_ARGUMENT, "stands twice");
    EXPECT_FAILS(spmd_psum(ctx, in, "x [[99]]", in), SPMD_ERR_ARGUMENT, "no member 99");
    EXPECT_FAILS(spmd_psum(ctx, in, "x [[]]", in), SPMD_ERR_SYNTAX, "number");
    EXPECT_FAILS(spmd_psum(ctx, in, "x [[0]", in), SPMD_ERR_SYNTAX, "]");
    EXPECT_FAILS(spmd_psum(ctx, in, "q [[0]]", in), SPMD_ERR_MESH,
                 "no axis q; name one of its own");
    if (spmd_axis_size(ctx, "x") > 1)
        EXPECT_FAILS(spmd_psum(ctx, in, "x [[0]]", in), SPMD_ERR_ARGUMENT, "is in no group");
    return SPMD_OK;
}

static void groups_that_are_none_are_refused(void)
{
    run_on("x=*", wrong_groups, NULL);
}

/* Writes the number -2, -1, 0, 1 or 2, or two more where the type has no sign; of bool, whether it
 * is positive. */
static void write_level(spmd_block *block, int64_t i, int level)
{
    static const uint16_t f16[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    static const uint16_t bf16[] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};
    void *data = block->data;
#define WRITE(NAME, type, value)     \
    case SPMD_##NAME:                \
        ((type *)data)[i] = (value); \
        break
    switch (block->dtype) {
        WRITE(BOOL, bool, level > 0);
        WRITE(I8, int8_t, (int8_t)level);
        WRITE(I16, int16_t, (int16_t)level);
        WRITE(I32, int32_t, level);
        WRITE(I64, int64_t, level);
        WRITE(U8, uint8_t, (uint8_t)(level + 2));
        WRITE(U16, uint16_t, (uint16_t)(level + 2));
        WRITE(U32, uint32_t, (uint32_t)(level + 2));
        WRITE(U64, uint64_t, (uint64_t)(level + 2));
        WRITE(F16, uint16_t, f16[level + 2]);
        WRITE(BF16, uint16_t, bf16[level + 2]);
        WRITE(F32, float, (float)level);
        WRITE(F64, double, level);
    case SPMD_C64:
    case SPMD_C128:
    case SPMD_DTYPE_NONE:
        break;
    }
#undef WRITE
}

/* The number that a member has as element i: each is had by several. */
static int level_of(int64_t member, int64_t i)
{
    return (int)((3 * member + 2 * i + member * i) % 5) - 2;
}

/* The lowest of the members that have the greatest, or the smallest, one. */
static int64_t expected_member(int64_t n, int64_t i, bool least, bool flags)
{
    int64_t best = 0;
    for (int64_t m = 1; m < n; m++) {
        int level = level_of(m, i), greatest = level_of(best, i);
        if (flags)
            level = level > 0, greatest = greatest > 0;
        if (least ? level < greatest : level > greatest)
            best = m;
    }
    return best;
}

static spmd_status extremes_of_all_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = spmd_axis_size(ctx, "y,x"), me = spmd_axis_index(ctx, "y,x");
    for (int t = 0; t < DTYPES; t++) {
        spmd_block *in = spmd_temp(ctx, dtypes[t], SPMD_SHAPE(3, 5));
        spmd_block *greatest = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(3, 5));
        spmd_block *least = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(3, 5));
        if (dtypes[t] == SPMD_C64 || dtypes[t] == SPMD_C128) {
            EXPECT_FAILS(spmd_pargmax(ctx, in, "y,x", greatest), SPMD_ERR_DTYPE, "no order");
            continue;
        }
        for (int64_t i = 0; i < 15; i++)
            write_level(in, i, level_of(me, i));
        EXPECT_OK(spmd_pargmax(ctx, in, "y,x", greatest));
        EXPECT_OK(spmd_pargmin(ctx, in, "y,x", least));
        for (int64_t i = 0; i < 15; i++) {
            bool flags = dtypes[t] == SPMD_BOOL;
            if (!EXPECT(((int32_t *)greatest->data)[i] == expected_member(n, i, false, flags)) ||
                !EXPECT(((int32_t *)least->data)[i] == expected_member(n, i, true, flags)))
                fprintf(stderr, "of type %s\n", spmd_dtype_name(dtypes[t]));
        }
    }
    return SPMD_OK;
}

static void pargmax_and_pargmin_of_every_type(void)
{
    run_on(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1", extremes_of_all_types, NULL);
}

/* Element i is NaN on members i and above, infinite elsewhere; the last one is 0 of either sign. */
static spmd_status extremes_with_nan(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = spmd_axis_size(ctx, "x"), me = spmd_axis_index(ctx, "x");
    spmd_block *single = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(n + 1));
    spmd_block *twice = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(n + 1));
    spmd_block *half = spmd_temp(ctx, SPMD_F16, SPMD_SHAPE(n + 1));
    spmd_block *who = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(n + 1));
    const spmd_block *blocks[] = {single, twice, half};
    for (int least = 0; least < 2; least++) {
        for (int64_t i = 0; i <= n; i++) {
            bool mine = me >= i;
            double value = i == n ? (me % 2 == 1 ? 0.0 : -0.0) : least ? -INFINITY : INFINITY;
            ((float *)single->data)[i] = mine ? -NAN : (float)value;
            ((double *)twice->data)[i] = mine ? NAN : value;
            ((uint16_t *)half->data)[i] = mine     ? 0xfe00
                                          : i == n ? (me % 2 == 1 ? 0 : 0x8000)
                                          : least  ? 0xfc00
                                                   : 0x7c00;
        }
        for (int b = 0; b < 3; b++) {
            EXPECT_OK((least ? spmd_pargmin : spmd_pargmax)(ctx, blocks[b], "x", who));
            for (int64_t i = 0; i < n; i++)
                EXPECT(((int32_t *)who->data)[i] == i);
            EXPECT(((int32_t *)who->data)[n] == 0);
        }
    }
    return SPMD_OK;
}

static void not_a_number_is_the_extreme(void)
{
    run_on("x=*", extremes_with_nan, NULL);
}

static spmd_status extremes_at_the_ends(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t n = spmd_axis_size(ctx, "x"), me = spmd_axis_index(ctx, "x");
    spmd_block *large = spmd_temp(ctx, SPMD_U64, SPMD_SCALAR);
    spmd_block *small = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    spmd_block *in_place = spmd_temp(ctx, SPMD_I32, SPMD_SCALAR);
    spmd_block *who = spmd_temp(ctx, SPMD_I32, SPMD_SCALAR);
    *(uint64_t *)large->data = UINT64_MAX - (uint64_t)(n - 1 - me); /* a double would round it */
    EXPECT_OK(spmd_pargmax(ctx, large, "x", who));
    EXPECT(*(int32_t *)who->data == n - 1);
    *(int64_t *)small->data = INT64_MIN + n - 1 - me;
    EXPECT_OK(spmd_pargmin(ctx, small, "x", who));
    EXPECT(*(int32_t *)who->data == n - 1);
    *(int32_t *)in_place->data = INT32_MIN + (int32_t)me;
    EXPECT_OK(spmd_pargmin(ctx, in_place, "x", in_place));
    EXPECT(*(int32_t *)in_place->data == 0);
    EXPECT_OK(spmd_pargmax(ctx, small, "", who));
    EXPECT(*(int32_t *)who->data == 0);
    spmd_block *empty = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(0, 4));
    EXPECT_OK(spmd_pargmax(ctx, empty, "x", spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(0, 4))));
    EXPECT_FAILS(spmd_pargmax(ctx, small, "x", small), SPMD_ERR_DTYPE, "i32[]");
    return SPMD_OK;
}

static void pargmax_is_exact(void)
{
    run_on("x=*", extremes_at_the_ends, NULL);
}

/* More elements than go through scratch memory at once. */
static spmd_status long_rows(spmd_ctx *ctx, void *user)
{
    enum { LENGTH = (1 << 18) + 3 };
    (void)user;
    int64_t n = spmd_axis_size(ctx, "x"), me = spmd_axis_index(ctx, "x");
    spmd_block *half = spmd_temp(ctx, SPMD_BF16, SPMD_SHAPE(LENGTH));
    spmd_block *whole = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(LENGTH));
    spmd_block *mean = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(LENGTH));
    spmd_block *who = spmd_temp(ctx, SPMD_I32, SPMD_SHAPE(LENGTH));
    for (int64_t i = 0; i < LENGTH; i++) {
        ((uint16_t *)half->data)[i] = 0x3f80; /* 1 */
        ((int64_t *)whole->data)[i] = i + (i % n == me);
    }
    EXPECT_OK(spmd_pmean(ctx, half, "x", half));
    EXPECT_OK(spmd_pmean(ctx, whole, "x", mean));
    EXPECT_OK(spmd_pargmax(ctx, whole, "x", who));
    int64_t wrong = 0;
    for (int64_t i = 0; i < LENGTH; i++)
        wrong += ((uint16_t *)half->data)[i] != 0x3f80 ||
                 ((double *)mean->data)[i] != (double)(n * i + 1) / (double)n ||
                 ((int32_t *)who->data)[i] != i % n;
    EXPECT(wrong == 0);
    return SPMD_OK;
}

static void long_rows_go_in_pieces(void)
{
    run_on("x=*", long_rows, NULL);
}

/* Sums that do not fit wrap around, wherever in a row they stand. */
static spmd_status narrow_sums(spmd_ctx *ctx, void *user)
{
    static const spmd_dtype narrow_ones[] = {SPMD_I8, SPMD_U8, SPMD_I16, SPMD_U16};
    enum { SHORT = 7, LONG = 5000 };
    (void)user;
    for (int t = 0; t < 4; t++)
        for (int64_t count = SHORT; count <= LONG; count += LONG - SHORT) {
            bool narrow = spmd_dtype_size(narrow_ones[t]) == 1;
            spmd_block *block = spmd_temp(ctx, narrow_ones[t], SPMD_SHAPE(count));
            uint8_t *bytes = block->data;
            uint16_t *words = block->data;
            int64_t wrong = 0;
            for (int64_t i = 0; i < count; i++)
                if (narrow)
                    bytes[i] = (uint8_t)(i * 7 + 100 * test_rank);
                else
                    words[i] = (uint16_t)(i * 1009 + 30000 * test_rank);
            EXPECT_OK(spmd_psum(ctx, block, "x", block));
            int64_t n = test_size, ranks = n * (n - 1) / 2;
            for (int64_t i = 0; i < count; i++)
                wrong += narrow ? bytes[i] != (uint8_t)(n * i * 7 + 100 * ranks)
                                : words[i] != (uint16_t)(n * i * 1009 + 30000 * ranks);
            EXPECT(wrong == 0);
        }
    return SPMD_OK;
}

static void sums_of_narrow_integers_wrap(void)
{
    run_on("x=*", narrow_sums, NULL);
}

HARNESS_MAIN("collective_sum", CASE(sums_of_narrow_integers_wrap),
             CASE(known_results_on_four_ranks), CASE(groups_from_a_text),
             CASE(groups_that_are_none_are_refused), CASE(pargmax_and_pargmin_of_every_type),
             CASE(not_a_number_is_the_extreme), CASE(pargmax_is_exact),
             CASE(long_rows_go_in_pieces))
