/* vmap_named.c - MPI tests of named vmaps: instances that talk to each other, and to the ranks.
 *
 * Blocks are i64 unless a case says otherwise. */
#include <stdlib.h>

#include "elements.h"

/* One input, mapped along dim 0, and one output likewise, by a vmap along `name`. */
static spmd_status map_in(spmd_ctx *ctx, const char *name, spmd_body *fn, void *user,
                          const spmd_block *in, spmd_block **out)
{
    return spmd_vmap(ctx, fn, user, 1, SPMD_BLOCKS(in), SPMD_AXES(0), 1, out, SPMD_AXES(0),
                     &(spmd_vmap_options){.axis_name = name});
}

static spmd_status map(const char *name, spmd_body *fn, void *user, const spmd_block *in,
                       spmd_block **out)
{
    return map_in(NULL, name, fn, user, in, out);
}

/* The mapped name alone. */

/* out = sum over `user`, a text of axes. */
static spmd_status sum(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    return spmd_psum(ctx, in, user, out);
}

static void instances_sum(void)
{
    int64_t memory[15];
    spmd_block in = count_in(memory, SPMD_SHAPE(5, 3)), *out = NULL;
    EXPECT_OK(map("batch", sum, "batch", &in, &out));
    for (int64_t i = 0; i < 15; i++)
        EXPECT(elements(out)[i] == 30 + 5 * (i % 3));
    spmd_block_free(&out);
}

/* The sum of what is not mapped counts the instances; the mean does not. */
static spmd_status sum_of_shared(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *total = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    spmd_block *mean = spmd_out(ctx, 1, SPMD_F64, SPMD_SCALAR);
    SPMD_TRY(spmd_psum(ctx, spmd_in(ctx, 0), "batch", total));
    return spmd_pmean(ctx, spmd_in(ctx, 0), "batch", mean);
}

static void the_sum_of_what_is_not_mapped_counts(void)
{
    int64_t seven = 7;
    spmd_block in = spmd_block_borrow(&seven, SPMD_I64, SPMD_SCALAR), *out[2] = {NULL};
    EXPECT_OK(spmd_vmap(NULL, sum_of_shared, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(SPMD_NOT_MAPPED),
                        2, out, SPMD_AXES(SPMD_NOT_MAPPED, SPMD_NOT_MAPPED),
                        &(spmd_vmap_options){.axis_name = "batch", .axis_size = 6}));
    EXPECT(*elements(out[0]) == 42 && *(double *)out[1]->data == 7);
    spmd_block_free(&out[0]);
    spmd_block_free(&out[1]);
}

/* One body over instances, over ranks, and over both: all must give the same. */

enum { CALLS = 16, OUTER = 2, INNER = 3 };

/* Which call, over which axes. */
struct talk {
    int call;
    const char *axes;
};

/* What a member brings: numbers that grow neither with it nor with their index. */
static spmd_block *bring(spmd_ctx *ctx, const char *axes)
{
    int64_t member = spmd_axis_index(ctx, axes), members = spmd_axis_size(ctx, axes);
    spmd_block *in = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(members, 3));
    for (int64_t i = 0; i < 3 * members; i++)
        elements(in)[i] = (member * 37 + i * 11) % 101 - 50;
    return in;
}

/* Those that reduce. */
static spmd_status reduce(spmd_ctx *ctx, const struct talk *talk, const spmd_block *in)
{
    spmd_shape shape = spmd_block_shape(in);
    const char *axes = talk->axes;
    switch (talk->call) {
    case 0:
        return spmd_psum(ctx, in, axes, spmd_out(ctx, 0, SPMD_I64, shape));
    case 1:
        return spmd_pmean(ctx, in, axes, spmd_out(ctx, 0, SPMD_F64, shape));
    case 2:
        return spmd_pmax(ctx, in, axes, spmd_out(ctx, 0, SPMD_I64, shape));
    case 3:
        return spmd_pmin(ctx, in, axes, spmd_out(ctx, 0, SPMD_I64, shape));
    case 4:
        return spmd_pargmax(ctx, in, axes, spmd_out(ctx, 0, SPMD_I32, shape));
    default:
        return spmd_pargmin(ctx, in, axes, spmd_out(ctx, 0, SPMD_I32, shape));
    }
}

