/* pmap.c - MPI tests of pmap: one slice for each rank, anywhere in its arrays. */
#include "counting.h"

/* One input and one output, over x. */
static spmd_status over_x(spmd_mesh *mesh, spmd_body *body, void *user, spmd_array *in, int in_axis,
                          spmd_array **out, int out_axis)
{
    return spmd_pmap(mesh, "x", body, user, 1, SPMD_ARRAYS(in), SPMD_AXES(in_axis), 1, out,
                     SPMD_AXES(out_axis), NULL);
}

static spmd_status copy_slice(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    if (out)
        memcpy(out->data, in->data, sizeof(int64_t) * (size_t)spmd_block_size(in));
    return SPMD_OK;
}

/* [n,2,3] elements with n at dimension `dim`, that count row-major. */
static spmd_shape with_ranks_at(int dim)
{
    int64_t n = test_size;
    return dim == 0 ? SPMD_SHAPE(n, 2, 3) : dim == 1 ? SPMD_SHAPE(2, n, 3) : SPMD_SHAPE(2, 3, n);
}

/* Where in such an array slice r has its element [i,j]. */
static int64_t place_of(int dim, int64_t r, int64_t i, int64_t j)
{
    int64_t n = test_size;
    return dim == 0 ? (r * 2 + i) * 3 + j : dim == 1 ? (i * n + r) * 3 + j : (i * 3 + j) * n + r;
}

static void expect_moved(spmd_array *array, int from, int to)
{
    int64_t wrong = 0, *host = gather(array);
    for (int64_t k = 0; host && k < 6 * test_size; k++) {
        int64_t r = k / 6, i = k / 3 % 2, j = k % 3;
        wrong += host[place_of(to, r, i, j)] != place_of(from, r, i, j);
    }
    EXPECT(host && wrong == 0);
    EXPECT(spmd_shape_equal(spmd_array_shape(array), with_ranks_at(to)));
    free(host);
}

static void any_dimension_maps_to_any_other(void)
{
    static const char *const specs[] = {"P()", "P(x)", "P(-,x)", "P(-,-,x)"};
    spmd_mesh *mesh = make_line();
    for (int from = -3; from < 3; from++)
        for (int to = -3; to < 3; to++) {
            spmd_array *in =
                count_up(mesh, specs[(from + to + 6) % 4], with_ranks_at((from + 3) % 3));
            spmd_array *out = NULL;
            if (EXPECT_OK(over_x(mesh, copy_slice, NULL, in, from, &out, to)))
                expect_moved(out, (from + 3) % 3, (to + 3) % 3);
            spmd_array_free(&in);
            spmd_array_free(&out);
        }
    spmd_mesh_free(&mesh);
}

/* Slices of scalars, and inputs that all ranks get; none. */

/* out 0 = a + sum b, out 1 = sum over x of a. */
static spmd_status add_up(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *a = spmd_in(ctx, 0), *b = spmd_in(ctx, 1);
    EXPECT(a->ndim == 0 && b->ndim == 1 && b->shape[0] == 4 && spmd_in(ctx, 2) == NULL);
    EXPECT(spmd_axis_size(ctx, "x") == spmd_mesh_size(spmd_ctx_mesh(ctx)));
    EXPECT(spmd_axis_index(ctx, "x") == *elements(a));
    spmd_block *one = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    spmd_block *all = spmd_out(ctx, 1, SPMD_I64, SPMD_SCALAR);
    *elements(one) = *elements(a);
    for (int i = 0; i < 4; i++)
        *elements(one) += elements(b)[i];
    return spmd_psum(ctx, a, "x", all);
}

static void add_on(spmd_mesh *mesh)
{
    int64_t n = spmd_mesh_size(mesh);
    spmd_array *a = count_up(mesh, "P(x)", SPMD_SHAPE(n)),
               *b = count_up(mesh, "P(x)", SPMD_SHAPE(4));
    spmd_array *out[2] = {NULL};
    EXPECT_OK(spmd_pmap(mesh, "x", add_up, NULL, 3, SPMD_ARRAYS(a, b, NULL),
                        SPMD_AXES(0, SPMD_NOT_MAPPED, 0), 2, out, SPMD_AXES(0, SPMD_NOT_MAPPED),
                        NULL));
    if (!is_idle(mesh)) {
        expect_line(out[0], 1, 6);
        EXPECT(spmd_array_shape(out[1]).ndim == 0 && *block_of(out[1]) == n * (n - 1) / 2);
    }
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&out[0]);
    spmd_array_free(&out[1]);
}

