/* shard_map_axes.c - MPI tests of shard_maps over some axes of a mesh: what lies along the other
 * ones stays where it is, and is there as an array. */
#include "counting.h"

/* Two axes, the first of two ranks where they divide; three axes. */
static spmd_mesh *make_cube(void)
{
    return make_mesh(test_size % 4 == 0 ? "x=2,y=2,z=*"
                     : test_size == 6   ? "x=3,y=2,z=1"
                                        : "z=*,x=1,y=1");
}

static spmd_status map_axes(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user,
                            spmd_array *in, const char *in_spec, spmd_array **out,
                            const char *out_spec)
{
    const spmd_shard_map_options options = {.axes = axes};
    return spmd_shard_map(mesh, body, user, in != NULL, SPMD_ARRAYS(in), SPMD_SPECS(in_spec),
                          out != NULL, out, SPMD_SPECS(out_spec), &options);
}

static bool lies_as(const spmd_array *array, const char *spec)
{
    char text[256];
    spmd_sharding_format(text, sizeof text, spmd_array_sharding(array));
    return array && strcmp(text, spec) == 0;
}

/* What a body sees. */

/* What a body over x found out about its input. */
struct sight {
    const void *data; /* of its block, and of its array's block */
    const void *array_data;
    spmd_shape shape; /* of the array */
    spmd_block block; /* the array's */
    char spec[256], mesh[256];
};

static spmd_status look(spmd_ctx *ctx, void *user)
{
    struct sight *sight = user;
    spmd_array *array = spmd_in_array(ctx, 0);
    EXPECT(array != NULL && array == spmd_in_array(ctx, 0));
    sight->data = spmd_in(ctx, 0)->data;
    sight->block = *spmd_array_block(array);
    sight->array_data = sight->block.data;
    sight->shape = spmd_array_shape(array);
    spmd_sharding_format(sight->spec, sizeof sight->spec, spmd_array_sharding(array));
    spmd_mesh_format(sight->mesh, sizeof sight->mesh, spmd_ctx_mesh(ctx));
    EXPECT(spmd_sharding_mesh(spmd_array_sharding(array)) == spmd_ctx_mesh(ctx));
    return SPMD_OK;
}

static struct sight look_at(spmd_mesh *mesh, const char *axes, spmd_array *array, const char *spec)
{
    struct sight sight = {.data = NULL};
    EXPECT_OK(map_axes(mesh, axes, look, &sight, array, spec, NULL, NULL));
    return sight;
}

/* The other axes follow the manual ones of a dimension; what lies so is not moved. */
static void inputs_keep_what_they_have_along_other_axes(void)
{
    static const struct {
        const char *lies, *wanted, *inner;
        bool stays; /* on a mesh that has several ranks along both axes */
    } cases[] = {{"P(x, y)", "P(x)", "P(-, y)", true}, {"P(x, y)", "P(x, -)", "P(-, y)", true},
                 {"P((x,y))", "P(x)", "P(y)", true},   {"P((y,x))", "P(x)", "P(y)", false},
                 {"P(x, y)", "P()", "P(-, y)", false}, {"P(x, y)", "P(-, x)", "P(-, y)", false},
                 {"P(y)", "P(x)", "P(y)", false},      {"P()", "P()", "P()", true}};
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    char inner_mesh[256];
    snprintf(inner_mesh, sizeof inner_mesh, "y=%lld", (long long)ny);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spmd_array *in = count_up(mesh, cases[k].lies, SPMD_SHAPE(7, 5));
        struct sight sight = look_at(mesh, "x", in, cases[k].wanted);
        bool stays = sight.data == spmd_array_block(in)->data;
        EXPECT(strcmp(sight.spec, cases[k].inner) == 0);
        EXPECT(strcmp(sight.mesh, inner_mesh) == 0);
        EXPECT(sight.array_data == sight.data);
        EXPECT(nx == 1 || ny == 1 || stays == cases[k].stays);
        spmd_array_free(&in);
    }
    spmd_mesh_free(&mesh);
}

