/* shard_map.c - MPI tests of shard_map: what bodies see, and what becomes of their outputs. */
#include "counting.h"

/* Blocks. */

static void blocks_join_to_arrays(void)
{
    static const char *const line[] = {"P()", "P(x)", "P(-,x)", "P(x,-)"};
    static const char *const grid[] = {"P()", "P(x,y)", "P(y,x)", "P((x,y))", "P(-,(y,x))"};
    const spmd_shape shapes[] = {SPMD_SHAPE(7, 5), SPMD_SHAPE(1, 9), SPMD_SHAPE(8, 16),
                                 SPMD_SHAPE(2, 3, 2), SPMD_SHAPE(0, 4)};
    const struct {
        spmd_mesh *mesh;
        const char *const *specs;
        int nspecs;
    } places[] = {{make_line(), line, 4}, {make_grid(), grid, 5}};
    for (int p = 0; p < 2; p++) {
        spmd_mesh *mesh = places[p].mesh;
        for (int k = 0; k < 5 * places[p].nspecs * places[p].nspecs; k++) {
            int pair = k / 5;
            const char *from = places[p].specs[pair / places[p].nspecs];
            const char *to = places[p].specs[pair % places[p].nspecs];
            spmd_array *in = count_up(mesh, from, shapes[k % 5]), *out = NULL;
            EXPECT_OK(map(mesh, twice_and_one, NULL, in, to, &out, to));
            EXPECT(spmd_shape_equal(spmd_array_shape(out), shapes[k % 5]));
            expect_line(out, 2, 1);
            expect_line(in, 1, 0);
            spmd_array_free(&in);
            spmd_array_free(&out);
        }
        spmd_mesh_free(&mesh);
    }
}

/* What a body found out about its input. */
struct sight {
    spmd_block block;
    spmd_mesh *mesh;
    int calls;
};

static spmd_status look(spmd_ctx *ctx, void *user)
{
    struct sight *sight = user;
    const spmd_block *in = spmd_in(ctx, 0);
    if (in)
        sight->block = *in;
    sight->mesh = spmd_ctx_mesh(ctx);
    sight->calls++;
    return SPMD_OK;
}

static struct sight look_at(spmd_mesh *mesh, spmd_array *array, const char *spec)
{
    struct sight sight = {.calls = 0};
    EXPECT_OK(spmd_shard_map(mesh, look, &sight, 1, SPMD_ARRAYS(array), SPMD_SPECS(spec), 0, NULL,
                             NULL, NULL));
    EXPECT(sight.calls == 1 && sight.mesh == mesh);
    return sight;
}

static void inputs_in_place_are_not_copied(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *array = count_up(mesh, "P(x)", SPMD_SHAPE(5, 3));
    void *data = spmd_array_block(array)->data;
    EXPECT(look_at(mesh, array, "P(x)").block.data == data);
    EXPECT(look_at(mesh, array, "P(x,-)").block.data == data);
    EXPECT((look_at(mesh, array, "P(x,y)").block.data == data) ==
           (spmd_mesh_axis_size(mesh, "y") == 1));
    EXPECT((look_at(mesh, array, "P()").block.data == data) ==
           (spmd_mesh_axis_size(mesh, "x") == 1));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void blocks_know_their_place(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *array = count_up(mesh, "P()", SPMD_SHAPE(5, 3, 1));
    static const char *const specs[] = {"P()", "P(x)", "P(y,x)", "P(-,(x,y))"};
    for (int s = 0; s < 4; s++) {
        spmd_sharding *sharding = NULL;
        spmd_box box;
        struct sight sight = look_at(mesh, array, specs[s]);
        EXPECT_OK(spmd_sharding_create(mesh, specs[s], &sharding));
        EXPECT_OK(spmd_sharding_box(sharding, SPMD_SHAPE(5, 3, 1), test_rank, &box));
        EXPECT(spmd_shape_equal(spmd_block_shape(&sight.block), spmd_box_shape(&box)));
        EXPECT(sight.block.replica == spmd_sharding_replica(sharding, test_rank));
        for (int d = 0; d < 3; d++)
            EXPECT(sight.block.offset[d] == box.lo[d] &&
                   sight.block.global[d] == (int64_t[]){5, 3, 1}[d]);
        spmd_sharding_free(&sharding);
    }
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_status expect_none(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 0) == NULL);
    EXPECT(spmd_in(ctx, 1) != NULL && elements(spmd_in(ctx, 1))[0] == 0);
    EXPECT(spmd_in(ctx, 2) == NULL);
    return SPMD_OK;
}

