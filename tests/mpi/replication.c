/* replication.c - MPI tests of the check that blocks promised equal are equal. */
#include <math.h>
#include <stdlib.h>

#include "meshes.h"

/* One input and one output through a body, with a mode of the check. */
static spmd_status map(spmd_mesh *mesh, spmd_body *body, void *user, spmd_array *in,
                       const char *in_spec, spmd_array **out, const char *out_spec,
                       spmd_replication replication)
{
    const spmd_shard_map_options options = {.replication = replication};
    return spmd_shard_map(mesh, body, user, in != NULL, SPMD_ARRAYS(in), SPMD_SPECS(in_spec), 1,
                          out, SPMD_SPECS(out_spec), &options);
}

/* Bodies on f32 blocks, as JAX's static check knows them: v is the input, s its psum over x and
 * y. Here it is the data that tells along which axes the results vary. */

static float *floats(const spmd_block *block)
{
    return block->data;
}

/* out = scale * out + factor * term + shift. */
static void combine(spmd_block *out, float scale, float factor, const spmd_block *term, float shift)
{
    for (int64_t i = 0; i < spmd_block_size(out); i++)
        floats(out)[i] = scale * floats(out)[i] + factor * floats(term)[i] + shift;
}

static spmd_block *copy(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, spmd_block_shape(v));
    combine(out, 0, 1, v, 0);
    return out;
}

static float sum(const spmd_block *block)
{
    float total = 0;
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        total += floats(block)[i];
    return total;
}

static spmd_status psum(spmd_ctx *ctx, const spmd_block *v, const char *axes, spmd_block **s)
{
    *s = spmd_temp(ctx, SPMD_F32, spmd_block_shape(v));
    return spmd_psum(ctx, v, axes, *s);
}

static spmd_status identity(spmd_ctx *ctx, void *user)
{
    (void)user;
    copy(ctx, spmd_in(ctx, 0));
    return SPMD_OK;
}

static spmd_status psum_along(spmd_ctx *ctx, void *axes)
{
    spmd_block *out = copy(ctx, spmd_in(ctx, 0));
    return spmd_psum(ctx, out, axes, out);
}

static spmd_status gather_along_y(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_shape shape;
    SPMD_TRY(spmd_all_gather_shape(ctx, v, "y", 1, SPMD_TILED, &shape));
    return spmd_all_gather(ctx, v, "y", 1, SPMD_TILED, spmd_out(ctx, 0, SPMD_F32, shape));
}

static spmd_status pmean_y_plus_v(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *out = copy(ctx, v);
    SPMD_TRY(spmd_pmean(ctx, v, "y", out));
    combine(out, 1, 1, v, 0);
    return SPMD_OK;
}

static spmd_status ones(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    combine(copy(ctx, v), 0, 0, v, 1);
    return SPMD_OK;
}

static spmd_status index_along_x(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    combine(copy(ctx, v), 0, 0, v, (float)spmd_axis_index(ctx, "x"));
    return SPMD_OK;
}

static spmd_status branch_on_psum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *s = NULL;
    SPMD_TRY(psum(ctx, v, "x,y", &s));
    combine(copy(ctx, v), 0, sum(s) > 0 ? 1 : -1, s, 0);
    return SPMD_OK;
}

/* JAX types this as equal everywhere; it is not. */
static spmd_status branch_on_own_data(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *s = NULL;
    SPMD_TRY(psum(ctx, v, "x,y", &s));
    combine(copy(ctx, v), 0, 0, s, sum(v) > 0 ? 1 : 2);
    return SPMD_OK;
}

/* A branch that is another one along y, with the same result. */
static spmd_status branch_alike(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    if (spmd_axis_index(ctx, "y") % 2 == 0)
        combine(copy(ctx, v), 2, 0, v, 0);
    else
        combine(copy(ctx, v), 1, 1, v, 0);
    return SPMD_OK;
}

/* The same with another result; JAX does not look at what the branch depends on. */
static spmd_status branch_on_y(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    combine(copy(ctx, v), spmd_axis_index(ctx, "y") % 2 == 0 ? 1 : 2, 0, v, 0);
    return SPMD_OK;
}

