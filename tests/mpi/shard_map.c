/* shard_map.c - MPI tests of shard_map: what bodies see, what becomes of their outputs, failures.
 *
 * Most arrays count: element i is i, in i64, whatever the mesh. */
#include <stdlib.h>

#include "meshes.h"

/* Reductions that anybody starts: the calls come by here (PMPI). A body without collectives in a
 * run that is not agreed on makes none. */
static int reductions;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    reductions++;
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

static spmd_array *count_up(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_I64, shape, &array));
    return array;
}

/* The elements of a block, and this rank's block of an array, in i64. */
static int64_t *elements(const spmd_block *block)
{
    return block->data;
}

static int64_t *block_of(const spmd_array *array)
{
    return elements(spmd_array_block(array));
}

/* All elements of an i64 array on every rank, or NULL; to be freed. */
static int64_t *gather(spmd_array *array)
{
    int64_t size = spmd_shape_size(spmd_array_shape(array));
    int64_t *host = calloc((size_t)size + 1, sizeof *host);
    if (!EXPECT_OK(spmd_array_gather(array, SPMD_ALL, host, size))) {
        free(host);
        return NULL;
    }
    return host;
}

/* Element i of the array is factor * i + offset. */
static void expect_line(spmd_array *array, int64_t factor, int64_t offset)
{
    int64_t wrong = 0, *host = array ? gather(array) : NULL;
    EXPECT(host != NULL);
    for (int64_t i = 0; host && i < spmd_shape_size(spmd_array_shape(array)); i++)
        wrong += host[i] != factor * i + offset;
    EXPECT(wrong == 0);
    free(host);
}

/* Output `index` in the input's type and shape. */
static spmd_block *out_like(spmd_ctx *ctx, int index, const spmd_block *in)
{
    return spmd_out(ctx, index, in->dtype, spmd_block_shape(in));
}

/* out = 2 in + 1. */
static spmd_status twice_and_one(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = 2 * elements(in)[i] + 1;
    return SPMD_OK;
}

/* One input and one output through a body, one shot. */
static spmd_status map(spmd_mesh *mesh, spmd_body *body, void *user, spmd_array *in,
                       const char *in_spec, spmd_array **out, const char *out_spec)
{
    return spmd_shard_map(mesh, body, user, 1, SPMD_ARRAYS(in), SPMD_SPECS(in_spec), 1, out,
                          SPMD_SPECS(out_spec), NULL);
}

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

static spmd_status copy(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    memcpy(out_like(ctx, 0, in)->data, in->data,
           (size_t)spmd_block_size(in) * spmd_dtype_size(in->dtype));
    return SPMD_OK;
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

/* Outputs that are given back. */

static void a_given_output_is_used_again(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    EXPECT_OK(map(mesh, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
    spmd_array *first = out;
    void *data = spmd_array_block(out)->data;
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(out == first && spmd_array_block(out)->data == data);
    expect_line(out, 1, 0);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static void a_given_output_that_is_held_is_left_alone(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    EXPECT_OK(map(mesh, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
    spmd_array *held = spmd_array_hold(out);
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(out != held && spmd_array_block(out)->data != spmd_array_block(held)->data);
    expect_line(held, 2, 1);
    expect_line(out, 1, 0);
    spmd_array_free(&held);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Reverses its block, which would go wrong in place. */
static spmd_status reverse(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    int64_t size = spmd_block_size(in);
    for (int64_t i = 0; i < size; i++)
        elements(out)[i] = elements(in)[size - 1 - i];
    return SPMD_OK;
}

static void a_given_output_that_is_an_input_is_replaced(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = count_up(mesh, "P()", SPMD_SHAPE(7));
    EXPECT_OK(map(mesh, reverse, NULL, array, "P()", &array, "P()"));
    expect_line(array, -1, 6);
    EXPECT_OK(map(mesh, twice_and_one, NULL, array, "P(x)", &array, "P(x)"));
    EXPECT(has_type(array, "i64[7@x]"));
    expect_line(array, -2, 13);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void a_given_output_of_another_type_is_replaced(void)
{
    spmd_mesh *mesh = make_line(), *other = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out[4] = {NULL};
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(7), &out[0]));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(7, 1), &out[1]));
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_I64, SPMD_SHAPE(40), &out[2]));
    EXPECT_OK(spmd_array_zeros(other, "P(x)", SPMD_I64, SPMD_SHAPE(7), &out[3]));
    for (int k = 0; k < 4; k++) {
        EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out[k], "P(x)"));
        EXPECT(has_type(out[k], "i64[7@x]"));
        EXPECT(spmd_sharding_mesh(spmd_array_sharding(out[k])) == mesh);
        expect_line(out[k], 1, 0);
        spmd_array_free(&out[k]);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&other);
    spmd_mesh_free(&mesh);
}