/* Those that keep the shape. */
static spmd_status move(spmd_ctx *ctx, const struct talk *talk, const spmd_block *in)
{
    int64_t members = in->shape[0], pairs[64][2], perm[64];
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    for (int64_t m = 0; m < members; m++) {
        pairs[m][0] = m;
        pairs[m][1] = m + 1;
        perm[m] = members - 1 - m;
    }
    switch (talk->call) {
    case 6:
        return spmd_pbroadcast(ctx, in, talk->axes, members - 1, out);
    case 7:
        return spmd_ppermute(ctx, in, talk->axes, members - 1, (const int64_t(*)[2])pairs, out);
    case 8:
        return spmd_pshuffle(ctx, in, talk->axes, perm, out);
    default:
        return spmd_pswapaxes(ctx, in, talk->axes, 0, out);
    }
}

/* Those that tell what shape they give. */
static spmd_status reshape(spmd_ctx *ctx, const struct talk *talk, const spmd_block *in)
{
    spmd_tiling tiling = talk->call % 2 == 0 ? SPMD_TILED : SPMD_UNTILED;
    const char *axes = talk->axes;
    spmd_shape shape;
    switch (talk->call) {
    case 10:
    case 11:
        SPMD_TRY(spmd_all_gather_shape(ctx, in, axes, -1, tiling, &shape));
        return spmd_all_gather(ctx, in, axes, -1, tiling, spmd_out(ctx, 0, SPMD_I64, shape));
    case 12:
    case 13:
        SPMD_TRY(spmd_psum_scatter_shape(ctx, in, axes, 0, tiling, &shape));
        return spmd_psum_scatter(ctx, in, axes, 0, tiling, spmd_out(ctx, 0, SPMD_I64, shape));
    default:
        SPMD_TRY(spmd_all_to_all_shape(ctx, in, axes, 0, 1, tiling, &shape));
        return spmd_all_to_all(ctx, in, axes, 0, 1, tiling, spmd_out(ctx, 0, SPMD_I64, shape));
    }
}

static spmd_status talk(spmd_ctx *ctx, void *user)
{
    const struct talk *talk = user;
    const spmd_block *in = bring(ctx, talk->axes);
    return talk->call < 6    ? reduce(ctx, talk, in)
           : talk->call < 10 ? move(ctx, talk, in)
                             : reshape(ctx, talk, in);
}

/* What all members of a group get, from members that are all here: row m is member m's. */
static spmd_block *refer(int call, int64_t members)
{
    struct talk over_m = {call, "m"};
    spmd_block *rows = NULL;
    EXPECT_OK(spmd_vmap(NULL, talk, &over_m, 0, NULL, NULL, 1, &rows, SPMD_AXES(0),
                        &(spmd_vmap_options){.axis_name = "m", .axis_size = members}));
    return rows;
}

/* The axes of the mesh x, y and of the vmaps a, b: how long they are, and where somebody stands. */
static int64_t size_along(spmd_mesh *mesh, char axis)
{
    return axis == 'a'   ? OUTER
           : axis == 'b' ? INNER
                         : spmd_mesh_axis_size(mesh, (const char[]){axis, '\0'});
}

static int64_t place_along(spmd_mesh *mesh, char axis, int64_t a, int64_t b)
{
    int64_t at[2];
    spmd_mesh_coordinates(mesh, spmd_mesh_position(mesh), at);
    return axis == 'a' ? a : axis == 'b' ? b : at[axis - 'x'];
}

static int64_t group_size(spmd_mesh *mesh, const char *axes)
{
    int64_t size = 1;
    for (const char *c = axes; *c; c++)
        size *= *c == ',' ? 1 : size_along(mesh, *c);
    return size;
}

static int64_t place_in_group(spmd_mesh *mesh, const char *axes, int64_t a, int64_t b)
{
    int64_t place = 0;
    for (const char *c = axes; *c; c++)
        if (*c != ',')
            place = place * size_along(mesh, *c) + place_along(mesh, *c, a, b);
    return place;
}

/* Maps `talk` along b, in an instance along a. */
static spmd_status map_inner(spmd_ctx *ctx, void *user)
{
    spmd_block *made = NULL;
    SPMD_TRY(spmd_vmap(ctx, talk, user, 0, NULL, NULL, 1, &made, SPMD_AXES(0),
                       &(spmd_vmap_options){.axis_name = "b", .axis_size = INNER}));
    spmd_block *out = spmd_out(ctx, 0, made->dtype, spmd_block_shape(made));
    memcpy(out->data, made->data, (size_t)spmd_block_size(made) * spmd_dtype_size(made->dtype));
    return SPMD_OK;
}