static void none_is_an_input(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = count_up(mesh, "P()", SPMD_SHAPE(2));
    EXPECT_OK(spmd_shard_map(mesh, expect_none, NULL, 3, SPMD_ARRAYS(NULL, array, NULL),
                             SPMD_SPECS("P(x)", "P()", "P(-,-,x)"), 0, NULL, NULL, NULL));
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_status axes_as_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_axis_size(ctx, "x,y") == test_size);
    EXPECT(spmd_axis_index(ctx, "q") == -1 && spmd_axis_size(ctx, "q") == -1);
    const char *const axes[] = {"x", "y", "x,y", "y,x"};
    for (int k = 0; k < 4; k++)
        *elements(spmd_out(ctx, k, SPMD_I64, SPMD_SHAPE(1, 1))) = spmd_axis_index(ctx, axes[k]);
    return SPMD_OK;
}

static void axis_indices_count_the_ranks(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *out[4] = {NULL};
    EXPECT_OK(spmd_shard_map(mesh, axes_as_output, NULL, 0, NULL, NULL, 4, out,
                             SPMD_SPECS("P(x,y)", "P(x,y)", "P(x,y)", "P(y,x)"), NULL));
    int64_t *x = gather(out[0]), *y = gather(out[1]), ny = spmd_mesh_axis_size(mesh, "y");
    for (int64_t i = 0; i < test_size; i++)
        EXPECT(x[i] == i / ny && y[i] == i % ny);
    expect_line(out[2], 1, 0);
    expect_line(out[3], 1, 0);
    free(x);
    free(y);
    for (int k = 0; k < 4; k++)
        spmd_array_free(&out[k]);
    spmd_mesh_free(&mesh);
}

/* Outputs. */

/* From rows [n, 3]: sums of rows, the rows as f32 with a new dimension, a total, an empty block. */
static spmd_status several(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    int64_t rows = in->shape[0];
    spmd_block *sums = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(rows));
    spmd_block *total = spmd_out(ctx, 2, SPMD_I64, SPMD_SCALAR);
    spmd_block *wide = spmd_out(ctx, 1, SPMD_F32, SPMD_SHAPE(2, rows, 3));
    spmd_out(ctx, 3, SPMD_BOOL, SPMD_SHAPE(rows, 0));
    for (int64_t i = 0; i < 3 * rows; i++) {
        elements(sums)[i / 3] += elements(in)[i];
        ((float *)wide->data)[i] = (float)elements(in)[i];
        ((float *)wide->data)[3 * rows + i] = -(float)elements(in)[i];
        *elements(total) += elements(in)[i];
    }
    return spmd_psum(ctx, total, "x", total);
}

static void outputs_of_any_type_and_rank(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(-,x)", SPMD_SHAPE(7, 3)), *out[4] = {NULL};
    EXPECT_OK(spmd_shard_map(mesh, several, NULL, 1, SPMD_ARRAYS(in), SPMD_SPECS("P(x)"), 4, out,
                             SPMD_SPECS("P(x)", "P(-,x)", "P()", "P(x)"), NULL));
    EXPECT(has_type(out[0], "i64[7@x]"));
    EXPECT(has_type(out[1], "f32[2,7@x,3]"));
    EXPECT(has_type(out[2], "i64[]"));
    EXPECT(has_type(out[3], "bool[7@x,0]"));
    expect_line(out[0], 9, 3);
    EXPECT(*block_of(out[2]) == 210);
    float host[42];
    EXPECT_OK(spmd_array_gather(out[1], SPMD_ALL, host, 42));
    for (int i = 0; i < 21; i++)
        EXPECT(host[i] == (float)i && host[21 + i] == -(float)i);
    const spmd_block *block = spmd_array_block(out[1]);
    EXPECT(block->global[1] == 7 && block->offset[1] == spmd_array_block(out[0])->offset[0]);
    EXPECT(spmd_array_block(out[2])->replica == test_rank);
    for (int k = 0; k < 4; k++)
        spmd_array_free(&out[k]);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Copies side by side: an output that is split along an axis that its blocks do not differ on. */
static void out_specs_tile(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    spmd_array *in = count_up(mesh, "P(x,-)", SPMD_SHAPE(3 * nx, 12)), *out = NULL;
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x,-)", &out, "P(x,y)"));
    int64_t *host = gather(out), wrong = 0;
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(3 * nx, 12 * ny)));
    for (int64_t i = 0; i < 3 * nx * 12 * ny; i++)
        wrong += host[i] != i / (12 * ny) * 12 + i % 12;
    EXPECT(wrong == 0);
    free(host);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status three(spmd_ctx *ctx, void *user)
{
    (void)user;
    *elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1, 1))) = 3;
    return SPMD_OK;
}