static spmd_status switch_on_x(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *s = NULL;
    SPMD_TRY(psum(ctx, v, "x,y", &s));
    switch (spmd_axis_index(ctx, "x") % 3) {
    case 0:
        combine(copy(ctx, v), 0, 1, s, 0);
        break;
    case 1:
        combine(copy(ctx, v), 0, 0, s, 1);
        break;
    default:
        combine(copy(ctx, v), 0, 1, s, 1);
    }
    return SPMD_OK;
}

static spmd_status scan_add_psum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *out = copy(ctx, v), *s = NULL;
    combine(out, 0, 0, v, 0);
    for (int step = 0; step < 3; step++) {
        SPMD_TRY(psum(ctx, v, "x,y", &s));
        combine(out, 1, 1, s, 0);
    }
    return SPMD_OK;
}

static spmd_status scan_add_v(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *out = copy(ctx, v);
    for (int step = 0; step < 3; step++)
        combine(out, 1, 1, v, 0);
    return SPMD_OK;
}

static spmd_status while_add_psum(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *s = NULL;
    SPMD_TRY(psum(ctx, spmd_in(ctx, 0), "x,y", &s));
    spmd_block *out = copy(ctx, s);
    for (int step = 0; step < 3; step++)
        combine(out, 1, 1, s, 0);
    return SPMD_OK;
}

static spmd_status while_sum_below_100(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *v = spmd_in(ctx, 0);
    spmd_block *c = copy(ctx, v);
    while (sum(c) < 100)
        for (int64_t i = 0; i < spmd_block_size(c); i++)
            floats(c)[i] += 1 + fabsf(floats(v)[i]);
    return SPMD_OK;
}

enum { ALONG_X = 1, ALONG_Y = 2, ALONG_BOTH = 3 };

static const struct known {
    spmd_body *body;
    const char *axes;         /* for bodies that take them */
    int varies, varies_alike; /* along which axes, from in_spec P(x,y) and from P(x,-) */
} known[] = {
    {identity, NULL, ALONG_BOTH, ALONG_X},
    {psum_along, "x", ALONG_Y, 0},
    {psum_along, "y", ALONG_X, ALONG_X},
    {psum_along, "x,y", 0, 0},
    {gather_along_y, NULL, ALONG_X, ALONG_X},
    {pmean_y_plus_v, NULL, ALONG_BOTH, ALONG_X},
    {ones, NULL, 0, 0},
    {index_along_x, NULL, ALONG_X, ALONG_X},
    {branch_on_psum, NULL, 0, 0},
    {branch_on_own_data, NULL, ALONG_X, ALONG_X},
    {branch_alike, NULL, ALONG_BOTH, ALONG_X},
    {branch_on_y, NULL, ALONG_BOTH, ALONG_BOTH},
    {switch_on_x, NULL, ALONG_X, ALONG_X},
    {scan_add_psum, NULL, 0, 0},
    {scan_add_v, NULL, ALONG_BOTH, ALONG_X},
    {while_add_psum, NULL, 0, 0},
    {while_sum_below_100, NULL, ALONG_BOTH, ALONG_X},
};

/* Blocks differ along both axes; those of the first ranks along x are negative. */
static spmd_status fill_signed(const spmd_box *box, void *data, void *user)
{
    (void)user;
    float *at = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
            *at++ = (float)((i < 2 ? -1 : 1) * (i + 1) * (j + 1));
    return SPMD_OK;
}

/* The check accepts where the out_spec names all axes along which the blocks differ. */
static void expect_verdict(spmd_mesh *mesh, const struct known *body, spmd_array *in,
                           const char *in_spec, const char *out_spec, int broken)
{
    spmd_array *out = NULL;
    if (spmd_mesh_axis_size(mesh, "x") == 1)
        broken &= ~ALONG_X;
    if (spmd_mesh_axis_size(mesh, "y") == 1)
        broken &= ~ALONG_Y;
    spmd_status status = map(mesh, body->body, (void *)body->axes, in, in_spec, &out, out_spec,
                             SPMD_REPLICATION_DEFAULT);
    const char *const along[] = {"", "along x,", "along y,", "along (x,y),"};
    bool as_expected =
        broken ? EXPECT_FAILS(status, SPMD_ERR_REPLICATION, along[broken]) : EXPECT_OK(status);
    if (!as_expected)
        fprintf(stderr, "# body %d from %s to %s\n", (int)(body - known), in_spec, out_spec);
    EXPECT((out != NULL) == (status == SPMD_OK));
    spmd_array_free(&out);
}