/* The body of a shard_map: maps along a and b, and compares what each instance got. */
static spmd_status compare_with_reference(spmd_ctx *ctx, void *user)
{
    const struct talk *talk = user;
    spmd_mesh *mesh = spmd_ctx_mesh(ctx);
    spmd_block *made = NULL, *rows = refer(talk->call, group_size(mesh, talk->axes));
    SPMD_TRY(spmd_vmap(ctx, map_inner, user, 0, NULL, NULL, 1, &made, SPMD_AXES(0),
                       &(spmd_vmap_options){.axis_name = "a", .axis_size = OUTER}));
    size_t bytes = (size_t)spmd_block_size(made) * spmd_dtype_size(made->dtype) / (OUTER * INNER);
    int wrong = 0;
    EXPECT(made->dtype == rows->dtype && made->ndim == rows->ndim + 1);
    for (int64_t i = 0; i < OUTER * INNER; i++) {
        int64_t member = place_in_group(mesh, talk->axes, i / INNER, i % INNER);
        const char *got = (const char *)made->data + (size_t)i * bytes;
        wrong += memcmp(got, (const char *)rows->data + (size_t)member * bytes, bytes) != 0;
    }
    if (!EXPECT(wrong == 0))
        fprintf(stderr, "call %d over %s\n", talk->call, talk->axes);
    spmd_block_free(&rows);
    return SPMD_OK;
}