static void out_specs_tile_one_element(void)
{
    static const char *const specs[] = {"P(x,y)", "P(x,-)", "P()", "P(-,(x,y))"};
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    const spmd_shape shapes[] = {SPMD_SHAPE(nx, ny), SPMD_SHAPE(nx, 1), SPMD_SHAPE(1, 1),
                                 SPMD_SHAPE(1, nx * ny)};
    for (int s = 0; s < 4; s++) {
        spmd_array *out = NULL;
        EXPECT_OK(
            spmd_shard_map(mesh, three, NULL, 0, NULL, NULL, 1, &out, SPMD_SPECS(specs[s]), NULL));
        EXPECT(spmd_shape_equal(spmd_array_shape(out), shapes[s]));
        expect_line(out, 0, 3);
        spmd_array_free(&out);
    }
    spmd_mesh_free(&mesh);
}

static spmd_status sum_along(spmd_ctx *ctx, void *axes)
{
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, axes, out_like(ctx, 0, in));
}

/* Sums over the parts of a [3 nx, 6 ny] array: along y, along x, along both. */
static void sums_need_no_axis_in_their_out_spec(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y"), *host;
    spmd_array *in = count_up(mesh, "P(x,y)", SPMD_SHAPE(3 * nx, 6 * ny)), *out = NULL;
    EXPECT_OK(map(mesh, sum_along, "y", in, "P(x,y)", &out, "P(x,-)"));
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(3 * nx, 6)));
    host = gather(out);
    for (int64_t i = 0; i < 18 * nx; i++)
        EXPECT(host[i] == ny * (i / 6 * 6 * ny + i % 6) + 6 * (ny * (ny - 1) / 2));
    free(host);
    EXPECT_OK(map(mesh, sum_along, "x", in, "P(x,y)", &out, "P(-,y)"));
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(3, 6 * ny)));
    expect_line(out, nx, 3 * 6 * ny * (nx * (nx - 1) / 2));
    EXPECT_OK(map(mesh, sum_along, "x,y", in, "P(x,y)", &out, "P()"));
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(3, 6)));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status three_by_seven(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 0)->shape[0] == 2 && spmd_in(ctx, 0)->shape[1] == 5);
    int64_t *out = elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(3, 7)));
    for (int64_t i = 0; i < 21; i++)
        out[i] = 21 * spmd_axis_index(ctx, "x") + i;
    return SPMD_OK;
}