/* The array of a body is its part along x; its blocks are parts of that, by the layout's rule. */
static void the_array_of_a_body_is_its_part(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_sharding *along_x = NULL, *all = NULL;
    spmd_box part, block;
    spmd_array *in = count_up(mesh, "P((x,y), -)", SPMD_SHAPE(11, 3));
    struct sight sight = look_at(mesh, "x", in, "P(x)");
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &along_x));
    EXPECT_OK(spmd_sharding_create(mesh, "P((x,y))", &all));
    EXPECT_OK(spmd_sharding_box(along_x, SPMD_SHAPE(11, 3), test_rank, &part));
    EXPECT_OK(spmd_sharding_box(all, SPMD_SHAPE(11, 3), test_rank, &block));
    EXPECT(strcmp(sight.spec, "P(y, -)") == 0);
    EXPECT(spmd_shape_equal(sight.shape, spmd_box_shape(&part)));
    EXPECT(spmd_shape_equal(spmd_block_shape(&sight.block), spmd_box_shape(&block)));
    EXPECT(sight.block.offset[0] == block.lo[0] - part.lo[0] && sight.block.offset[1] == 0);
    EXPECT(sight.block.global[0] == part.hi[0] - part.lo[0]);
    spmd_sharding_free(&along_x);
    spmd_sharding_free(&all);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Outputs. */

static spmd_status give_back(spmd_ctx *ctx, void *user)
{
    (void)user;
    return spmd_out_array(ctx, 0, spmd_in_array(ctx, 0));
}

static void an_array_may_be_given_back(void)
{
    static const char *const specs[] = {"P(x, y)", "P((x,y), -)", "P(-, (x,y))", "P(x)", "P(y, x)"};
    static const char *const manual[] = {"P(x)", "P(x)", "P(-, x)", "P(x)", "P(-, x)"};
    spmd_mesh *mesh = make_grid();
    for (int s = 0; s < 5; s++) {
        spmd_array *in = count_up(mesh, specs[s], SPMD_SHAPE(7, 5)), *out = NULL;
        void *data = spmd_array_block(in)->data;
        EXPECT_OK(map_axes(mesh, "x", give_back, NULL, in, manual[s], &out, manual[s]));
        EXPECT(spmd_array_block(out)->data == data);
        spmd_array_free(&in); /* the output's data outlives it */
        EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(7, 5)));
        expect_line(out, 1, 0);
        spmd_array_free(&out);
    }
    spmd_mesh_free(&mesh);
}

static spmd_status reshard_inside(spmd_ctx *ctx, void *spec)
{
    spmd_array *moved = NULL;
    SPMD_TRY(spmd_reshard(spmd_in_array(ctx, 0), spec, &moved));
    spmd_status status = spmd_out_array(ctx, 0, moved);
    spmd_array_free(&moved);
    return status;
}

static void an_output_may_lie_otherwise_than_the_input(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t ny = spmd_mesh_axis_size(mesh, "y"); /* 1: nothing moves, and it lies as it did */
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(11, 6)), *out = NULL;
    EXPECT_OK(map_axes(mesh, "x", reshard_inside, "P(-, y)", in, "P(x)", &out, "P(x)"));
    EXPECT(ny == 1 || lies_as(out, "P(x, y)"));
    expect_line(out, 1, 0);
    EXPECT_OK(map_axes(mesh, "x", reshard_inside, "P()", in, "P(x)", &out, "P(x)"));
    EXPECT(ny == 1 || lies_as(out, "P(x)"));
    expect_line(out, 1, 0);
    EXPECT_OK(map_axes(mesh, "x", reshard_inside, "P(y, -)", in, "P(x)", &out, "P(x, -)"));
    EXPECT(ny == 1 || lies_as(out, "P((x,y), -)"));
    expect_line(out, 1, 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Arrays are made and printed on the view as on any mesh. */
static spmd_status make_inside(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_array *made = NULL;
    SPMD_TRY(spmd_array_arange(spmd_ctx_mesh(ctx), "P(-, y)", SPMD_I64, SPMD_SHAPE(2, 5), &made));
    spmd_status status = spmd_out_array(ctx, 0, made);
    spmd_array_free(&made);
    return status;
}

static void arrays_are_made_on_the_view(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *out = NULL;
    int64_t nx = spmd_mesh_axis_size(mesh, "x");
    for (int run = 0; run < 3; run++) {
        EXPECT_OK(map_axes(mesh, "x", make_inside, NULL, NULL, NULL, &out, "P(x)"));
        EXPECT(lies_as(out, "P(x, y)"));
        EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(2 * nx, 5)));
        int64_t *host = gather(out);
        for (int64_t i = 0; host && i < 10 * nx; i++)
            EXPECT(host[i] == i % 10);
        free(host);
    }
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* A block that is declared has no axes but those of its out_spec. */
static spmd_status declare_total(spmd_ctx *ctx, void *user)
{
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    elements(out)[0] = 7 + spmd_axis_index(ctx, "x");
    if (*(bool *)user)
        elements(out)[0] += spmd_mesh_position(spmd_ctx_mesh(ctx));
    return SPMD_OK;
}