/* The block of a given array may fit though it was another array: one that lay otherwise. */
static void a_given_block_that_fits_gets_its_new_place(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(3 * test_size)), *out = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_I64, SPMD_SHAPE(3), &out));
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    const spmd_block *block = spmd_array_block(out);
    EXPECT(block->offset[0] == 3 * test_rank && block->global[0] == 3 * test_size);
    EXPECT(block->replica == 0);
    expect_line(out, 1, 0);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Plans. */

static spmd_shard_map_call *plan_one(spmd_mesh *mesh, spmd_body *body, const char *in_spec,
                                     const char *out_spec, const spmd_shard_map_options *options)
{
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, body, 1, SPMD_SPECS(in_spec), 1, SPMD_SPECS(out_spec),
                                  options, &plan));
    return plan;
}

static spmd_status add_user(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = elements(in)[i] + *(int64_t *)user;
    return SPMD_OK;
}

static void a_plan_runs_many_times(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL, *first = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    spmd_mesh_free(&mesh);
    void *data = NULL;
    int before = 0;
    for (int64_t i = 0; i < 100; i++) {
        EXPECT_OK(spmd_shard_map_run(plan, &i, SPMD_ARRAYS(in), &out));
        int64_t *block = block_of(out);
        for (int64_t k = 0; k < spmd_block_size(spmd_array_block(out)); k++)
            EXPECT(block[k] == spmd_array_block(out)->offset[0] + k + i);
        if (i == 0) {
            first = out;
            data = block;
            before = reductions;
        }
        EXPECT(out == first && (void *)block == data);
    }
    EXPECT(reductions == before);
    spmd_shard_map_free(&plan);
    EXPECT(plan == NULL);
    spmd_shard_map_free(&plan);
    expect_line(out, 1, 99);
    spmd_array_free(&in);
    spmd_array_free(&out);
}

static void a_plan_moves_inputs_that_lie_elsewhere(void)
{
    spmd_mesh *mesh = make_line(), *same = make_line();
    spmd_array *in[] = {count_up(mesh, "P(x)", SPMD_SHAPE(7)), count_up(mesh, "P()", SPMD_SHAPE(7)),
                        count_up(same, "P()", SPMD_SHAPE(7)),
                        count_up(same, "P(x)", SPMD_SHAPE(7))};
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    for (int64_t i = 0; i < 12; i++) {
        EXPECT_OK(spmd_shard_map_run(plan, &i, &in[i % 4], &out));
        expect_line(out, 1, i);
    }
    for (int k = 0; k < 4; k++)
        spmd_array_free(&in[k]);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&same);
}

static void a_plan_makes_outputs_that_are_not_given_back(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(7)), *out[5] = {NULL};
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    for (int64_t i = 0; i < 5; i++)
        EXPECT_OK(spmd_shard_map_run(plan, &i, SPMD_ARRAYS(in), &out[i]));
    spmd_shard_map_free(&plan);
    for (int64_t i = 0; i < 5; i++) {
        expect_line(out[i], 1, i);
        spmd_array_free(&out[i]);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* A body in any type: what a planned output must be like is fixed by the first run. */
static spmd_status declare_as_told(spmd_ctx *ctx, void *user)
{
    const spmd_block *told = user;
    spmd_out(ctx, 0, told->dtype, spmd_block_shape(told));
    return SPMD_OK;
}

static void a_plan_keeps_its_output_types(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = NULL;
    spmd_block as_first = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 3));
    spmd_block other_type = spmd_block_borrow(NULL, SPMD_F64, SPMD_SHAPE(2, 3));
    spmd_block other_rank = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2));
    spmd_block other_shape = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 4));
    EXPECT_OK(spmd_shard_map_plan(mesh, declare_as_told, 0, NULL, 1, SPMD_SPECS("P(x)"),
                                  &(spmd_shard_map_options){.agree = true}, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, &as_first, NULL, &out));
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_type, NULL, &out), SPMD_ERR_DTYPE,
                 "output 0: f64 now, but f32 at the plan's first run");
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_rank, NULL, &out), SPMD_ERR_SHAPE,
                 "output 0: 1 dimensions now, but 2");
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_shape, NULL, &out), SPMD_ERR_SHAPE, "output 0: ");
    EXPECT_OK(spmd_shard_map_run(plan, &as_first, NULL, &out));
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