static void instances_and_ranks_are_members_alike(void)
{
    const char *texts[] = {"a",     "b",     "x",       "y",       "a,b",     "b,a",
                           "x,y",   "y,x",   "x,a",     "b,x",     "b,x,a",   "y,a",
                           "y,a,x", "x,b,y", "a,x,y,b", "x,y,a,b", "b,a,y,x", "b,y"};
    spmd_mesh *mesh = make_grid();
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int call = 0; call < CALLS; call++)
            if (strcmp(texts[t], "y,x") != 0 || (call != 7 && call != 8)) /* by mesh order there */
                EXPECT_OK(spmd_shard_map(mesh, compare_with_reference,
                                         &(struct talk){call, texts[t]}, 0, NULL, NULL, 0, NULL,
                                         NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* Half floats are rounded once, also where instances and ranks add up. */

static spmd_status sum_halves(spmd_ctx *ctx, void *user)
{
    spmd_block *in = spmd_temp(ctx, SPMD_BF16, SPMD_SCALAR);
    spmd_block *out = spmd_out(ctx, 0, SPMD_BF16, SPMD_SCALAR);
    *(uint16_t *)in->data = spmd_axis_index(ctx, user) == 0 ? 0x4380 /* 256 */ : 0x3f80 /* 1 */;
    return spmd_psum(ctx, in, user, out);
}

static spmd_status map_halves(spmd_ctx *ctx, void *user)
{
    spmd_block *made = NULL;
    (void)user;
    SPMD_TRY(spmd_vmap(ctx, sum_halves, "x,batch", 0, NULL, NULL, 1, &made,
                       SPMD_AXES(SPMD_NOT_MAPPED),
                       &(spmd_vmap_options){.axis_name = "batch", .axis_size = 3}));
    uint32_t bits = (uint32_t) * (const uint16_t *)made->data << 16;
    float sum;
    memcpy(&sum, &bits, sizeof sum);
    /* 255 + 3n: above 256 bf16 has the even numbers, and halves go to the multiple of 4 */
    int exact = 255 + 3 * test_size, even = exact % 2 == 0 ? exact : (exact + 1) / 4 * 4;
    EXPECT(sum == (float)even);
    return SPMD_OK;
}

static void half_floats_are_rounded_once(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_OK(spmd_shard_map(mesh, map_halves, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* Unnamed vmaps are transparent, inside and outside of named ones. */

static spmd_status sum_rows(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    return map_in(ctx, NULL, sum, user, in, &out);
}

static spmd_status sum_named(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    return map_in(ctx, "batch", sum, user, in, &out);
}

static void unnamed_vmaps_are_transparent(void)
{
    int64_t memory[30];
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 5, 2)), *out = NULL;
    EXPECT_OK(map("batch", sum_rows, "batch", &in, &out));
    for (int64_t i = 0; i < 30; i++)
        EXPECT(elements(out)[i] == 3 * (i % 10) + 30);
    spmd_block_free(&out);
    EXPECT_OK(map(NULL, sum_named, "batch", &in, &out));
    for (int64_t i = 0; i < 30; i++)
        EXPECT(elements(out)[i] == 5 * (i / 10 * 10 + i % 2) + 20);
    spmd_block_free(&out);
}

/* Loops and branches, as one writes them: no scan and no cond to register. */

/* Steps of x = (x + mean x) / 2, until the greatest distance to the mean is below 1/1024: how many
 * steps that takes is known from the data alone, and alike to all. */
static spmd_status settle_down(spmd_ctx *ctx, void *user)
{
    spmd_block *x = spmd_out(ctx, 0, SPMD_F64, SPMD_SCALAR);
    spmd_block *mean = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    spmd_block *distance = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    double *at = x->data, *middle = mean->data, *far = distance->data;
    *at = (double)spmd_axis_index(ctx, user);
    for (int step = 0;; step++) {
        SPMD_TRY(spmd_pmean(ctx, x, user, mean));
        *far = *at > *middle ? *at - *middle : *middle - *at;
        SPMD_TRY(spmd_pmax(ctx, distance, user, distance));
        if (*far < 1.0 / 1024)
            return SPMD_OK;
        if (step % 2 == 0) { /* a branch that all take, with a collective in it */
            SPMD_TRY(spmd_pmean(ctx, x, user, mean));
        }
        *at = (*at + *middle) / 2;
    }
}

static spmd_status map_loop(spmd_ctx *ctx, void *user)
{
    spmd_block *made = NULL;
    SPMD_TRY(spmd_vmap(ctx, settle_down, user, 0, NULL, NULL, 1, &made, SPMD_AXES(0),
                       &(spmd_vmap_options){.axis_name = "batch", .axis_size = 5}));
    int64_t members = strcmp(user, "batch") == 0 ? 5 : 5 * test_size;
    for (int i = 0; i < 5; i++) {
        double distance = ((double *)made->data)[i] - (double)(members - 1) / 2;
        EXPECT(distance < 1.0 / 1024 && distance > -1.0 / 1024);
    }
    return SPMD_OK;
}

static void loops_and_branches_may_talk(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_OK(spmd_shard_map(mesh, map_loop, "batch", 0, NULL, NULL, 0, NULL, NULL, NULL));
    EXPECT_OK(spmd_shard_map(mesh, map_loop, "x,batch", 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static void a_thousand_instances(void)
{
    static int64_t memory[1000];
    spmd_block in = count_in(memory, SPMD_SHAPE(1000)), *out = NULL;
    EXPECT_OK(map("batch", sum, "batch", &in, &out));
    EXPECT(elements(out)[0] == 499500 && elements(out)[999] == 499500);
    spmd_block_free(&out);
}

/* Stacks, scratch memory, and starts that are open, are each instance's own. */

static spmd_status use_what_is_own(spmd_ctx *ctx, void *user)
{
    (void)user;
    volatile char room[300 << 10];
    spmd_block *temp = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(7));
    spmd_block *of_ranks = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    spmd_block *total = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    spmd_request *request = NULL;
    int64_t index = spmd_axis_index(ctx, "batch");
    for (size_t i = 0; i < sizeof room; i += 512)
        room[i] = (char)index;
    for (int i = 0; i < 7; i++)
        elements(temp)[i] = index;
    elements(of_ranks)[0] = index;
    SPMD_TRY(spmd_psum_start(ctx, of_ranks, "x", total, &request));
    spmd_fail(SPMD_ERR_BODY, "told by %lld", (long long)index);
    for (int step = 0; step < 3; step++)
        SPMD_TRY(spmd_pmax(ctx, temp, "batch", temp));
    EXPECT(elements(temp)[6] == 3 && room[sizeof room - 512] == (char)index);
    EXPECT(strtoll(spmd_error_message() + strlen("told by "), NULL, 10) == index);
    SPMD_TRY(spmd_wait(&request));
    EXPECT(*elements(total) == index * test_size);
    return SPMD_OK;
}

static spmd_status map_own(spmd_ctx *ctx, void *user)
{
    spmd_block *made = NULL;
    return spmd_vmap(
        ctx, use_what_is_own, user, 0, NULL, NULL, 1, &made, SPMD_AXES(0),
        &(spmd_vmap_options){.axis_name = "batch", .axis_size = 4, .stack_bytes = 512 << 10});
}

static void instances_have_things_of_their_own(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_OK(spmd_shard_map(mesh, map_own, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static spmd_status copy_index(spmd_ctx *ctx, void *user)
{
    (void)user;
    *elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)) = spmd_axis_index(ctx, "batch");
    EXPECT(spmd_axis_size(ctx, "batch") == 3);
    EXPECT(spmd_axis_size(ctx, "x") == -1 && spmd_axis_index(ctx, "batch,x") == -1);
    return SPMD_OK;
}

static void instances_need_not_talk(void)
{
    int64_t memory[3], nothing[1];
    spmd_block in = count_in(memory, SPMD_SHAPE(3)), *out = NULL;
    EXPECT_OK(map("batch", copy_index, NULL, &in, &out));
    for (int64_t i = 0; i < 3; i++)
        EXPECT(elements(out)[i] == i);
    spmd_block_free(&out);
    spmd_block empty = spmd_block_borrow(nothing, SPMD_I64, SPMD_SHAPE(0, 2)), *given = &empty;
    EXPECT_OK(map("batch", copy_index, NULL, &empty, &given));
}

/* Slices that are not dense in place, in and out, and an output that all share. */
static spmd_status sum_and_share(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *own = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    spmd_block *shared = spmd_out(ctx, 1, SPMD_I64, spmd_block_shape(in));
    SPMD_TRY(spmd_psum(ctx, in, user, shared));
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(own)[i] = 10 * elements(in)[i];
    return SPMD_OK;
}

static void slices_may_lie_apart(void)
{
    int64_t memory[12];
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 4)), *out[2] = {NULL};
    EXPECT_OK(spmd_vmap(NULL, sum_and_share, "batch", 1, SPMD_BLOCKS(&in), SPMD_AXES(1), 2, out,
                        SPMD_AXES(-1, SPMD_NOT_MAPPED),
                        &(spmd_vmap_options){.axis_name = "batch"}));
    for (int64_t i = 0; i < 12; i++)
        EXPECT(elements(out[0])[i] == 10 * i);
    for (int64_t r = 0; r < 3; r++)
        EXPECT(elements(out[1])[r] == 16 * r + 6);
    spmd_block_free(&out[0]);
    spmd_block_free(&out[1]);
}

/* Over trees, whose leaves have paths. */

static spmd_status sum_leaves(spmd_ctx *ctx, void *user)
{
    const spmd_block *w = spmd_in_at(ctx, "['w']"), *b = spmd_in_at(ctx, "['b']");
    SPMD_TRY(spmd_psum(ctx, w, user, spmd_out_at(ctx, "['w']", SPMD_I64, SPMD_SHAPE(2))));
    EXPECT(spmd_tree_nleaves(spmd_in_tree(ctx)) == 2);
    return spmd_psum(ctx, b, user, spmd_out_at(ctx, "['b']", SPMD_I64, SPMD_SCALAR));
}

static void trees_are_mapped(void)
{
    int64_t memory[2][6];
    spmd_block w = count_in(memory[0], SPMD_SHAPE(3, 2)), b = count_in(memory[1], SPMD_SHAPE(3));
    spmd_tree *in = NULL, *out = NULL;
    const spmd_block *got = NULL;
    EXPECT_OK(spmd_tree_create(&in));
    EXPECT_OK(spmd_tree_set_block(in, "['w']", &w));
    EXPECT_OK(spmd_tree_set_block(in, "['b']", &b));
    EXPECT_OK(spmd_vmap_tree(NULL, sum_leaves, "batch", in, "0", &out, "{w: 0, b: None}",
                             &(spmd_vmap_options){.axis_name = "batch"}));
    if (EXPECT_OK(spmd_tree_get_block(out, "['w']", &got)))
        EXPECT(elements(got)[0] == 6 && elements(got)[1] == 9 && elements(got)[5] == 9);
    if (EXPECT_OK(spmd_tree_get_block(out, "['b']", &got)))
        EXPECT(*elements(got) == 3 && got->ndim == 0);
    spmd_tree_free(&in);
    spmd_tree_free(&out);
}

/* Instances that do not do the same. */

enum deed { RETURN, CALL_ANOTHER, BRING_MORE, OTHER_ORDER, FAIL, FAIL_AND_HIDE };

/* What the last of 4 instances does otherwise, and how many of the others were told of a failure.
 */
struct mischief {
    enum deed deed;
    int told;
};

static spmd_status misbehave(spmd_ctx *ctx, const struct mischief *mischief, spmd_block *block)
{
    spmd_block *more = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(2));
    switch (mischief->deed) {
    case RETURN:
        return SPMD_OK;
    case CALL_ANOTHER:
        return spmd_pmax(ctx, block, "batch", block);
    case BRING_MORE:
        return spmd_psum(ctx, more, "batch", more);
    case OTHER_ORDER:
        SPMD_TRY(spmd_pmin(ctx, block, "batch", block));
        return spmd_psum(ctx, block, "batch", block);
    default:
        return spmd_fail(SPMD_ERR_BODY, "no luck");
    }
}

static spmd_status behave(spmd_ctx *ctx, void *user)
{
    struct mischief *mischief = user;
    spmd_block *block = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    if (spmd_axis_index(ctx, "batch") == 3)
        return misbehave(ctx, mischief, block);
    spmd_status status = spmd_psum(ctx, block, "batch", block);
    mischief->told += status != SPMD_OK;
    if (status != SPMD_OK) /* and again */
        EXPECT_FAILS(spmd_pmin(ctx, block, "batch", block), status, spmd_error_message());
    return mischief->deed == FAIL_AND_HIDE ? SPMD_OK : status;
}

static spmd_status map_mischief(struct mischief *mischief)
{
    return spmd_vmap(NULL, behave, mischief, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = "batch", .axis_size = 4});
}

static void what_differs_is_an_error_of_all(void)
{
    const struct {
        enum deed deed;
        spmd_status status;
        const char *message;
    } deeds[] = {
        {RETURN, SPMD_ERR_DISAGREE,
         "instance 3 has returned, while instance 0 waits in psum over batch of i64[] ("},
        {CALL_ANOTHER, SPMD_ERR_DISAGREE, "instance 3 calls pmax over batch of i64[] ("},
        {CALL_ANOTHER, SPMD_ERR_DISAGREE, "while instance 0 calls psum over batch of i64[] ("},
        {BRING_MORE, SPMD_ERR_DISAGREE, "instance 3 calls psum over batch of i64[2] ("},
        {OTHER_ORDER, SPMD_ERR_DISAGREE, "instance 3 calls pmin over batch"},
        {FAIL, SPMD_ERR_BODY, "instance 3: no luck"},
        {FAIL_AND_HIDE, SPMD_ERR_BODY, "instance 3: no luck"},
    };
    for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
        struct mischief mischief = {deeds[d].deed, 0};
        EXPECT_FAILS(map_mischief(&mischief), deeds[d].status, deeds[d].message);
        EXPECT(mischief.told == 3);
    }
}

/* A failure that all have alike is theirs: they may go on. */
static spmd_status recover(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *block = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    spmd_block *wrong = spmd_temp(ctx, SPMD_F32, SPMD_SCALAR);
    *elements(block) = 1;
    EXPECT_FAILS(spmd_psum(ctx, block, "batch", wrong), SPMD_ERR_DTYPE, "psum gives a block i64[]");
    EXPECT_FAILS(spmd_psum(ctx, block, "batch,q", block), SPMD_ERR_MESH,
                 "no axis q; name one of its own");
    EXPECT_FAILS(spmd_psum(ctx, block, "bacth", block), SPMD_ERR_MESH,
                 ",batch=4: the mesh has no axis bacth; name one of its own");
    EXPECT_FAILS(spmd_psum(ctx, block, "bacth [[0]]", block), SPMD_ERR_MESH, "no axis bacth");
    EXPECT_FAILS(spmd_psum(ctx, block, "batch [[0,1],[2,3]]", block), SPMD_ERR_ARGUMENT,
                 "groups are of ranks");
    const int64_t four[] = {0, 0, 0, 0};
    EXPECT_FAILS(spmd_ragged_all_to_all(ctx, spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(1)), "batch,x", 4,
                                        four, four, four, four, block),
                 SPMD_ERR_ARGUMENT, "members have lists of their own");
    spmd_request *request = NULL;
    EXPECT_FAILS(spmd_psum_start(ctx, block, "batch", block, &request), SPMD_ERR_ARGUMENT,
                 "psum_start over batch");
    SPMD_TRY(spmd_psum(ctx, block, "batch", block));
    EXPECT(*elements(block) == 4);
    return SPMD_OK;
}