static void some_inputs_are_the_same_for_all(void)
{
    spmd_mesh *line = make_line(), *shorter = make_shorter_line();
    add_on(line);
    add_on(shorter);
    spmd_mesh_free(&line);
    spmd_mesh_free(&shorter);
}

/* A promise that does not hold, as in a shard_map; and the option that takes it as it is. */
static void outputs_that_differ_need_an_axis(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(test_size)), *out = NULL;
    spmd_status status = over_x(mesh, copy_slice, NULL, in, 0, &out, SPMD_NOT_MAPPED);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_REPLICATION, "output 0");
    spmd_array_free(&out);
    const spmd_shard_map_options never = {.replication = SPMD_REPLICATION_NEVER};
    EXPECT_OK(spmd_pmap(mesh, "x", copy_slice, NULL, 1, SPMD_ARRAYS(in), SPMD_AXES(0), 1, &out,
                        SPMD_AXES(SPMD_NOT_MAPPED), &never));
    EXPECT(*block_of(out) == spmd_mesh_position(mesh));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Outputs that are given back lend their memory. */
static void given_outputs_are_used_again(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(test_size, 2)), *out = NULL;
    EXPECT_OK(over_x(mesh, copy_slice, NULL, in, 0, &out, 1));
    const int64_t *before = block_of(out);
    EXPECT_OK(over_x(mesh, copy_slice, NULL, in, 0, &out, -1));
    EXPECT(block_of(out) == before && before[1] == 2 * test_rank + 1);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Several axes at once, in the order of the text. */

static spmd_status copy_index(spmd_ctx *ctx, void *user)
{
    EXPECT(*elements(spmd_in(ctx, 0)) == spmd_axis_index(ctx, user));
    return copy_slice(ctx, NULL);
}

static void several_axes_map_one_dimension(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(test_size)), *out = NULL;
    const char *texts[] = {"x,y", "y,x"};
    for (int t = 0; t < 2; t++) {
        EXPECT_OK(spmd_pmap(mesh, texts[t], copy_index, (void *)texts[t], 1, SPMD_ARRAYS(in),
                            SPMD_AXES(0), 1, &out, SPMD_AXES(0), NULL));
        expect_line(out, 1, 0);
        spmd_array_free(&out);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Nested: over x, in it over y. */

/* out = 10 in + the index along x and y together. */
static spmd_status inner(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(3));
    EXPECT(in->ndim == 1 && in->shape[0] == 3 && spmd_axis_size(ctx, "x,y") == test_size);
    for (int i = 0; i < 3; i++)
        elements(out)[i] = 10 * elements(in)[i] + spmd_axis_index(ctx, "x,y");
    return SPMD_OK;
}

static spmd_status outer(spmd_ctx *ctx, void *user)
{
    const int *in_axis = user;
    spmd_mesh *mesh = spmd_ctx_mesh(ctx);
    spmd_array *in = spmd_in_array(ctx, 0), *out = NULL;
    EXPECT(in && in == spmd_in_array(ctx, 0) && spmd_array_shape(in).ndim == 2);
    SPMD_TRY(spmd_pmap(mesh, "y", inner, NULL, 1, &in, in_axis, 1, &out, SPMD_AXES(-1), NULL));
    spmd_status status = spmd_out_array(ctx, 0, out);
    spmd_array_free(&out);
    return status;
}

static void pmaps_nest(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x"), ny = spmd_mesh_axis_size(mesh, "y");
    const spmd_shape shapes[] = {SPMD_SHAPE(nx, ny, 3), SPMD_SHAPE(3, ny, nx)};
    const int outer_axes[] = {0, -1}, inner_axes[] = {0, 1};
    for (int k = 0; k < 2; k++) {
        spmd_array *in = count_up(mesh, k == 0 ? "P(x,y)" : "P(-,y,x)", shapes[k]), *out = NULL;
        EXPECT_OK(spmd_pmap(mesh, "x", outer, (void *)&inner_axes[k], 1, SPMD_ARRAYS(in),
                            SPMD_AXES(outer_axes[k]), 1, &out, SPMD_AXES(1), NULL));
        int64_t wrong = 0, *host = out ? gather(out) : NULL; /* [3,nx,ny] */
        for (int64_t i = 0; host && i < 3 * test_size; i++) {
            int64_t c = i / (nx * ny), x = i / ny % nx, y = i % ny;
            int64_t from = k == 0 ? (x * ny + y) * 3 + c : (c * ny + y) * nx + x;
            wrong += host[i] != 10 * from + x * ny + y;
        }
        EXPECT(host && wrong == 0);
        free(host);
        spmd_array_free(&in);
        spmd_array_free(&out);
    }
    spmd_mesh_free(&mesh);
}