static void outputs_need_not_be_as_the_inputs(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(2 * test_size, 5)), *out = NULL;
    EXPECT_OK(map(mesh, three_by_seven, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(3 * test_size, 7)));
    expect_line(out, 1, 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Columns beyond the end: blocks of no columns. */
static spmd_status no_columns(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    EXPECT(spmd_block_size(spmd_out(ctx, 0, in->dtype, SPMD_SHAPE(in->shape[0], 0))) == 0);
    return SPMD_OK;
}

static void blocks_may_be_empty(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(-, x)", SPMD_SHAPE(32, 32)), *out = NULL;
    EXPECT_OK(map(mesh, no_columns, NULL, in, "P(-, x)", &out, "P(-, x)"));
    EXPECT(has_type(out, "i64[32,0@x]"));
    EXPECT_OK(map(mesh, no_columns, NULL, in, "P(-, x)", &out, "P(-, -)"));
    EXPECT(has_type(out, "i64[32,0]"));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* The dimensions of an array along the axes of a mesh in another order. */
static void three_axes(void)
{
    spmd_mesh *mesh = make_mesh(test_size == 8 ? "x=2,y=2,z=2" : "x=1,y=1,z=*");
    spmd_array *in = count_up(mesh, "P(z, (x,y))", SPMD_SHAPE(8, 8)), *out = NULL;
    if (test_size == 8)
        EXPECT(spmd_shape_equal(spmd_block_shape(spmd_array_block(in)), SPMD_SHAPE(4, 2)));
    EXPECT_OK(map(mesh, copy, NULL, in, "P(z, (x,y))", &out, "P(z, (x,y))"));
    EXPECT(has_type(out, "i64[8@z,8@(x,y)]"));
    expect_line(out, 1, 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status scratch(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *a = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(3, 5));
    spmd_block *b = spmd_temp(ctx, SPMD_I8, SPMD_SHAPE(0));
    spmd_block *c = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(2));
    EXPECT(a && b && c && out);
    EXPECT((uintptr_t)a->data % 64 == 0 && (uintptr_t)c->data % 64 == 0);
    EXPECT(a->stride[0] == 5 && a->stride[1] == 1);
    for (int i = 0; i < 15; i++)
        EXPECT(elements(a)[i] == 0);
    EXPECT(*elements(c) == 0 && elements(out)[0] == 0 && elements(out)[1] == 0);
    memset(a->data, 1, 15 * sizeof(int64_t));
    *elements(c) = 4;
    EXPECT(elements(out)[0] == 0);
    return SPMD_OK;
}

static void scratch_memory_is_zeroed(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(
            spmd_shard_map(mesh, scratch, NULL, 0, NULL, NULL, 1, &out, SPMD_SPECS("P()"), NULL));
        spmd_array_free(&out);
    }
    spmd_mesh_free(&mesh);
}

/* Idle ranks. */

static void idle_ranks_may_call(void)
{
    spmd_mesh *mesh = make_shorter_line();
    bool idle = is_idle(mesh);
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(7)), *out = NULL;
    struct sight sight = {.calls = 0};
    EXPECT_OK(spmd_shard_map(mesh, look, &sight, 1, SPMD_ARRAYS(in), SPMD_SPECS("P(x)"), 0, NULL,
                             NULL, NULL));
    EXPECT(sight.calls == !idle);
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(map(mesh, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
        EXPECT(out != NULL && (spmd_array_block(out) == NULL) == idle);
        EXPECT(spmd_array_shape(out).dim[0] == (idle ? -1 : 7));
    }
    spmd_array *again = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, twice_and_one, "P(x)", "P(x)", NULL);
    for (int i = 0; i < 3; i++)
        EXPECT_OK(spmd_shard_map_run(plan, NULL, SPMD_ARRAYS(out), &again));
    spmd_shard_map_free(&plan);
    int64_t host[7] = {0};
    EXPECT_OK(spmd_array_gather(again, SPMD_ALL, host, 7));
    for (int i = 0; i < 7; i++)
        EXPECT(host[i] == (idle ? 0 : 4 * i + 3));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_array_free(&again);
    spmd_mesh_free(&mesh);
}

/* A given array of a larger mesh is replaced on the ranks that are idle now, too. */
static void idle_ranks_give_back_what_was_given(void)
{
    spmd_mesh *mesh = make_line(), *shorter = make_shorter_line();
    spmd_array *in = count_up(shorter, "P(x)", SPMD_SHAPE(7)), *moved = NULL;
    spmd_array *out = count_up(mesh, "P(x)", SPMD_SHAPE(9));
    EXPECT_OK(map(shorter, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(spmd_sharding_mesh(spmd_array_sharding(out)) == shorter);
    EXPECT_OK(spmd_reshard(out, "P()", &moved));
    spmd_array_free(&moved);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&shorter);
}

/* Loops and branches with collectives in them. */

/* The sum of all elements of the input, on every rank. */
static spmd_status total_of(spmd_ctx *ctx, const spmd_block *in, int64_t *total)
{
    spmd_block *sum = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        *elements(sum) += elements(in)[i];
    SPMD_TRY(spmd_psum(ctx, sum, "x,y", sum));
    *total = *elements(sum);
    return SPMD_OK;
}

/* Until the total is below a limit: halves it where it is even, else takes one of each element;
 * two steps a round. Writes the total and the number of steps. */
static spmd_status halve_until_small(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *state = spmd_temp(ctx, SPMD_I64, spmd_block_shape(in));
    int64_t *out = elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(2))), total;
    memcpy(state->data, in->data, sizeof(int64_t) * (size_t)spmd_block_size(in));
    SPMD_TRY(total_of(ctx, state, &total));
    while (total > *(int64_t *)user)
        for (int step = 0; step < 2; step++, out[1]++) {
            for (int64_t i = 0; i < spmd_block_size(state); i++)
                elements(state)[i] =
                    total % 2 == 0 ? elements(state)[i] / 2 : elements(state)[i] - 1;
            SPMD_TRY(total_of(ctx, state, &total));
        }
    out[0] = total;
    return SPMD_OK;
}