static spmd_status map_recover(spmd_ctx *ctx, void *user)
{
    return spmd_vmap(ctx, recover, user, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = "batch", .axis_size = 4});
}

static void wrong_arguments_are_refused(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_OK(spmd_shard_map(mesh, map_recover, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

/* Rows from each to each, of lists of their own. */
static spmd_status send_rows(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t k = spmd_axis_index(ctx, "batch"), from[3], sent[3], to[3], got[3];
    spmd_block *in = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(6));
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(9));
    for (int64_t i = 0; i < 6; i++)
        elements(in)[i] = 10 * k + i;
    for (int64_t m = 0; m < 3; m++) { /* m rows for member m, k from everybody */
        from[m] = m * (m - 1) / 2;
        sent[m] = m;
        to[m] = k * m;
        got[m] = k;
    }
    return spmd_ragged_all_to_all(ctx, in, "batch", 3, from, sent, to, got, out);
}

static void instances_send_rows(void)
{
    spmd_block *out = NULL;
    EXPECT_OK(spmd_vmap(NULL, send_rows, NULL, 0, NULL, NULL, 1, &out, SPMD_AXES(0),
                        &(spmd_vmap_options){.axis_name = "batch", .axis_size = 3}));
    for (int64_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < 9; i++) {
            int64_t sender = k > 0 ? i / k : 3, row = k * (k - 1) / 2 + (k > 0 ? i % k : 0);
            EXPECT(elements(out)[9 * k + i] == (sender < 3 ? 10 * sender + row : 0));
        }
    spmd_block_free(&out);
}

/* Nested: inner instances that disagree, inner vmaps of different sizes, a ctx of outside. */

struct nested {
    spmd_ctx *outside;
    const char *axes;
    bool grows, skips;
};

static spmd_status inner_body(spmd_ctx *ctx, void *user)
{
    const struct nested *nested = user;
    spmd_block *block = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    if (nested->skips && spmd_axis_index(ctx, "a,b") == 4)
        return SPMD_OK;
    return spmd_psum(nested->outside ? nested->outside : ctx, block, nested->axes, block);
}

static spmd_status outer_body(spmd_ctx *ctx, void *user)
{
    struct nested nested = *(struct nested *)user;
    int64_t size = 3 + (nested.grows ? spmd_axis_index(ctx, "a") : 0);
    nested.outside = nested.outside ? ctx : NULL;
    return spmd_vmap(ctx, inner_body, &nested, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = "b", .axis_size = size});
}