static void bodies_are_judged_by_their_blocks(void)
{
    static const char *const out_specs[] = {"P()", "P(x)", "P(-,y)", "P(x,y)"}; /* by their axes */
    spmd_mesh *mesh = make_grid();
    spmd_array *in = NULL;
    spmd_shape shape =
        SPMD_SHAPE(2 * spmd_mesh_axis_size(mesh, "x"), 3 * spmd_mesh_axis_size(mesh, "y"));
    EXPECT_OK(spmd_array_from_callback(mesh, "P(x,y)", SPMD_F32, shape, fill_signed, NULL, &in));
    for (size_t b = 0; b < sizeof known / sizeof *known; b++)
        for (int named = 0; named < 4; named++) {
            expect_verdict(mesh, &known[b], in, "P(x,y)", out_specs[named],
                           known[b].varies & ~named);
            expect_verdict(mesh, &known[b], in, "P(x,-)", out_specs[named],
                           known[b].varies_alike & ~named);
        }
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Exchanges its two inputs in each step. JAX refuses carries that change places, wherever they end
 * up, and on one rank, too. */
static spmd_status exchange(spmd_ctx *ctx, void *user)
{
    int steps = *(int *)user;
    for (int k = 0; k < 2; k++) {
        const spmd_block *from = spmd_in(ctx, (k + steps) % 2);
        spmd_block *out = spmd_out(ctx, k, SPMD_F32, spmd_block_shape(from));
        combine(out, 0, 1, from, 0);
    }
    return SPMD_OK;
}

static void carries_may_change_places(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in[2] = {NULL}, *out[2] = {NULL};
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(3 * test_size), &in[0]));
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_F32, SPMD_SHAPE(3), &in[1]));
    for (int steps = 0; steps < 4; steps++) {
        spmd_status status =
            spmd_shard_map(mesh, exchange, &steps, 2, in, SPMD_SPECS("P(x)", "P()"), 2, out,
                           SPMD_SPECS("P(x)", "P()"), NULL);
        if (steps % 2 == 1 && test_size > 1)
            EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "output 1: its out_spec P() promises");
        else
            EXPECT_OK(status);
        spmd_array_free(&out[0]);
        spmd_array_free(&out[1]);
    }
    spmd_array_free(&in[0]);
    spmd_array_free(&in[1]);
    spmd_mesh_free(&mesh);
}

static void all_axes_are_named_that_are_missing(void)
{
    bool cube = test_size == 8;
    spmd_mesh *mesh = make_mesh(cube ? "x=2,y=2,z=2" : "x=1,y=1,z=*");
    spmd_array *in = NULL, *out = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x,y,z)", SPMD_F32, SPMD_SHAPE(2, 2, test_size), &in));
    spmd_status status =
        map(mesh, identity, NULL, in, "P(x,y,z)", &out, "P(x)", SPMD_REPLICATION_DEFAULT);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION,
                     cube ? "its out_spec P(x) promises equal blocks along (y,z), but"
                          : "its out_spec P(x) promises equal blocks along z, but");
    else
        EXPECT_OK(status);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* The same key gives the same numbers on all ranks; folded with the rank's place it does not. */
static spmd_status draw(spmd_ctx *ctx, void *user)
{
    spmd_key key = spmd_key_create(7);
    if (*(bool *)user)
        key = spmd_key_fold_in(key, (uint32_t)spmd_axis_index(ctx, "x"));
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(5));
    return spmd_random_uniform(key, SPMD_F32, SPMD_SHAPE(5), NULL, 0, 1, out->data);
}

static void one_key_gives_equal_numbers(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    bool folded = false;
    EXPECT_OK(map(mesh, draw, &folded, NULL, NULL, &out, "P()", SPMD_REPLICATION_DEFAULT));
    spmd_array_free(&out);
    folded = true;
    EXPECT_OK(map(mesh, draw, &folded, NULL, NULL, &out, "P(x)", SPMD_REPLICATION_DEFAULT));
    spmd_array_free(&out);
    spmd_status status =
        map(mesh, draw, &folded, NULL, NULL, &out, "P()", SPMD_REPLICATION_DEFAULT);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "along x, but");
    else
        EXPECT_OK(status);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Outputs that are written as told: usual elements, and other ones on some ranks. */