static void loops_and_branches(void)
{
    spmd_mesh *grid = make_grid(), *line = make_mesh("x=*,y=1");
    spmd_mesh *const meshes[] = {grid, line};
    int64_t state[35], total = 0, steps = 0, limit = 7;
    for (int i = 0; i < 35; i++)
        total += state[i] = i;
    while (total > limit)
        for (int step = 0; step < 2; step++, steps++) {
            bool even = total % 2 == 0;
            total = 0;
            for (int i = 0; i < 35; i++)
                total += state[i] = even ? state[i] / 2 : state[i] - 1;
        }
    for (int m = 0; m < 2; m++) {
        spmd_array *in = count_up(meshes[m], "P(x,y)", SPMD_SHAPE(7, 5)), *out = NULL;
        EXPECT_OK(map(meshes[m], halve_until_small, &limit, in, "P(x,y)", &out, "P()"));
        EXPECT(block_of(out)[0] == total && block_of(out)[1] == steps && steps > 4);
        spmd_array_free(&in);
        spmd_array_free(&out);
    }
    spmd_mesh_free(&grid);
    spmd_mesh_free(&line);
}

/* out = each element plus the sum of all and the place along (x,y), which is the position. */
static spmd_status add_sum_and_place(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    int64_t total;
    SPMD_TRY(total_of(ctx, in, &total));
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = elements(in)[i] + total + 1000 * spmd_axis_index(ctx, "(x,y)");
    return SPMD_OK;
}

/* The input is in place, or is moved there first. */
static void ranks_in_another_order(void)
{
    static const char *const specs[] = {"P((x,y))", "P((y,x))", "P()"};
    int64_t n = 3 * test_size, total = n * (n - 1) / 2;
    for (int i = 0; i < 3 * PERMUTED_FULL_MESHES; i++) {
        spmd_mesh *mesh = make_permuted(i / 3);
        spmd_array *in = count_up(mesh, specs[i % 3], SPMD_SHAPE(n)), *out = NULL;
        EXPECT_OK(map(mesh, add_sum_and_place, NULL, in, "P((x,y))", &out, "P((x,y))"));
        int64_t wrong = 0, *host = out ? gather(out) : NULL;
        for (int64_t k = 0; host && k < n; k++)
            wrong += host[k] != k + total + 1000 * (k / 3);
        EXPECT(host && wrong == 0);
        free(host);
        spmd_array_free(&in);
        spmd_array_free(&out);
        spmd_mesh_free(&mesh);
    }
}

/* Rows of the grid may do different things: only row 0 sums along y, twice. */
static spmd_status rows_differ(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    *elements(out) = 1;
    for (int i = 0; i < 2 && spmd_axis_index(ctx, "x") == 0; i++)
        SPMD_TRY(spmd_psum(ctx, out, "y", out));
    return SPMD_OK;
}

static void rows_may_do_different_things(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *out = NULL;
    int64_t ny = spmd_mesh_axis_size(mesh, "y");
    EXPECT_OK(
        spmd_shard_map(mesh, rows_differ, NULL, 0, NULL, NULL, 1, &out, SPMD_SPECS("P(x)"), NULL));
    EXPECT(block_of(out)[0] == (spmd_array_block(out)->offset[0] == 0 ? ny * ny : 1));
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map", CASE(blocks_join_to_arrays), CASE(inputs_in_place_are_not_copied),
             CASE(blocks_know_their_place), CASE(none_is_an_input),
             CASE(axis_indices_count_the_ranks), CASE(outputs_of_any_type_and_rank),
             CASE(out_specs_tile), CASE(out_specs_tile_one_element),
             CASE(sums_need_no_axis_in_their_out_spec), CASE(outputs_need_not_be_as_the_inputs),
             CASE(blocks_may_be_empty), CASE(three_axes), CASE(scratch_memory_is_zeroed),
             CASE(idle_ranks_may_call), CASE(idle_ranks_give_back_what_was_given),
             CASE(loops_and_branches), CASE(ranks_in_another_order),
             CASE(rows_may_do_different_things))