static spmd_status make_uneven(spmd_ctx *ctx, void *user)
{
    spmd_array *made = NULL;
    (void)user;
    SPMD_TRY(spmd_array_zeros(spmd_ctx_mesh(ctx), "P(y)", SPMD_I64,
                              SPMD_SHAPE(spmd_axis_size(ctx, "x") + 2 * test_size + 1), &made));
    spmd_array_free(&made);
    return SPMD_OK;
}

/* Strictness is the mesh's, whether its views are there already or not. */
static void views_are_as_strict_as_their_mesh(void)
{
    char text[40];
    snprintf(text, sizeof text, "x=1,y=%d", test_size);
    for (int known = 0; known < 2; known++) {
        spmd_mesh *mesh = make_mesh(text);
        if (known)
            EXPECT_OK(map_axes(mesh, "x", make_uneven, NULL, NULL, NULL, NULL, NULL));
        spmd_mesh_set_strict(mesh, true);
        spmd_status status = map_axes(mesh, "x", make_uneven, NULL, NULL, NULL, NULL, NULL);
        if (test_size > 2)
            EXPECT_FAILS(status, SPMD_ERR_SPEC, "strict");
        spmd_mesh_free(&mesh);
    }
}

static void blocks_are_equal_along_other_axes(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *out = NULL;
    bool differs = false;
    EXPECT_OK(map_axes(mesh, "x", declare_total, &differs, NULL, NULL, &out, "P(x)"));
    EXPECT(lies_as(out, "P(x)"));
    expect_line(out, 1, 7);
    spmd_array_free(&out);
    differs = true;
    spmd_status status = map_axes(mesh, "x", declare_total, &differs, NULL, NULL, &out, "P(x)");
    if (spmd_mesh_axis_size(mesh, "y") > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION,
                     "its out_spec P(x) promises equal blocks along y");
    else
        EXPECT_OK(status);
    expect_same_message();
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Collectives. */

/* JAX's example: four rows of two; the block goes to the next row, whatever lies along the other
 * axis. */
static spmd_status to_the_next(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    int64_t n = spmd_axis_size(ctx, "x");
    int64_t pairs[64][2];
    for (int64_t i = 0; i < n; i++) {
        pairs[i][0] = i;
        pairs[i][1] = (i + 1) % n;
    }
    spmd_array *made = NULL;
    SPMD_TRY(spmd_array_zeros(spmd_ctx_mesh(ctx), "P(y)", SPMD_I64,
                              spmd_array_shape(spmd_in_array(ctx, 0)), &made));
    spmd_block out = *spmd_array_block(made);
    spmd_status status = spmd_ppermute(ctx, in, "x", n, pairs, &out);
    if (status == SPMD_OK)
        status = spmd_out_array(ctx, 0, made);
    spmd_array_free(&made);
    return status;
}

static void blocks_move_along_manual_axes(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t n = 2 * test_size, row = 2 * spmd_mesh_axis_size(mesh, "y");
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(n)), *out = NULL;
    EXPECT_OK(map_axes(mesh, "x", to_the_next, NULL, in, "P(x)", &out, "P(x)"));
    int64_t *host = gather(out);
    for (int64_t i = 0; host && i < n; i++)
        EXPECT(host[i] == (i + n - row) % n);
    free(host);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status sum_over(spmd_ctx *ctx, void *axes)
{
    const spmd_block *in = spmd_in(ctx, 0);
    return spmd_psum(ctx, in, axes, out_like(ctx, 0, in));
}

static void collectives_name_manual_axes_alone(void)
{
    static const char *const axes[] = {"y", "x,y"};
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3)), *out = NULL;
    for (int a = 0; a < 2; a++)
        EXPECT_FAILS(map_axes(mesh, "x", sum_over, (void *)axes[a], in, "P()", &out, "P()"),
                     SPMD_ERR_MESH, "those that the option axes of its shard_map names");
    EXPECT_OK(map_axes(mesh, "x", sum_over, "x", in, "P()", &out, "P()"));
    expect_line(out, spmd_mesh_axis_size(mesh, "x"), 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* The sum along x of the parts of an array that y splits further. */
static spmd_status sum_of_parts(spmd_ctx *ctx, void *user)
{
    spmd_array *made = NULL;
    SPMD_TRY(spmd_array_zeros(spmd_ctx_mesh(ctx), "P(y)", SPMD_I64,
                              spmd_array_shape(spmd_in_array(ctx, 0)), &made));
    spmd_block out = *spmd_array_block(made);
    spmd_status status = spmd_psum(ctx, spmd_in(ctx, 0), user, &out);
    if (status == SPMD_OK)
        status = spmd_out_array(ctx, 0, made);
    spmd_array_free(&made);
    return status;
}

/* What counts is whether the members' blocks are equal, not whether all are. */
static void members_need_equal_blocks_others_may_differ(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    int64_t part = ny + 1; /* two elements for the first along y, one for the others */
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(nx * part)), *out = NULL;
    EXPECT_OK(map_axes(mesh, "x", sum_of_parts, "x", in, "P(x)", &out, "P()"));
    EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(part)));
    expect_line(out, nx, part * (nx * (nx - 1) / 2));
    spmd_array_free(&out);
    EXPECT_OK(map_axes(mesh, NULL, sum_over, "x", in, "P((x,y))", &out, "P(y)"));
    expect_line(out, nx, part * (nx * (nx - 1) / 2));
    spmd_array_free(&in);
    spmd_array_free(&out);
    in = count_up(mesh, "P((x,y))", SPMD_SHAPE(2 * nx * ny + 1));
    spmd_status status = map_axes(mesh, NULL, sum_over, "x", in, "P((x,y))", &out, "P(y)");
    if (nx > 1)
        EXPECT_FAILS(status, SPMD_ERR_SHAPE, "rank 0: psum needs equal blocks: along dim 0 of 1");
    else
        EXPECT_OK(status);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Nested. */