struct told {
    spmd_dtype dtype;
    spmd_shape shape;
    const void *usual, *odd;
    int odd_x, odd_y; /* coordinates of the ranks that write `odd`; -1: any */
    int index;        /* of two outputs, the one that this is; the other is a scalar */
};

static spmd_status write_as_told(spmd_ctx *ctx, void *user)
{
    const struct told *told = user;
    int64_t x = spmd_axis_index(ctx, "x"), y = spmd_axis_index(ctx, "y");
    bool odd = (told->odd_x < 0 || x == told->odd_x) && (told->odd_y < 0 || y == told->odd_y);
    spmd_block *out = spmd_out(ctx, told->index, told->dtype, told->shape);
    spmd_out(ctx, 1 - told->index, SPMD_I8, SPMD_SHAPE(1));
    memcpy(out->data, odd ? told->odd : told->usual,
           (size_t)spmd_block_size(out) * spmd_dtype_size(told->dtype));
    return SPMD_OK;
}

static spmd_status map_told(spmd_mesh *mesh, struct told *told, const char *spec)
{
    spmd_array *out[2] = {NULL};
    spmd_status status = spmd_shard_map(mesh, write_as_told, told, 0, NULL, NULL, 2, out,
                                        SPMD_SPECS(spec, spec), NULL);
    EXPECT((out[0] != NULL) == (status == SPMD_OK) && (out[1] != NULL) == (status == SPMD_OK));
    spmd_array_free(&out[0]);
    spmd_array_free(&out[1]);
    return status;
}

/* All ranks along x, and a y of size 1. */
static spmd_mesh *make_column(void)
{
    return make_mesh("x=*,y=1");
}

static void the_message_tells_what_differs_and_where(void)
{
    const int64_t usual[6] = {1, 2, 3, 4, 5, 6}, odd[6] = {1, 2, 3, 4, 50, 60};
    spmd_mesh *mesh = make_column();
    int last = test_size - 1;
    char message[300];
    struct told told = {SPMD_I64, SPMD_SHAPE(3, 2), usual, odd, last, -1, 1};
    spmd_status status = map_told(mesh, &told, "P()");
    snprintf(
        message, sizeof message,
        "rank %d: output 1: its out_spec P() promises equal blocks along x, but element (2, 0) "
        "is 50 at position %d and 5 at position 0; is a psum, pmean or all_gather over x "
        "missing, or the axis in the out_spec?",
        last, last);
    if (test_size == 1) {
        EXPECT_OK(status);
    } else {
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, message);
        EXPECT(strcmp(spmd_error_message(), message) == 0);
    }
    expect_same_message();
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static void the_element_is_named_by_its_global_index(void)
{
    const int32_t usual[4] = {1, 2, 3, 4}, odd[4] = {1, 2, 3, -4};
    spmd_mesh *mesh = make_grid();
    int nx = (int)spmd_mesh_axis_size(mesh, "x"), ny = (int)spmd_mesh_axis_size(mesh, "y");
    char message[300];
    struct told told = {SPMD_I32, SPMD_SHAPE(2, 2), usual, odd, nx - 1, ny - 1, 0};
    spmd_status status = map_told(mesh, &told, "P(x)");
    snprintf(message, sizeof message,
             "rank %d: output 0: its out_spec P(x) promises equal blocks along y, but element (%d, "
             "1) is -4 at position %d and 4 at position %d;",
             test_size - 1, 2 * nx - 1, test_size - 1, (nx - 1) * ny);
    if (ny == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, message);
    spmd_mesh_free(&mesh);
}

static void the_axes_are_named_that_differ(void)
{
    static const char *const along[] = {"", "along x, but", "along y, but", "along (x,y), but"};
    const int8_t usual = 1, odd = 2;
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    for (int axes = ALONG_X; axes <= ALONG_BOTH; axes++) {
        struct told told = {
            SPMD_I8, SPMD_SCALAR, &usual, &odd, axes & ALONG_X ? 0 : -1, axes & ALONG_Y ? 0 : -1,
            0};
        int differ = axes & ((nx > 1 ? ALONG_X : 0) | (ny > 1 ? ALONG_Y : 0));
        spmd_status status = map_told(mesh, &told, "P()");
        if (differ)
            EXPECT_FAILS(status, SPMD_ERR_REPLICATION, along[differ]);
        else
            EXPECT_OK(status);
    }
    spmd_mesh_free(&mesh);
}