/* Failures of a body. */

static spmd_status fail_on(spmd_ctx *ctx, void *user)
{
    int failing = *(int *)user; /* a rank, or -1 for all, or -2 for none */
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(2));
    if (failing == test_rank || failing == -1)
        return spmd_fail(SPMD_ERR_BODY, "no luck");
    return SPMD_OK;
}

static void a_failing_body_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    for (int failing = -1; failing < test_size; failing++) {
        EXPECT_FAILS(spmd_shard_map(mesh, fail_on, &failing, 0, NULL, NULL, 1, &out,
                                    SPMD_SPECS("P(x)"), NULL),
                     SPMD_ERR_BODY, failing < 0 ? "no luck" : from_rank(failing, "no luck"));
        EXPECT(failing >= 0 || strcmp(spmd_error_message(), "no luck") == 0);
        expect_same_message();
        EXPECT(out == NULL);
    }
    spmd_mesh_free(&mesh);
}

static void agreed_plans_outlive_a_failing_body(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = NULL;
    int none = -2, last = test_size - 1;
    EXPECT_OK(spmd_shard_map_plan(mesh, fail_on, 0, NULL, 1, SPMD_SPECS("P(x)"),
                                  &(spmd_shard_map_options){.agree = true}, &plan));
    EXPECT_FAILS(spmd_shard_map_run(plan, &last, NULL, &out), SPMD_ERR_BODY,
                 from_rank(last, "no luck"));
    EXPECT(out == NULL);
    EXPECT_OK(spmd_shard_map_run(plan, &none, NULL, &out));
    spmd_array *first = out;
    EXPECT_FAILS(spmd_shard_map_run(plan, &last, NULL, &out), SPMD_ERR_BODY,
                 from_rank(last, "no luck"));
    EXPECT(out == first);
    EXPECT_OK(spmd_shard_map_run(plan, &none, NULL, &out));
    EXPECT(out == first);
    expect_line(out, 0, 0);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

/* A body that uses its ctx wrongly, and goes on as if nothing were. */
struct misuse {
    spmd_body *body;
    spmd_status status;
    const char *message;
};

static spmd_status input_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 1) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status negative_input(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, -1) == NULL);
    return spmd_fail(SPMD_ERR_BODY, "because of that");
}

static spmd_status output_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 1, SPMD_F32, SPMD_SCALAR) == NULL);
    EXPECT(spmd_out(ctx, -1, SPMD_F32, SPMD_SCALAR) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status no_output(spmd_ctx *ctx, void *user)
{
    (void)ctx;
    (void)user;
    return SPMD_OK;
}

static spmd_status output_twice(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3));
    EXPECT(out && spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3)) == out);
    EXPECT(spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(3)) == NULL);
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(4)) == NULL);
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3)) == out);
    return SPMD_OK;
}

static spmd_status output_of_no_type(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_DTYPE_NONE, SPMD_SHAPE(3)) == NULL);
    return SPMD_OK;
}

static spmd_status negative_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3, -2)) == NULL);
    return SPMD_OK;
}

static spmd_status output_too_large(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40)) == NULL);
    return SPMD_OK;
}