static spmd_status square(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = elements(in)[i] * elements(in)[i];
    return SPMD_OK;
}

/* A shard_map in the body of another one: over `axes` of the remaining mesh, or over all of it. */
struct inner {
    spmd_body *body;
    void *user;
    const char *axes, *in_spec, *out_spec;
};

static spmd_status map_inside(spmd_ctx *ctx, void *user)
{
    const struct inner *inner = user;
    spmd_array *out = NULL;
    SPMD_TRY(map_axes(spmd_ctx_mesh(ctx), inner->axes, inner->body, inner->user,
                      spmd_in_array(ctx, 0), inner->in_spec, &out, inner->out_spec));
    spmd_status status = spmd_out_array(ctx, 0, out);
    spmd_array_free(&out);
    return status;
}

static spmd_status square_given_back(spmd_ctx *ctx, void *user)
{
    (void)user;
    struct inner last = {square, NULL, NULL, "P(-, z)", "P(-, z)"};
    return map_inside(ctx, &last);
}

/* Outer x, inner y, and z as it lies; then a third one over z. */
static void bodies_may_map_the_remaining_axes(void)
{
    spmd_mesh *mesh = make_cube();
    spmd_array *in = count_up(mesh, "P((x,y), z)", SPMD_SHAPE(7, 9)), *out = NULL;
    struct inner over_y = {square_given_back, NULL, "y", "P(y)", "P(y)"};
    EXPECT_OK(map_axes(mesh, "x", map_inside, &over_y, in, "P(x)", &out, "P(x)"));
    EXPECT(has_type(out, "i64[7@(x,y),9@z]"));
    int64_t *host = gather(out);
    for (int64_t i = 0; host && i < 63; i++)
        EXPECT(host[i] == i * i);
    free(host);
    struct inner over_rest = {square, NULL, NULL, "P(y, z)", "P(y, z)"};
    EXPECT_OK(map_axes(mesh, "x", map_inside, &over_rest, out, "P(x)", &out, "P(x)"));
    host = gather(out);
    for (int64_t i = 0; host && i < 63; i++)
        EXPECT(host[i] == i * i * i * i);
    free(host);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* The sum of a block's elements along an axis that is manual inside: [n] to [1]. */
static spmd_status total_over(spmd_ctx *ctx, void *axes)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[0] += elements(in)[i];
    return spmd_psum(ctx, out, axes, out);
}