static const char *const missing = "is a psum, pmean or all_gather over x missing, or the axis";
static const char *const rounding = "they differ by rounding only: a pbroadcast over x makes them";

/* How a scalar is told that is another one on the last rank. */
static void expect_told(spmd_dtype dtype, const void *usual, const void *odd, const char *odd_text,
                        const char *usual_text, const char *advice)
{
    char message[300];
    spmd_mesh *mesh = make_column();
    struct told told = {dtype, SPMD_SCALAR, usual, odd, test_size - 1, -1, 0};
    spmd_status status = map_told(mesh, &told, "P()");
    snprintf(message, sizeof message, "its value is %s at position %d and %s at position 0; %s",
             odd_text, test_size - 1, usual_text, advice);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, message);
    spmd_mesh_free(&mesh);
}

static void elements_of_any_type_are_told(void)
{
    const bool no = false, yes = true;
    const uint8_t u8[] = {200, 201};
    const uint64_t u64[] = {UINT64_MAX, UINT64_MAX - 1};
    const uint16_t f16[] = {0x3c00, 0x4000}, bf16[] = {0x3f80, 0xbf80};
    const float f32[] = {0.5f, -0.25f}, c64[] = {1, 2, 1, -3};
    const double f64[] = {1e300, HUGE_VAL}, c128[] = {0.5, 0, 0, 0.5};
    expect_told(SPMD_BOOL, &no, &yes, "true", "false", missing);
    expect_told(SPMD_U8, &u8[0], &u8[1], "201", "200", missing);
    expect_told(SPMD_U64, &u64[0], &u64[1], "18446744073709551614", "18446744073709551615",
                missing);
    expect_told(SPMD_F16, &f16[0], &f16[1], "2", "1", missing);
    expect_told(SPMD_BF16, &bf16[0], &bf16[1], "-1", "1", missing);
    expect_told(SPMD_F32, &f32[0], &f32[1], "-0.25", "0.5", missing);
    expect_told(SPMD_F64, &f64[0], &f64[1], "inf", "1e+300", missing);
    expect_told(SPMD_C64, &c64[0], &c64[2], "1-3i", "1+2i", missing);
    expect_told(SPMD_C128, &c128[0], &c128[2], "0+0.5i", "0.5+0i", missing);
}

static void rounding_is_told_as_such(void)
{
    const float f32[] = {0.1f, nextafterf(0.1f, 1)};
    const double f64[] = {0, 1.0 / 3, NAN, HUGE_VAL};
    double other[] = {0, nextafter(1.0 / 3, 0), NAN, HUGE_VAL};
    expect_told(SPMD_F32, &f32[0], &f32[1], "0.10000001", "0.1", rounding);
    spmd_mesh *mesh = make_column();
    struct told told = {SPMD_F64, SPMD_SHAPE(4), f64, other, test_size - 1, -1, 0};
    spmd_status status = map_told(mesh, &told, "P()");
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, rounding);
    other[0] = 1e-300; /* nothing is close to 0 */
    status = map_told(mesh, &told, "P()");
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, missing);
    spmd_mesh_free(&mesh);
}

/* The remedy that the message names. */
static spmd_status round_and_broadcast(spmd_ctx *ctx, void *axes)
{
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(2));
    floats(out)[0] = 0.1f;
    floats(out)[1] = nextafterf(0.1f, (float)spmd_axis_index(ctx, "x"));
    return spmd_pbroadcast(ctx, out, axes, 0, out);
}