static spmd_status scratch_without_memory(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_temp(ctx, SPMD_I8, SPMD_SHAPE(INT64_C(1) << 48)) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static void misuse_of_a_ctx_fails_the_call(void)
{
    const struct misuse misuses[] = {
        {input_out_of_range, SPMD_ERR_ARGUMENT, "spmd_in(ctx, 1): this shard_map has 1 input"},
        {negative_input, SPMD_ERR_ARGUMENT, "spmd_in(ctx, -1): this shard_map has 1 input"},
        {output_out_of_range, SPMD_ERR_ARGUMENT, "spmd_out(ctx, 1, ...): this shard_map has 1 out"},
        {no_output, SPMD_ERR_BODY, "the body never declared output 0 of 1 by spmd_out"},
        {output_twice, SPMD_ERR_SHAPE, "spmd_out(ctx, 0, ...): declared a second time"},
        {output_of_no_type, SPMD_ERR_DTYPE, "0 is no element type"},
        {negative_output, SPMD_ERR_SHAPE, "negative size -2"},
        {output_too_large, SPMD_ERR_SHAPE, "2^63"},
        {scratch_without_memory, SPMD_ERR_MEMORY, "no memory"},
    };
    spmd_mesh *mesh = make_line();
    for (size_t m = 0; m < sizeof misuses / sizeof *misuses; m++) {
        spmd_array *out = NULL;
        EXPECT_FAILS(map(mesh, misuses[m].body, NULL, NULL, "P()", &out, "P()"), misuses[m].status,
                     misuses[m].message);
        EXPECT(out == NULL);
    }
    spmd_mesh_free(&mesh);
}

/* Blocks that do not fit each other: the last of many ranks declares another one. */
struct odd_one {
    spmd_block usual, odd;
};

static spmd_status declare_odd(spmd_ctx *ctx, void *user)
{
    const struct odd_one *told = user;
    const spmd_block *mine = is_last_of_many() ? &told->odd : &told->usual;
    spmd_out(ctx, 0, mine->dtype, spmd_block_shape(mine));
    spmd_out(ctx, 1, mine->dtype, spmd_block_shape(mine));
    return SPMD_OK;
}

static spmd_status map_odd(spmd_mesh *mesh, const char *spec, struct odd_one *told)
{
    spmd_array *out[2] = {NULL};
    spmd_status status = spmd_shard_map(mesh, declare_odd, told, 0, NULL, NULL, 2, out,
                                        SPMD_SPECS(spec, spec), NULL);
    EXPECT((out[0] != NULL) == (status == SPMD_OK) && (out[1] != NULL) == (status == SPMD_OK));
    spmd_array_free(&out[0]);
    spmd_array_free(&out[1]);
    return status;
}

static void blocks_must_add_up(void)
{
    spmd_mesh *mesh = make_line();
    struct odd_one longer = {spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 3)),
                             spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(3, 3))};
    struct odd_one shorter = {longer.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(1, 3))};
    struct odd_one wider = {longer.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 4))};
    EXPECT_OK(map_odd(mesh, "P(x)", &shorter));
    spmd_status split = map_odd(mesh, "P(x)", &longer);
    if (test_size > 1)
        EXPECT_FAILS(split, SPMD_ERR_SHAPE, "output 0: P(x): the blocks add up to");
    spmd_status whole = map_odd(mesh, "P(x)", &wider);
    if (test_size > 1)
        EXPECT_FAILS(whole, SPMD_ERR_SHAPE,
                     from_rank(test_size - 1, "output 0: P(x) does not split dim 1 of 2"));
    spmd_status copies = map_odd(mesh, "P()", &longer);
    if (test_size > 1)
        EXPECT_FAILS(copies, SPMD_ERR_SHAPE,
                     from_rank(test_size - 1, "output 0: P() does not split dim 0 of 2"));
    spmd_mesh_free(&mesh);
}

static void blocks_of_different_types_disagree(void)
{
    spmd_mesh *mesh = make_line();
    struct odd_one types = {spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2)),
                            spmd_block_borrow(NULL, SPMD_I32, SPMD_SHAPE(2))};
    struct odd_one ranks = {types.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 1))};
    expect_disagreement(map_odd(mesh, "P(x)", &types));
    expect_disagreement(map_odd(mesh, "P(x)", &ranks));
    spmd_mesh_free(&mesh);
}

/* An output whose spec has more entries than the output has dimensions. */
static void outputs_must_fit_their_spec(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_block scalar = spmd_block_borrow(NULL, SPMD_F32, SPMD_SCALAR);
    EXPECT_FAILS(spmd_shard_map(mesh, declare_as_told, &scalar, 0, NULL, NULL, 1, &out,
                                SPMD_SPECS("P(x)"), NULL),
                 SPMD_ERR_SPEC, "output 0: ");
    EXPECT(strstr(spmd_error_message(), "use P() for a scalar") != NULL);
    spmd_mesh_set_strict(mesh, true);
    spmd_block uneven = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(test_rank == 0 ? 2 : 1));
    spmd_status status = spmd_shard_map(mesh, declare_as_told, &uneven, 0, NULL, NULL, 1, &out,
                                        SPMD_SPECS("P(x)"), NULL);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_SPEC, "strict");
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Wrong arguments. */