/* JAX's example: (4,2), P((x,y)), manual x: the sums of neighbours. */
static void sums_of_a_part_are_made_inside(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(nx * ny)), *out = NULL;
    struct inner sum = {total_over, "y", NULL, "P(y)", "P()"};
    EXPECT_OK(map_axes(mesh, "x", map_inside, &sum, in, "P(x)", &out, "P(x)"));
    EXPECT(lies_as(out, "P(x)"));
    expect_line(out, ny * ny, ny * (ny - 1) / 2);
    struct inner both = {total_over, "x,y", NULL, "P(y)", "P()"}; /* the outer one is bound, too */
    EXPECT_OK(map_axes(mesh, "x", map_inside, &both, in, "P(x)", &out, "P()"));
    expect_line(out, 0, nx * ny * (nx * ny - 1) / 2);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status gather_over(spmd_ctx *ctx, void *axes)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape;
    SPMD_TRY(spmd_all_gather_shape(ctx, in, axes, 0, SPMD_TILED, &shape));
    return spmd_all_gather(ctx, in, axes, 0, SPMD_TILED, spmd_out(ctx, 0, in->dtype, shape));
}

/* The blocks of an inner call know their extents, too. */
static void blocks_inside_may_be_uneven(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    for (int64_t n = 0; n <= 2 * nx * ny + 1; n++) {
        spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(n)), *out = NULL;
        struct inner gather = {gather_over, "y", NULL, "P(y)", "P()"};
        EXPECT_OK(map_axes(mesh, "x", map_inside, &gather, in, "P(x)", &out, "P(x)"));
        EXPECT(lies_as(out, "P(x)"));
        expect_line(out, 1, 0);
        spmd_array_free(&in);
        spmd_array_free(&out);
    }
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(nx * (ny + 1))), *out = NULL;
    struct inner sum = {sum_over, "y", NULL, "P(y)", "P()"};
    spmd_status status = map_axes(mesh, "x", map_inside, &sum, in, "P(x)", &out, "P(x)");
    if (ny > 1)
        EXPECT_FAILS(status, SPMD_ERR_SHAPE, "psum needs equal blocks: along dim 0 of 1");
    else
        EXPECT_OK(status);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Groups of an inner axis: all of it, backwards. */
static spmd_status gather_backwards(spmd_ctx *ctx, void *user)
{
    char axes[600] = "y [";
    (void)user;
    for (int64_t m = spmd_axis_size(ctx, "y") - 1; m >= 0; m--) {
        size_t at = strlen(axes);
        snprintf(axes + at, sizeof axes - at, "%c%lld", at == 3 ? '[' : ',', (long long)m);
    }
    strcat(axes, "]]");
    spmd_block *mine = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(1));
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(spmd_axis_size(ctx, "y")));
    *elements(mine) = spmd_axis_index(ctx, "y");
    EXPECT(spmd_axis_index(ctx, axes) == spmd_axis_size(ctx, "y") - 1 - *elements(mine));
    return spmd_all_gather(ctx, mine, axes, 0, SPMD_TILED, out);
}

static void groups_inside_are_of_the_ranks_there(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t ny = spmd_mesh_axis_size(mesh, "y");
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3)), *out = NULL;
    struct inner backwards = {gather_backwards, NULL, NULL, "P()", "P()"};
    for (int run = 0; run < 2; run++) {
        EXPECT_OK(map_axes(mesh, "x", map_inside, &backwards, in, "P()", &out, "P()"));
        EXPECT(spmd_shape_equal(spmd_array_shape(out), SPMD_SHAPE(ny)));
        expect_line(out, -1, ny - 1);
    }
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status fail_inside(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t last = spmd_axis_size(ctx, "x,y") - 1;
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    return spmd_axis_index(ctx, "x,y") == last ? spmd_fail(SPMD_ERR_BODY, "no luck inside")
                                               : SPMD_OK;
}

static void failures_inside_are_everybodys(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3)), *out = NULL;
    struct inner failing = {fail_inside, NULL, NULL, "P()", "P(y)"};
    char message[80] = "no luck inside";
    if (test_size > 1)
        snprintf(message, sizeof message, "rank %d: no luck inside", test_size - 1);
    EXPECT_FAILS(map_axes(mesh, "x", map_inside, &failing, in, "P()", &out, "P(x)"), SPMD_ERR_BODY,
                 message);
    EXPECT(strcmp(spmd_error_message(), message) == 0); /* named once, by the inner call */
    expect_same_message();
    EXPECT(out == NULL);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* A promise is checked among the ranks of the inner mesh, in its terms. */