/* Over some axes, blocks: what the rest of the mesh has is the same. */
static void blocks_over_some_axes(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x");
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(nx, 5)), *out = NULL;
    EXPECT_OK(over_x(mesh, copy_slice, NULL, in, 0, &out, 0));
    expect_line(out, 1, 0);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Arrays that are not mapped go in and out as they are; the memory of outputs may be unset. */
static spmd_status give_arrays(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_array *whole = spmd_in_array(ctx, 1);
    EXPECT(spmd_in_array(ctx, 2) == NULL && whole && spmd_array_shape(whole).dim[0] == 7);
    spmd_block *own = spmd_out_unset(ctx, 1, SPMD_I64, SPMD_SCALAR);
    *elements(own) = *elements(spmd_in(ctx, 0));
    return spmd_out_array(ctx, 0, whole);
}

static void arrays_need_not_be_mapped(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *mapped = count_up(mesh, "P()", SPMD_SHAPE(spmd_mesh_axis_size(mesh, "x")));
    spmd_array *whole = count_up(mesh, "P(y)", SPMD_SHAPE(7)), *out[2] = {NULL};
    EXPECT_OK(spmd_pmap(mesh, "x", give_arrays, NULL, 3, SPMD_ARRAYS(mapped, whole, NULL),
                        SPMD_AXES(0, SPMD_NOT_MAPPED, SPMD_NOT_MAPPED), 2, out,
                        SPMD_AXES(SPMD_NOT_MAPPED, 0), NULL));
    expect_line(out[0], 1, 0);
    expect_line(out[1], 1, 0);
    spmd_array_free(&mapped);
    spmd_array_free(&whole);
    spmd_array_free(&out[0]);
    spmd_array_free(&out[1]);
    spmd_mesh_free(&mesh);
}

/* A block in two types (each a tree's leaf, say), reduced each by its own rules. */
static spmd_status reduce_types(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *whole = spmd_in(ctx, 0), *real = spmd_in(ctx, 1);
    SPMD_TRY(spmd_psum(ctx, whole, "x", spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)));
    SPMD_TRY(spmd_pmean(ctx, whole, "x", spmd_out(ctx, 1, SPMD_F64, SPMD_SCALAR)));
    SPMD_TRY(spmd_pmax(ctx, real, "x", spmd_out(ctx, 2, SPMD_F32, SPMD_SCALAR)));
    return spmd_pmin(ctx, real, "x", spmd_out(ctx, 3, SPMD_F32, SPMD_SCALAR));
}

static void types_are_reduced_by_their_own_rules(void)
{
    enum { OUT = 4 };
    spmd_mesh *mesh = make_line();
    spmd_array *whole = count_up(mesh, "P(x)", SPMD_SHAPE(test_size)), *real = NULL;
    spmd_array *out[OUT] = {NULL};
    const int all[] = {SPMD_NOT_MAPPED, SPMD_NOT_MAPPED, SPMD_NOT_MAPPED, SPMD_NOT_MAPPED};
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(test_size), &real));
    EXPECT_OK(spmd_pmap(mesh, "x", reduce_types, NULL, 2, SPMD_ARRAYS(whole, real), SPMD_AXES(0, 0),
                        OUT, out, all, NULL));
    EXPECT(*block_of(out[0]) == test_size * (test_size - 1) / 2);
    EXPECT(*(double *)spmd_array_block(out[1])->data == (test_size - 1) / 2.0);
    EXPECT(*(float *)spmd_array_block(out[2])->data == (float)(test_size - 1));
    EXPECT(*(float *)spmd_array_block(out[3])->data == 0);
    spmd_array_free(&whole);
    spmd_array_free(&real);
    for (int k = 0; k < OUT; k++)
        spmd_array_free(&out[k]);
    spmd_mesh_free(&mesh);
}

/* What cannot work. */

static spmd_status fail(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return spmd_fail(SPMD_ERR_BODY, "no luck");
}

static spmd_status no_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 1) == NULL);
    return SPMD_OK;
}

static spmd_status too_many_dims(spmd_ctx *ctx, void *user)
{
    spmd_shape shape = {.ndim = SPMD_MAX_DIMS};
    (void)user;
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = 1;
    EXPECT(spmd_out(ctx, 0, SPMD_F32, shape) == NULL);
    return SPMD_OK;
}