/* Two inputs, of which the array is the second, and an output. */
static spmd_status map_second(spmd_mesh *mesh, spmd_array *array, const char *in_spec,
                              const char *out_spec)
{
    spmd_array *out = NULL;
    spmd_status status =
        spmd_shard_map(mesh, no_output, NULL, 2, SPMD_ARRAYS(NULL, array),
                       SPMD_SPECS("P()", in_spec), 1, &out, SPMD_SPECS(out_spec), NULL);
    EXPECT(out == NULL);
    return status;
}

static void wrong_specs_are_refused(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = count_up(mesh, "P(x)", SPMD_SHAPE(7));
    bool odd = is_last_of_many();
    EXPECT_FAILS(map_second(mesh, array, "P(q)", "P()"), SPMD_ERR_SPEC, "in_specs[1]: ");
    EXPECT(strstr(spmd_error_message(), "no axis q") != NULL);
    EXPECT_FAILS(map_second(mesh, array, "P(x", "P()"), SPMD_ERR_SYNTAX, "in_specs[1]: ");
    EXPECT_FAILS(map_second(mesh, array, NULL, "P()"), SPMD_ERR_ARGUMENT, "in_specs[1]: ");
    EXPECT_FAILS(map_second(mesh, array, "P()", "P(x,x)"), SPMD_ERR_SPEC, "out_specs[0]: ");
    EXPECT_FAILS(map_second(mesh, array, "P()", "P(-"), SPMD_ERR_SYNTAX, "out_specs[0]: ");
    EXPECT_FAILS(map_second(mesh, array, "P(x,-)", "P()"), SPMD_ERR_SPEC, "input 1: ");
    EXPECT(strstr(spmd_error_message(), "the spec has 2 entries, the array 1 dimension") != NULL);
    EXPECT_FAILS(map_second(mesh, array, odd || test_size == 1 ? "P(q)" : "P(x)", "P()"),
                 SPMD_ERR_SPEC, from_rank(test_size - 1, "in_specs[1]: "));
    if (test_size > 1) {
        EXPECT_FAILS(map_second(mesh, array, odd ? "P()" : "P(x)", "P()"), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(map_second(mesh, array, "P(x)", odd ? "P()" : "P(x)"), SPMD_ERR_DISAGREE, "");
    }
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void wrong_arrays_are_refused(void)
{
    spmd_mesh *mesh = make_line(), *grid = make_grid(), *abstract = NULL;
    spmd_array *array = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    spmd_array *elsewhere = count_up(grid, "P(x)", SPMD_SHAPE(7));
    spmd_array *longer = count_up(mesh, "P(x)", SPMD_SHAPE(8));
    EXPECT_FAILS(map_second(mesh, elsewhere, "P()", "P()"), SPMD_ERR_MESH,
                 "input 1 lies on another mesh");
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &abstract));
    EXPECT_FAILS(map_second(abstract, array, "P()", "P()"), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(map_second(NULL, array, "P()", "P()"), SPMD_ERR_ARGUMENT, "mesh");
    EXPECT_FAILS(map(mesh, NULL, NULL, array, "P()", &out, "P()"), SPMD_ERR_ARGUMENT, "body");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, NULL, SPMD_SPECS("P()"), 1, &out,
                                SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, "1 inputs and 1 outputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, SPMD_ARRAYS(array), NULL, 1, &out,
                                SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, "1 inputs and 1 outputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, -1, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "-1 inputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, SPMD_ARRAYS(array), SPMD_SPECS("P()"), 1,
                                test_rank == test_size - 1 ? NULL : &out, SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, from_rank(test_size - 1, "a shard_map of 1 inputs and 1 out"));
    EXPECT_FAILS(spmd_shard_map_run(NULL, NULL, NULL, NULL), SPMD_ERR_ARGUMENT, "plan");
    expect_disagreement(
        map(mesh, copy, NULL, is_last_of_many() ? longer : array, "P(x)", &out, "P(x)"));
    spmd_array_free(&out);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_array_free(&array);
    spmd_array_free(&elsewhere);
    spmd_array_free(&longer);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void counts_and_options_are_agreed_on(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    bool odd = is_last_of_many();
    expect_disagreement(spmd_shard_map_plan(mesh, copy, odd ? 2 : 1, SPMD_SPECS("P()", "P()"),
                                            odd ? 0 : 1, SPMD_SPECS("P()"), NULL, &plan));
    spmd_shard_map_free(&plan);
    expect_disagreement(spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"),
                                            &(spmd_shard_map_options){.agree = odd}, &plan));
    spmd_shard_map_free(&plan);
    spmd_replication mine = odd ? SPMD_REPLICATION_NEVER : SPMD_REPLICATION_ALWAYS;
    expect_disagreement(spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"),
                                            &(spmd_shard_map_options){.replication = mine}, &plan));
    spmd_shard_map_free(&plan);
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