static spmd_status own_index(spmd_ctx *ctx, void *user)
{
    elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1)))[0] = spmd_axis_index(ctx, user);
    return SPMD_OK;
}

static void promises_inside_are_checked(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3)), *out = NULL;
    struct inner along_x = {own_index, "x", NULL, "P()", "P()"};
    EXPECT_OK(map_axes(mesh, "x", map_inside, &along_x, in, "P()", &out, "P(x)"));
    expect_line(out, 1, 0);
    spmd_array_free(&out);
    struct inner along_y = {own_index, "y", NULL, "P()", "P()"};
    spmd_status status = map_axes(mesh, "x", map_inside, &along_y, in, "P()", &out, "P(x)");
    if (spmd_mesh_axis_size(mesh, "y") > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION,
                     "output 0: its out_spec P() promises equal blocks along y, but element (0) is "
                     "1 at position 1 and 0 at position 0");
    else
        EXPECT_OK(status);
    expect_same_message();
    spmd_array_free(&out);
    /* An array that is given back must be equal along x, if its out_spec does not name it. */
    status = map_axes(mesh, "x", map_inside, &along_x, in, "P()", &out, "P()");
    if (spmd_mesh_axis_size(mesh, "x") > 1)
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "promises equal blocks along x, but");
    else
        EXPECT_OK(status);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Plans. */

static void plans_over_some_axes_run_many_times(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in[] = {count_up(mesh, "P((x,y))", SPMD_SHAPE(11, 2)),
                        count_up(mesh, "P(x, y)", SPMD_SHAPE(11, 2)),
                        count_up(mesh, "P(y)", SPMD_SHAPE(11, 2))};
    spmd_array *out = NULL;
    const spmd_shard_map_options options = {.axes = "x"};
    spmd_shard_map_call *plan = plan_one(mesh, give_back, "P(x)", "P(x)", &options);
    int comms = spmd_mesh_comms(mesh);
    for (int run = 0; run < 20; run++) {
        EXPECT_OK(spmd_shard_map_run(plan, NULL, &in[run % 2 * 2], &out));
        EXPECT(has_type(out, "i64[11@(x,y),2]"));
        expect_line(out, 1, 0);
    }
    spmd_shard_map_free(&plan);
    plan = plan_one(mesh, twice_and_one, "P(x)", "P(x)", &options);
    spmd_array *whole = count_up(mesh, "P(x)", SPMD_SHAPE(11, 2));
    for (int run = 0; run < 20; run++) {
        EXPECT_OK(spmd_shard_map_run(plan, NULL, &whole, &out));
        expect_line(out, 2, 1);
    }
    spmd_shard_map_free(&plan);
    EXPECT(spmd_mesh_comms(mesh) == comms);
    spmd_array_free(&whole);
    spmd_array_free(&out);
    for (int k = 0; k < 3; k++)
        spmd_array_free(&in[k]);
    spmd_mesh_free(&mesh);
}

/* The spec of an array that is given back is fixed by the first run. */
static void plans_keep_how_outputs_lie(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(8, 4)), *out = NULL;
    const spmd_shard_map_options options = {.axes = "x", .agree = true};
    spmd_shard_map_call *plan = plan_one(mesh, reshard_inside, "P(x)", "P(x)", &options);
    EXPECT_OK(spmd_shard_map_run(plan, "P(-, y)", &in, &out));
    spmd_status status = spmd_shard_map_run(plan, "P(y, -)", &in, &out);
    if (spmd_mesh_axis_size(mesh, "y") > 1)
        EXPECT_FAILS(status, SPMD_ERR_SPEC,
                     "output 0 lies as P((x,y)) now, but as P(x, y) at the plan's first run");
    else
        EXPECT_OK(status);
    EXPECT_OK(spmd_shard_map_run(plan, "P(-, y)", &in, &out));
    expect_line(out, 1, 0);
    spmd_shard_map_free(&plan);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* What a body keeps of an input outlives the call. */
static spmd_status keep(spmd_ctx *ctx, void *user)
{
    *(spmd_array **)user = spmd_array_hold(spmd_in_array(ctx, 0));
    return SPMD_OK;
}