static void wrong_calls_are_refused(void)
{
    spmd_mesh *mesh = make_line(), *other = make_mesh("q=*");
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(test_size, test_size + 1)), *out = NULL;
    spmd_array *far = count_up(other, "P()", SPMD_SHAPE(test_size));
    char message[100];
    snprintf(message, sizeof message, "input 0 has %d slices along dim 1, but there are %d ranks",
             test_size + 1, test_size);
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 1, &out, 0), SPMD_ERR_SHAPE, message);
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, -1, &out, 0), SPMD_ERR_SHAPE, message);
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 2, &out, 0), SPMD_ERR_ARGUMENT,
                 "in_axes[0]: there is no dim 2, only -2 to 1");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, -3, &out, 0), SPMD_ERR_ARGUMENT,
                 "in_axes[0]: there is no dim -3, only -2 to 1");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 0, &out, 2), SPMD_ERR_ARGUMENT,
                 "out_axes[0]: there is no dim 2, only -2 to 1");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 0, &out, -3), SPMD_ERR_ARGUMENT,
                 "out_axes[0]: there is no dim -3, only -2 to 1");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 0, &out, 16), SPMD_ERR_ARGUMENT,
                 "out_axes[0]: there is no dim 16, only -16 to 15");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, SPMD_NOT_MAPPED, &out, 0), SPMD_ERR_ARGUMENT,
                 "no input of the pmap is mapped");
    EXPECT_FAILS(over_x(mesh, NULL, NULL, in, 0, &out, 0), SPMD_ERR_ARGUMENT, "needs a body");
    EXPECT_FAILS(over_x(NULL, copy_slice, NULL, in, 0, &out, 0), SPMD_ERR_ARGUMENT, "needs a mesh");
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, far, 0, &out, 0), SPMD_ERR_MESH, "another mesh");
    EXPECT_FAILS(over_x(mesh, fail, NULL, in, 0, &out, 0), SPMD_ERR_BODY, "no luck");
    EXPECT_FAILS(over_x(mesh, too_many_dims, NULL, in, 0, &out, 0), SPMD_ERR_SHAPE,
                 "output 0 has 16 dimensions, no room for the mapped one");
    EXPECT_FAILS(over_x(mesh, no_output, NULL, in, 0, &out, 0), SPMD_ERR_ARGUMENT,
                 "in this pmap there is no input 1, only 0");
    EXPECT_FAILS(spmd_pmap(mesh, "y", copy_slice, NULL, 1, SPMD_ARRAYS(in), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), NULL),
                 SPMD_ERR_MESH, "no axis y; name one of its own");
    EXPECT_FAILS(spmd_pmap(mesh, "", copy_slice, NULL, 1, SPMD_ARRAYS(in), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), NULL),
                 SPMD_ERR_ARGUMENT, "needs an axis");
    EXPECT_FAILS(spmd_pmap(mesh, "x", copy_slice, NULL, 1, SPMD_ARRAYS(in), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), &(spmd_shard_map_options){.axes = "x"}),
                 SPMD_ERR_ARGUMENT, "leave the option axes out");
    EXPECT(out == NULL);
    spmd_array_free(&in);
    spmd_array_free(&far);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&other);
}

/* Where one rank is wrong, all are told. */
static void one_ranks_mistake_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(test_size, test_size)), *out = NULL;
    expect_disagreement(over_x(mesh, copy_slice, NULL, in, is_last_of_many(), &out, 0));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* The mapped dimension must not be split by what is around. */
static void slices_are_whole(void)
{
    spmd_mesh *mesh = make_grid();
    int64_t nx = spmd_mesh_axis_size(mesh, "x");
    spmd_array *in = count_up(mesh, "P((x,y))", SPMD_SHAPE(nx, 5)), *out = NULL;
    EXPECT_FAILS(over_x(mesh, copy_slice, NULL, in, 0, &out, 0), SPMD_ERR_SPEC,
                 "input 0: its mapped dim 0 lies along y as well");
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("pmap", CASE(any_dimension_maps_to_any_other), CASE(some_inputs_are_the_same_for_all),
             CASE(outputs_that_differ_need_an_axis), CASE(given_outputs_are_used_again),
             CASE(several_axes_map_one_dimension), CASE(pmaps_nest), CASE(blocks_over_some_axes),
             CASE(arrays_need_not_be_mapped), CASE(types_are_reduced_by_their_own_rules),
             CASE(wrong_calls_are_refused), CASE(one_ranks_mistake_is_everybodys),
             CASE(slices_are_whole))