static void pbroadcast_makes_equal(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *out = NULL;
    EXPECT_OK(
        map(mesh, round_and_broadcast, "x,y", NULL, NULL, &out, "P()", SPMD_REPLICATION_DEFAULT));
    spmd_array_free(&out);
    spmd_status status =
        map(mesh, round_and_broadcast, "y", NULL, NULL, &out, "P()", SPMD_REPLICATION_DEFAULT);
    if (spmd_mesh_axis_size(mesh, "x") > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "a pbroadcast over x makes them equal");
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static void bits_are_compared(void)
{
    const uint32_t nan[] = {0x7fc00000, 0x7fc00001};
    const float zero[] = {0.0f, -0.0f};
    spmd_mesh *mesh = make_column();
    struct told told = {SPMD_F32, SPMD_SCALAR, &nan[0], &nan[0], 0, -1, 0};
    EXPECT_OK(map_told(mesh, &told, "P()"));
    spmd_mesh_free(&mesh);
    expect_told(SPMD_F32, &nan[0], &nan[1], "nan", "nan", missing);
    expect_told(SPMD_F32, &zero[0], &zero[1], "-0", "0", rounding);
}

static void blocks_may_be_empty(void)
{
    spmd_mesh *mesh = make_grid();
    struct told told = {SPMD_F64, SPMD_SHAPE(0, 3), "", "", 0, 0, 0};
    EXPECT_OK(map_told(mesh, &told, "P()"));
    EXPECT_OK(map_told(mesh, &told, "P(x)"));
    spmd_mesh_free(&mesh);
}

static spmd_status two_wrong_outputs(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int k = 0; k < 3; k++)
        *(int32_t *)spmd_out(ctx, k, SPMD_I32, SPMD_SHAPE(1))->data =
            k == 0 ? 0 : (int32_t)spmd_axis_index(ctx, "x");
    return SPMD_OK;
}

static void the_first_wrong_output_is_named(void)
{
    spmd_mesh *mesh = make_column();
    spmd_array *out[3] = {NULL};
    spmd_status status = spmd_shard_map(mesh, two_wrong_outputs, NULL, 0, NULL, NULL, 3, out,
                                        SPMD_SPECS("P()", "P()", "P()"), NULL);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "rank 1: output 1: ");
    for (int k = 0; k < 3; k++)
        spmd_array_free(&out[k]);
    spmd_mesh_free(&mesh);
}

/* When the check is made. */

/* Writes the number of the rank if told so, else 0. */
static spmd_status write_rank(spmd_ctx *ctx, void *lie)
{
    int32_t *out = spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(1))->data;
    *out = *(bool *)lie ? 5 + (int32_t)spmd_axis_index(ctx, "x") : 0;
    return SPMD_OK;
}

static void expect_caught(spmd_status status, bool caught)
{
    if (caught && test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "output 0: ");
    else
        EXPECT_OK(status);
}

/* Runs a plan honestly, then not, then honestly. */
static void lie_in_a_later_run(spmd_mesh *mesh, spmd_replication replication, bool caught)
{
    spmd_shard_map_call *plan = NULL;
    spmd_array *out = NULL;
    bool lie = true, honest = false;
    EXPECT_OK(spmd_shard_map_plan(mesh, write_rank, 0, NULL, 1, SPMD_SPECS("P()"),
                                  &(spmd_shard_map_options){.replication = replication}, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, &honest, NULL, &out));
    expect_caught(spmd_shard_map_run(plan, &lie, NULL, &out), caught);
    EXPECT_OK(spmd_shard_map_run(plan, &honest, NULL, &out));
    EXPECT(*(int32_t *)spmd_array_block(out)->data == 0);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
}

static void lie_in_the_first_run(spmd_mesh *mesh, spmd_replication replication, bool caught)
{
    spmd_array *out = NULL;
    bool lie = true;
    expect_caught(map(mesh, write_rank, &lie, NULL, NULL, &out, "P()", replication), caught);
    spmd_array_free(&out);
}

static void the_check_is_made_when_it_is_asked_for(void)
{
    spmd_mesh *mesh = make_line();
    lie_in_the_first_run(mesh, SPMD_REPLICATION_ALWAYS, true);
    lie_in_the_first_run(mesh, SPMD_REPLICATION_FIRST, true);
    lie_in_the_first_run(mesh, SPMD_REPLICATION_NEVER, false);
    lie_in_a_later_run(mesh, SPMD_REPLICATION_ALWAYS, true);
    lie_in_a_later_run(mesh, SPMD_REPLICATION_FIRST, false);
    lie_in_a_later_run(mesh, SPMD_REPLICATION_NEVER, false);
    spmd_mesh_free(&mesh);
}