static void an_array_that_is_kept_outlives_its_call(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(9)), *kept = NULL;
    EXPECT_OK(map_axes(mesh, "x", keep, &kept, in, "P(x)", NULL, NULL));
    int64_t size = spmd_block_size(spmd_array_block(in)), first = spmd_array_block(in)->offset[0];
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
    for (int64_t i = 0; i < size; i++)
        EXPECT(block_of(kept)[i] == first + i);
    spmd_array_free(&kept);
}

/* Refusals. */

static spmd_status array_of_full(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in_array(ctx, 0) == NULL);
    return SPMD_OK;
}

static spmd_status array_to_full(spmd_ctx *ctx, void *user)
{
    return spmd_out_array(ctx, 0, user);
}

static spmd_status array_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in_array(ctx, 3) == NULL);
    return SPMD_OK;
}

static spmd_status array_twice(spmd_ctx *ctx, void *user)
{
    SPMD_TRY(give_back(ctx, user));
    return give_back(ctx, user);
}

static spmd_status block_and_array(spmd_ctx *ctx, void *user)
{
    SPMD_TRY(give_back(ctx, user));
    EXPECT(spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1)) == NULL);
    return SPMD_OK;
}

static spmd_status array_null(spmd_ctx *ctx, void *user)
{
    (void)user;
    return spmd_out_array(ctx, 0, NULL);
}

static void wrong_uses_of_arrays_are_refused(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3)), *out = NULL;
    const struct {
        const char *axes;
        spmd_body *body;
        spmd_status status;
        const char *message;
    } uses[] = {
        {NULL, array_of_full, SPMD_ERR_ARGUMENT,
         "arrays are for the body of a shard_map over some"},
        {"y,x", array_to_full, SPMD_ERR_ARGUMENT,
         "spmd_out_array(ctx, 0): arrays are for the body"},
        {"x", array_to_full, SPMD_ERR_MESH, "the array lies on mesh x="},
        {"x", array_out_of_range, SPMD_ERR_ARGUMENT,
         "spmd_in_array(ctx, 3): in this shard_map there is no input 3, only 0"},
        {"x", array_twice, SPMD_ERR_ARGUMENT, "the output has been declared already"},
        {"x", block_and_array, SPMD_ERR_SHAPE, "spmd_out_array gave an array"},
        {"x", array_null, SPMD_ERR_ARGUMENT, "spmd_out_array(ctx, 0, ...): the array is NULL"},
    };
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        EXPECT_FAILS(map_axes(mesh, uses[k].axes, uses[k].body, in, in, "P()", &out, "P()"),
                     uses[k].status, uses[k].message);
        EXPECT(out == NULL);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static void specs_name_manual_axes_alone(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(3, 3)), *out = NULL;
    EXPECT_FAILS(map_axes(mesh, "x", copy, NULL, in, "P(-, y)", &out, "P()"), SPMD_ERR_SPEC,
                 "in_specs[0]: P(-, y) names y, but the option axes has the body run over x alone");
    EXPECT_FAILS(map_axes(mesh, "x", copy, NULL, in, "P()", &out, "P((x,y))"), SPMD_ERR_SPEC,
                 "out_specs[0]: P((x,y)) names y, but");
    EXPECT_FAILS(map_axes(mesh, "q", copy, NULL, in, "P()", &out, "P()"), SPMD_ERR_SPEC,
                 "the options of a shard_map: axes \"q\" on mesh ");
    EXPECT(strstr(spmd_error_message(), "no axis q; name one of its own") != NULL);
    EXPECT_FAILS(map_axes(mesh, "x,x", copy, NULL, in, "P()", &out, "P()"), SPMD_ERR_SPEC,
                 "the options of a shard_map: axes \"x,x\": axis x is given twice");
    bool odd = is_last_of_many();
    expect_disagreement(map_axes(mesh, odd ? "x" : "y", copy, NULL, in, "P()", &out, "P()"));
    spmd_array_free(&out);
    EXPECT_OK(map_axes(mesh, "", copy, NULL, in, "P(x, y)", &out, "P(x, y)")); /* all of them */
    expect_line(out, 1, 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* None, idle ranks, ranks in another order. */

static spmd_status none_here(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 0) == NULL && spmd_in_array(ctx, 0) == NULL);
    return SPMD_OK;
}