static spmd_status map_nested(const struct nested *nested)
{
    return spmd_vmap(NULL, outer_body, (void *)nested, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = "a", .axis_size = 2});
}

static void nested_instances_disagree(void)
{
    spmd_ctx *some = (spmd_ctx *)&(int){0};
    EXPECT_OK(map_nested(&(struct nested){.axes = "a"}));
    EXPECT_OK(map_nested(&(struct nested){.axes = "a,b"}));
    EXPECT_FAILS(map_nested(&(struct nested){.axes = "a,b", .skips = true}), SPMD_ERR_DISAGREE,
                 "instance 1: instance 1 has returned, while instance 0 waits in psum over a,b");
    EXPECT_FAILS(map_nested(&(struct nested){.axes = "b,a", .grows = true}), SPMD_ERR_DISAGREE,
                 "instance 1 calls psum over b,a of i64[] (");
    EXPECT_FAILS(map_nested(&(struct nested){.axes = "a", .outside = some}), SPMD_ERR_ARGUMENT,
                 "an instance calls with its own");
}

/* Names. */

static spmd_status do_nothing(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return SPMD_OK;
}

static spmd_status name_it(spmd_ctx *ctx, const char *name)
{
    return spmd_vmap(ctx, do_nothing, NULL, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = name, .axis_size = 1});
}