/* A message calls a rank by its number in the communicator of the mesh. */
static spmd_status fail_at_position_0(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    return spmd_axis_index(ctx, "x") == 0 ? spmd_fail(SPMD_ERR_BODY, "I stand first") : SPMD_OK;
}

static void failures_name_ranks_of_the_communicator(void)
{
    spmd_mesh *mesh = make_reversed_rest();
    spmd_array *out = NULL;
    char message[60] = "I stand first"; /* alone: so say all */
    if (test_size > 2)
        snprintf(message, sizeof message, "rank %d: I stand first", test_size - 1);
    if (is_idle(mesh))
        EXPECT_OK(spmd_shard_map(mesh, fail_at_position_0, NULL, 0, NULL, NULL, 1, &out,
                                 SPMD_SPECS("P(x)"), NULL));
    else
        EXPECT_FAILS(spmd_shard_map(mesh, fail_at_position_0, NULL, 0, NULL, NULL, 1, &out,
                                    SPMD_SPECS("P(x)"), NULL),
                     SPMD_ERR_BODY, message);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
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

static spmd_status run_again(spmd_ctx *ctx, void *user)
{
    spmd_array *out = NULL;
    (void)ctx;
    return spmd_shard_map_run(*(spmd_shard_map_call **)user, user, NULL, &out);
}

static void plans_are_not_run_by_their_own_bodies(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    spmd_array *out = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, run_again, 0, NULL, 1, SPMD_SPECS("P(x)"), NULL, &plan));
    EXPECT_FAILS(spmd_shard_map_run(plan, &plan, NULL, &out), SPMD_ERR_ARGUMENT,
                 "cannot run the plan");
    EXPECT(out == NULL);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

static spmd_status two_outputs(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(1));
    spmd_out(ctx, 1, SPMD_I32, SPMD_SHAPE(1));
    return SPMD_OK;
}

static void outputs_need_arrays_of_their_own(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(test_size), &array));
    spmd_array *out[2] = {array, array};
    EXPECT_FAILS(spmd_shard_map(mesh, two_outputs, NULL, 0, NULL, NULL, 2, out,
                                SPMD_SPECS("P(x)", "P(x)"), NULL),
                 SPMD_ERR_ARGUMENT, "outputs 0 and 1 were given the same array");
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map", CASE(blocks_join_to_arrays), CASE(inputs_in_place_are_not_copied),
             CASE(blocks_know_their_place), CASE(none_is_an_input),
             CASE(plans_are_not_run_by_their_own_bodies), CASE(outputs_need_arrays_of_their_own),
             CASE(axis_indices_count_the_ranks), CASE(outputs_of_any_type_and_rank),
             CASE(out_specs_tile), CASE(out_specs_tile_one_element),
             CASE(sums_need_no_axis_in_their_out_spec), CASE(outputs_need_not_be_as_the_inputs),
             CASE(scratch_memory_is_zeroed), CASE(a_given_output_is_used_again),
             CASE(a_given_output_that_is_held_is_left_alone),
             CASE(a_given_output_that_is_an_input_is_replaced),
             CASE(a_given_output_of_another_type_is_replaced),
             CASE(a_given_block_that_fits_gets_its_new_place), CASE(a_plan_runs_many_times),
             CASE(a_plan_moves_inputs_that_lie_elsewhere),
             CASE(a_plan_makes_outputs_that_are_not_given_back),
             CASE(a_plan_keeps_its_output_types), CASE(a_failing_body_is_everybodys),
             CASE(agreed_plans_outlive_a_failing_body), CASE(misuse_of_a_ctx_fails_the_call),
             CASE(blocks_must_add_up), CASE(blocks_of_different_types_disagree),
             CASE(outputs_must_fit_their_spec), CASE(wrong_specs_are_refused),
             CASE(wrong_arrays_are_refused), CASE(counts_and_options_are_agreed_on),
             CASE(idle_ranks_may_call), CASE(idle_ranks_give_back_what_was_given),
             CASE(loops_and_branches), CASE(ranks_in_another_order),
             CASE(failures_name_ranks_of_the_communicator), CASE(rows_may_do_different_things))