static void none_is_an_input_here_too(void)
{
    spmd_mesh *mesh = make_grid();
    const spmd_shard_map_options options = {.axes = "y"};
    EXPECT_OK(spmd_shard_map(mesh, none_here, NULL, 1, SPMD_ARRAYS(NULL), SPMD_SPECS("P(y)"), 0,
                             NULL, NULL, &options));
    spmd_mesh_free(&mesh);
}

static void idle_ranks_may_call_it(void)
{
    char text[40];
    snprintf(text, sizeof text, "x=%d,y=1", test_size > 1 ? test_size - 1 : 1);
    spmd_mesh *mesh = make_mesh(text);
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(9)), *out = NULL;
    EXPECT_OK(map_axes(mesh, "y", give_back, NULL, in, "P()", &out, "P()"));
    EXPECT((spmd_array_block(out) == NULL) == is_idle(mesh));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static void ranks_in_another_order(void)
{
    for (int i = 0; i < PERMUTED_FULL_MESHES; i++) {
        spmd_mesh *mesh = make_permuted(i);
        int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
        spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(nx * ny)), *out = NULL;
        struct inner sum = {total_over, "y", NULL, "P(y)", "P()"};
        EXPECT_OK(map_axes(mesh, "x", map_inside, &sum, in, "P(x)", &out, "P(x)"));
        expect_line(out, ny * ny, ny * (ny - 1) / 2);
        spmd_array_free(&in);
        spmd_array_free(&out);
        spmd_mesh_free(&mesh);
    }
}

/* What a view says of its ranks, and what it costs. */
static spmd_status ask_view(spmd_ctx *ctx, void *user)
{
    spmd_mesh *mesh = user, *view = spmd_ctx_mesh(ctx);
    int64_t here[SPMD_MAX_AXES], there[SPMD_MAX_AXES];
    EXPECT(spmd_mesh_naxes(view) == 1 && strcmp(spmd_mesh_axis_name(view, 0), "y") == 0);
    EXPECT_OK(spmd_mesh_coordinates(mesh, spmd_mesh_position(mesh), here));
    EXPECT(spmd_mesh_position(view) == here[1]);
    EXPECT(spmd_mesh_rank(view, spmd_mesh_position(view)) == test_rank);
    for (int64_t p = 0; p < spmd_mesh_size(view); p++) {
        int rank = spmd_mesh_rank(view, p);
        EXPECT_OK(spmd_mesh_coordinates(mesh, rank, there));
        EXPECT(there[0] == here[0] && there[1] == p);
    }
    return spmd_agree(view, SPMD_OK);
}

static void views_know_their_ranks(void)
{
    spmd_mesh *mesh = make_grid();
    EXPECT_OK(map_axes(mesh, "x", ask_view, mesh, NULL, NULL, NULL, NULL));
    int comms = spmd_mesh_comms(mesh);
    for (int i = 0; i < 50; i++)
        EXPECT_OK(map_axes(mesh, "x", ask_view, mesh, NULL, NULL, NULL, NULL));
    EXPECT(spmd_mesh_comms(mesh) == comms);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map_axes", CASE(inputs_keep_what_they_have_along_other_axes),
             CASE(the_array_of_a_body_is_its_part), CASE(an_array_may_be_given_back),
             CASE(an_output_may_lie_otherwise_than_the_input), CASE(arrays_are_made_on_the_view),
             CASE(views_are_as_strict_as_their_mesh), CASE(blocks_are_equal_along_other_axes),
             CASE(blocks_move_along_manual_axes), CASE(collectives_name_manual_axes_alone),
             CASE(members_need_equal_blocks_others_may_differ),
             CASE(bodies_may_map_the_remaining_axes), CASE(sums_of_a_part_are_made_inside),
             CASE(blocks_inside_may_be_uneven), CASE(groups_inside_are_of_the_ranks_there),
             CASE(failures_inside_are_everybodys), CASE(promises_inside_are_checked),
             CASE(plans_over_some_axes_run_many_times), CASE(plans_keep_how_outputs_lie),
             CASE(an_array_that_is_kept_outlives_its_call), CASE(wrong_uses_of_arrays_are_refused),
             CASE(specs_name_manual_axes_alone), CASE(none_is_an_input_here_too),
             CASE(idle_ranks_may_call_it), CASE(ranks_in_another_order),
             CASE(views_know_their_ranks))