static spmd_status name_again(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT_FAILS(name_it(ctx, "batch"), SPMD_ERR_MESH, "a vmap around this one has the same");
    EXPECT_FAILS(name_it(ctx, "x"), SPMD_ERR_MESH, "has an axis of this name");
    EXPECT_OK(name_it(ctx, "batch2"));
    return SPMD_OK;
}

static spmd_status map_names(spmd_ctx *ctx, void *user)
{
    return spmd_vmap(ctx, name_again, user, 0, NULL, NULL, 0, NULL, NULL,
                     &(spmd_vmap_options){.axis_name = "batch", .axis_size = 1});
}

static void names_are_new_ones(void)
{
    spmd_mesh *mesh = make_line();
    EXPECT_OK(spmd_shard_map(mesh, map_names, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    EXPECT_FAILS(name_it(NULL, "2x"), SPMD_ERR_SYNTAX, "axis_name \"2x\"");
    EXPECT_FAILS(name_it(NULL, ""), SPMD_ERR_SYNTAX, "axis_name \"\"");
    EXPECT_FAILS(name_it(NULL, "None"), SPMD_ERR_SYNTAX, "None");
    EXPECT_OK(name_it(NULL, "x"));
    spmd_mesh_free(&mesh);
}

/* Ranks with different numbers of instances. */

struct uneven {
    const char *name, *axes;
    bool known; /* the mapped block is an input of the body */
};

static spmd_status sum_scalar(spmd_ctx *ctx, void *user)
{
    const struct uneven *uneven = user;
    spmd_block *out = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    return spmd_psum(ctx, spmd_in(ctx, 0), uneven->axes, out);
}

static spmd_status map_rows(spmd_ctx *ctx, void *user)
{
    const struct uneven *uneven = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block copy = *in;
    return spmd_vmap(ctx, sum_scalar, user, 1, SPMD_BLOCKS(uneven->known ? in : &copy),
                     SPMD_AXES(0), 0, NULL, NULL, &(spmd_vmap_options){.axis_name = uneven->name});
}

static void ranks_need_equal_numbers(void)
{
    const struct uneven cases[] = {{NULL, "x", true},
                                   {NULL, "x", false},
                                   {"batch", "x", true},
                                   {"batch", "batch,x", true},
                                   {"batch", "x,batch", false}};
    spmd_mesh *mesh = make_line();
    spmd_array *even = NULL, *uneven = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(2 * test_size), &even));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(2 * test_size + 1), &uneven));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        EXPECT_OK(spmd_shard_map(mesh, map_rows, (void *)&cases[c], 1, SPMD_ARRAYS(even),
                                 SPMD_SPECS("P(x)"), 0, NULL, NULL, NULL));
        spmd_status status =
            spmd_shard_map(mesh, map_rows, (void *)&cases[c], 1, SPMD_ARRAYS(uneven),
                           SPMD_SPECS("P(x)"), 0, NULL, NULL, NULL);
        if (test_size == 1)
            EXPECT_OK(status);
        else
            EXPECT_FAILS(status, SPMD_ERR_SHAPE,
                         "the vmap has 3 instances on some ranks and 2 on others: a collective "
                         "over x in it needs equal numbers");
    }
    spmd_array_free(&even);
    spmd_array_free(&uneven);
    spmd_mesh_free(&mesh);
}