static void a_first_run_that_failed_is_followed_by_another_first_one(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    spmd_array *out = NULL;
    bool lie = true, honest = false;
    EXPECT_OK(spmd_shard_map_plan(mesh, write_rank, 0, NULL, 1, SPMD_SPECS("P()"), NULL, &plan));
    for (int i = 0; i < 2 && test_size > 1; i++)
        expect_caught(spmd_shard_map_run(plan, &lie, NULL, &out), true);
    EXPECT(out == NULL);
    EXPECT_OK(spmd_shard_map_run(plan, &honest, NULL, &out));
    EXPECT_OK(spmd_shard_map_run(plan, &lie, NULL, &out));
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

static void the_environment_sets_the_default(void)
{
    const struct {
        const char *value;
        bool first, later; /* whether a lie is caught then */
    } modes[] = {
        {"always", true, true}, {"first", true, false}, {"never", false, false}, {"", true, false}};
    spmd_mesh *mesh = make_line();
    for (int m = 0; m < 4; m++) {
        setenv("SPMD_REPLICATION", modes[m].value, 1);
        lie_in_the_first_run(mesh, SPMD_REPLICATION_DEFAULT, modes[m].first);
        lie_in_a_later_run(mesh, SPMD_REPLICATION_DEFAULT, modes[m].later);
        lie_in_the_first_run(mesh, SPMD_REPLICATION_ALWAYS, true);
        lie_in_the_first_run(mesh, SPMD_REPLICATION_NEVER, false);
    }
    setenv("SPMD_REPLICATION", "sometimes", 1);
    spmd_shard_map_call *plan = NULL;
    EXPECT_FAILS(spmd_shard_map_plan(mesh, write_rank, 0, NULL, 0, NULL, NULL, &plan),
                 SPMD_ERR_ARGUMENT, "SPMD_REPLICATION=sometimes in the environment");
    unsetenv("SPMD_REPLICATION");
    lie_in_the_first_run(mesh, SPMD_REPLICATION_DEFAULT, true);
    lie_in_a_later_run(mesh, SPMD_REPLICATION_DEFAULT, false);
    spmd_mesh_free(&mesh);
}

static void unchecked_the_value_is_copy_0(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL, *moved = NULL;
    bool lie = true;
    int32_t host = 0;
    EXPECT_OK(map(mesh, write_rank, &lie, NULL, NULL, &out, "P()", SPMD_REPLICATION_NEVER));
    EXPECT(*(int32_t *)spmd_array_block(out)->data == 5 + test_rank);
    EXPECT_OK(spmd_array_gather(out, 0, &host, 1));
    EXPECT(host == (test_rank == 0 ? 5 : 0));
    EXPECT_OK(spmd_reshard(out, "P(x)", &moved));
    EXPECT(test_rank > 0 || *(int32_t *)spmd_array_block(moved)->data == 5);
    spmd_array_free(&out);
    spmd_array_free(&moved);
    spmd_mesh_free(&mesh);
}

static void idle_ranks_make_no_promise(void)
{
    spmd_mesh *mesh = make_shorter_line();
    bool honest = false;
    spmd_array *out = NULL;
    EXPECT_OK(map(mesh, write_rank, &honest, NULL, NULL, &out, "P()", SPMD_REPLICATION_ALWAYS));
    EXPECT((spmd_array_block(out) == NULL) == is_idle(mesh));
    spmd_array_free(&out);
    lie_in_the_first_run(mesh, SPMD_REPLICATION_ALWAYS, !is_idle(mesh) && spmd_mesh_size(mesh) > 1);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("replication", CASE(bodies_are_judged_by_their_blocks),
             CASE(carries_may_change_places), CASE(all_axes_are_named_that_are_missing),
             CASE(one_key_gives_equal_numbers), CASE(the_message_tells_what_differs_and_where),
             CASE(the_element_is_named_by_its_global_index), CASE(the_axes_are_named_that_differ),
             CASE(elements_of_any_type_are_told), CASE(rounding_is_told_as_such),
             CASE(pbroadcast_makes_equal), CASE(bits_are_compared), CASE(blocks_may_be_empty),
             CASE(the_first_wrong_output_is_named), CASE(the_check_is_made_when_it_is_asked_for),
             CASE(a_first_run_that_failed_is_followed_by_another_first_one),
             CASE(the_environment_sets_the_default), CASE(unchecked_the_value_is_copy_0),
             CASE(idle_ranks_make_no_promise))