/* Ranks that have no instance never get to the collective; how the input lies tells the others. */
static void ranks_without_instances_are_known(void)
{
    struct uneven uneven = {NULL, "x", true};
    spmd_mesh *mesh = make_line();
    spmd_array *one = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(1), &one));
    spmd_status status = spmd_shard_map(mesh, map_rows, &uneven, 1, SPMD_ARRAYS(one),
                                        SPMD_SPECS("P(x)"), 0, NULL, NULL, NULL);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_SHAPE, "1 instances on some ranks and 0 on others");
    spmd_array_free(&one);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("vmap_named", CASE(instances_sum), CASE(the_sum_of_what_is_not_mapped_counts),
             CASE(instances_and_ranks_are_members_alike), CASE(half_floats_are_rounded_once),
             CASE(unnamed_vmaps_are_transparent), CASE(loops_and_branches_may_talk),
             CASE(a_thousand_instances), CASE(instances_have_things_of_their_own),
             CASE(instances_need_not_talk), CASE(slices_may_lie_apart), CASE(trees_are_mapped),
             CASE(what_differs_is_an_error_of_all), CASE(wrong_arguments_are_refused),
             CASE(instances_send_rows), CASE(nested_instances_disagree), CASE(names_are_new_ones),
             CASE(ranks_need_equal_numbers), CASE(ranks_without_instances_are_known))
