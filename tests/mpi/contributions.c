/* contributions.c - arrays of contributions: made, added up, moved, given to bodies and taken from
 * them. */
#include <unistd.h>

#include "contributions.h"
#include "meshes.h"

/* From contributions to `to`, at once and by a plan that runs twice. */
static void check_sum(spmd_mesh *from, const char *from_spec, spmd_mesh *to, const char *to_spec,
                      spmd_dtype dtype, spmd_shape shape)
{
    spmd_array *a = make_contributions(0, from, from_spec, dtype, shape), *b = NULL, *c = NULL;
    spmd_sharding *target = NULL;
    spmd_reshard_call *plan = NULL;
    if (!a)
        return;
    const spmd_sharding *source = spmd_array_sharding(a);
    EXPECT_OK(spmd_sharding_create(to, to_spec, &target));
    bool well = EXPECT_OK(spmd_reshard_to(a, target, &b)) &&
                EXPECT(has_outcomes(0, b, shape, dtype, source, target));
    if (from == to) {
        well = well && EXPECT_OK(spmd_reshard_plan(source, target, dtype, shape, &plan));
        for (int i = 0; well && i < 2; i++)
            well = EXPECT_OK(spmd_reshard_run(plan, 1, &a, &c)) &&
                   EXPECT(has_outcomes(0, c, shape, dtype, source, target));
    }
    if (!well)
        fprintf(stderr, "# %s to %s, %d dims, %s\n", from_spec, to_spec, shape.ndim,
                spmd_dtype_name(dtype));
    spmd_reshard_free(&plan);
    spmd_sharding_free(&target);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
}

static spmd_mesh *make_cube(void)
{
    return make_mesh(test_size % 4 == 0   ? "x=2,y=2,z=*"
                     : test_size % 2 == 0 ? "x=2,y=1,z=*"
                                          : "x=1,y=1,z=*");
}

static void contributions_add_up_to_any_spec(void)
{
    static const char *const from[] = {"P(unreduced={x})", "P(-,z,unreduced={x})",
                                       "P(z,unreduced={x,y})", "P(unreduced={x,y,z})",
                                       "P((y,z),unreduced={x})"};
    static const char *const to[] = {"P()",        "P(x)",         "P(-,x)", "P(z,x)",
                                     "P((z,x),y)", "P(-,(y,x,z))", "P(y)"};
    static const char *const kinds[] = {"})", "}:max)", "}:min)"};
    static const int64_t extents[] = {7, 4, 1, 0, 9};
    int turn = 0;
    spmd_mesh *mesh = make_cube();
    for (size_t f = 0; f < sizeof from / sizeof *from; f++)
        for (size_t t = 0; t < sizeof to / sizeof *to; t++, turn++) {
            char spec[64];
            spmd_shape shape = SPMD_SHAPE(extents[turn % 5], extents[turn / 5 % 5]);
            snprintf(spec, sizeof spec, "%.*s%s", (int)strlen(from[f]) - 2, from[f],
                     kinds[turn % 3]);
            check_sum(mesh, spec, mesh, to[t], turn % 2 ? SPMD_F64 : SPMD_I32, shape);
            check_sum(mesh, from[f], mesh, to[t], turn % 2 ? SPMD_C128 : SPMD_F32, shape);
        }
    spmd_mesh_free(&mesh);
}

static void scalars_too(void)
{
    spmd_mesh *mesh = make_line(), *other = make_rotated("x=*");
    check_sum(mesh, "P(unreduced={x})", mesh, "P()", SPMD_F64, SPMD_SCALAR);
    check_sum(mesh, "P(unreduced={x}:max)", other, "P()", SPMD_I32, SPMD_SCALAR);
    spmd_mesh_free(&other);
    spmd_mesh_free(&mesh);
}

static void other_meshes_get_sums(void)
{
    spmd_mesh *mesh = make_grid(), *shorter = make_shorter_line(), *other = make_reversed("x=*");
    check_sum(mesh, "P(-,x,unreduced={y})", other, "P(x)", SPMD_F64, SPMD_SHAPE(5, 6));
    check_sum(mesh, "P(x,unreduced={y})", shorter, "P(-,x)", SPMD_I32, SPMD_SHAPE(7, 3));
    check_sum(shorter, "P(unreduced={x}:min)", mesh, "P(y,x)", SPMD_F32, SPMD_SHAPE(4, 9));
    check_sum(mesh, "P(unreduced={x,y})", shorter, "P(unreduced={x})", SPMD_F32, SPMD_SHAPE(4, 9));
    spmd_mesh_free(&other);
    spmd_mesh_free(&shorter);
    spmd_mesh_free(&mesh);
}

/* Along axes that stay unreduced nothing is added up. */
static void contributions_move_one_to_one(void)
{
    spmd_mesh *mesh = make_grid();
    spmd_array *a =
        make_contributions(0, mesh, "P(x,-,unreduced={y}:max)", SPMD_I32, SPMD_SHAPE(6, 5));
    spmd_array *b = NULL;
    EXPECT_OK(spmd_reshard(a, "P(-,x,unreduced={y}:max)", &b));
    EXPECT(has_type(b, test_size % 2 == 0 ? "i32[6,5@x]{U:y}:max" : "i32[6@x,5]{U:y}:max"));
    const spmd_block *block = spmd_array_block(b);
    int64_t which, wrong = 0;
    contributors(spmd_array_sharding(b), &which);
    for (int64_t i = 0; i < block->shape[0]; i++)
        for (int64_t j = 0; j < block->shape[1]; j++)
            wrong += ((int32_t *)block->data)[i * block->shape[1] + j] !=
                     contribution(SPMD_I32, which, i * 5 + block->offset[1] + j);
    EXPECT(wrong == 0);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* Values become contributions: the first rank along the axes has them, the others zeros. */
static void values_count_once(void)
{
    static const char *const specs[] = {"P(unreduced={x})", "P(x,unreduced={y})",
                                        "P(-,y,unreduced={x})", "P(unreduced={x,y})"};
    spmd_mesh *mesh = make_grid();
    for (int s = 0; s < 4; s++) {
        spmd_array *a = NULL, *b = NULL, *c = NULL, *d = NULL;
        EXPECT_OK(spmd_array_arange(mesh, "P(y,x)", SPMD_F64, SPMD_SHAPE(4, 3), &a));
        EXPECT_OK(spmd_reshard(a, specs[s], &b));
        EXPECT_OK(spmd_array_arange(mesh, specs[s], SPMD_F64, SPMD_SHAPE(4, 3), &c));
        const spmd_block *moved = spmd_array_block(b), *made = spmd_array_block(c);
        size_t bytes = (size_t)spmd_block_size(moved) * sizeof(double);
        EXPECT(spmd_block_size(made) == spmd_block_size(moved) &&
               memcmp(moved->data, made->data, bytes) == 0);
        EXPECT_OK(spmd_reshard(b, "P()", &d));
        for (int i = 0; i < 12; i++)
            EXPECT(((double *)spmd_array_block(d)->data)[i] == i);
        spmd_array_free(&a);
        spmd_array_free(&b);
        spmd_array_free(&c);
        spmd_array_free(&d);
    }
    spmd_mesh_free(&mesh);
}

/* G132: a scalar, and a host array, on two ranks. */
static void host_values_count_once(void)
{
    spmd_mesh *mesh = make_line();
    spmd_sharding *sharding = NULL;
    const double host[] = {0, 1, 2, 3};
    EXPECT_OK(spmd_sharding_create(mesh, "P(unreduced={x})", &sharding));
    for (int root = 0; root < 2; root++) {
        spmd_array *a = NULL;
        double whole[4] = {9, 9, 9, 9};
        EXPECT_OK(root ? spmd_device_put_root(test_size - 1, host, 4, SPMD_F64, SPMD_SHAPE(4),
                                              sharding, &a)
                       : spmd_device_put(host, 4, SPMD_F64, SPMD_SHAPE(4), sharding, &a));
        const double *block = spmd_array_block(a)->data;
        for (int i = 0; i < 4; i++)
            EXPECT(block[i] == (test_rank == 0 ? i : 0));
        EXPECT_OK(spmd_array_gather(a, SPMD_ALL, whole, 4));
        EXPECT(memcmp(whole, host, sizeof host) == 0);
        spmd_array_free(&a);
    }
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

/* G131: values survive the way to contributions and back. */
static void round_trips(void)
{
    static const char *const specs[][2] = {{"P(x,y)", "P(unreduced={x,y})"},
                                           {"P(x,y)", "P(unreduced={y})"},
                                           {"P(y)", "P(unreduced={y})"},
                                           {"P(x,z)", "P(unreduced={x,y,z})"}};
    spmd_mesh *mesh = make_cube();
    for (int s = 0; s < 4; s++) {
        spmd_array *a = NULL, *b = NULL, *c = NULL;
        EXPECT_OK(spmd_array_arange(mesh, specs[s][0], SPMD_F32, SPMD_SHAPE(4, 2), &a));
        EXPECT_OK(spmd_reshard(a, specs[s][1], &b));
        EXPECT_OK(spmd_reshard(b, specs[s][0], &c));
        const spmd_block *before = spmd_array_block(a), *after = spmd_array_block(c);
        EXPECT(memcmp(before->data, after->data, (size_t)spmd_block_size(before) * 4) == 0);
        spmd_array_free(&a);
        spmd_array_free(&b);
        spmd_array_free(&c);
    }
    spmd_mesh_free(&mesh);
}

/* Halves are carried in f32 and rounded once: 2048 and n - 1 times 1 are 2048 + n - 1, which step
 * by step would stay 2048. */
static void halves_are_rounded_once(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    uint16_t local[5],
        wanted[9] = {0, 0x6800, 0x6800, 0x6801, 0x6802, 0x6802, 0x6802, 0x6803, 0x6804};
    spmd_array *a = NULL, *b = NULL, *c = NULL;
    for (int i = 0; i < 5; i++)
        local[i] = test_rank == 0 ? 0x6800 : 0x3c00;
    EXPECT_OK(spmd_array_from_local(mesh, "P(unreduced={x})", SPMD_F16, SPMD_SHAPE(5), local, &a));
    EXPECT_OK(spmd_reshard(a, "P()", &b));
    EXPECT_OK(spmd_reshard(a, "P(x)", &c));
    for (int i = 0; i < 5; i++)
        EXPECT(((uint16_t *)spmd_array_block(b)->data)[i] == wanted[test_size]);
    for (int64_t i = 0; i < spmd_block_size(spmd_array_block(c)); i++)
        EXPECT(((uint16_t *)spmd_array_block(c)->data)[i] == wanted[test_size]);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    spmd_mesh_free(&mesh);
}

/* Large blocks go other ways than small ones. */
static void large_ones(void)
{
    spmd_mesh *mesh = make_grid();
    enum { ROWS = 301, COLUMNS = 407 };
    spmd_shape part = SPMD_SHAPE(ROWS, COLUMNS);
    double *local = malloc(sizeof *local * ROWS * COLUMNS);
    static const char *const to[] = {"P()", "P(y,x)", "P(-,(x,y))", "P((y,x))"};
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        local[i] = contribution(SPMD_F64, test_rank, i);
    spmd_array *a = NULL;
    EXPECT_OK(spmd_array_from_local(mesh, "P(unreduced={x,y})", SPMD_F64, part, local, &a));
    for (int t = 0; t < 4; t++) {
        spmd_array *b = NULL;
        EXPECT_OK(spmd_reshard(a, to[t], &b));
        EXPECT(has_outcomes(0, b, part, SPMD_F64, spmd_array_sharding(a), spmd_array_sharding(b)));
        spmd_array_free(&b);
    }
    spmd_array_free(&a);
    free(local);
    spmd_mesh_free(&mesh);
}

/* A body brings its block as it is. */
static spmd_status pass_on(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    memcpy(out->data, in->data, (size_t)spmd_block_size(in) * spmd_dtype_size(in->dtype));
    return SPMD_OK;
}

static spmd_status map_one(spmd_mesh *mesh, spmd_body *body, spmd_array *in, const char *in_spec,
                           const char *out_spec, spmd_array **out)
{
    return spmd_shard_map(mesh, body, NULL, 1, &in, SPMD_SPECS(in_spec), 1, out,
                          SPMD_SPECS(out_spec), NULL);
}

static void what_cannot_be(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = NULL, *b = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_F64, SPMD_SHAPE(3), &a));
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(unreduced={x})", SPMD_BOOL, SPMD_SHAPE(3), &b),
                 SPMD_ERR_DTYPE, "a sum of bool is a number");
    EXPECT_FAILS(spmd_array_zeros(mesh, "P(unreduced={x}:min)", SPMD_C64, SPMD_SHAPE(3), &b),
                 SPMD_ERR_DTYPE, "complex numbers have no order");
    if (test_size > 1)
        EXPECT_FAILS(spmd_reshard(a, "P(unreduced={x}:max)", &b), SPMD_ERR_SPEC,
                     "values become contributions to a sum alone");
    EXPECT_FAILS(spmd_array_arange(mesh, "P(unreduced={x}:max)", SPMD_F64, SPMD_SHAPE(3), &b),
                 SPMD_ERR_SPEC, "values become contributions to a sum alone");
    EXPECT(b == NULL);
    spmd_array_free(&a);
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_BOOL, SPMD_SHAPE(3), &a));
    EXPECT_FAILS(map_one(mesh, pass_on, a, "P()", "P(unreduced={x})", &b), SPMD_ERR_DTYPE,
                 "a sum of bool is a number");
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

/* G112, G126: what differs along an axis is a contribution along it, and nobody promises more. */
static void bodies_give_contributions(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = NULL, *b = NULL, *c = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(4 * test_size), &a));
    EXPECT_OK(map_one(mesh, pass_on, a, "P(x)", "P(unreduced={x})", &b));
    EXPECT(has_type(b, "f64[4]{U:x}"));
    EXPECT_OK(spmd_reshard(b, "P()", &c));
    for (int i = 0; i < 4; i++)
        EXPECT(((double *)spmd_array_block(c)->data)[i] ==
               test_size * i + 2.0 * test_size * (test_size - 1));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    spmd_mesh_free(&mesh);
}

static spmd_status add_up(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    return spmd_psum(ctx, in, "x", out);
}

/* G113: a body may take contributions, and add them up. One that wants values gets sums. */
static void bodies_take_contributions(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    double local[2] = {2.0 * test_rank, 2.0 * test_rank + 1};
    EXPECT_OK(spmd_array_from_local(mesh, "P(unreduced={x})", SPMD_F64, SPMD_SHAPE(2), local, &a));
    EXPECT_OK(map_one(mesh, add_up, a, "P(unreduced={x})", "P()", &b));
    EXPECT_OK(map_one(mesh, pass_on, a, "P()", "P()", &c));
    EXPECT_OK(map_one(mesh, pass_on, a, "P(unreduced={x})", "P(unreduced={x})", &d));
    const double *sums[] = {spmd_array_block(b)->data, spmd_array_block(c)->data};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            EXPECT(sums[k][i] == test_size * (test_size - 1) + i * test_size);
    EXPECT(memcmp(spmd_array_block(d)->data, local, sizeof local) == 0);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    spmd_array_free(&d);
    spmd_mesh_free(&mesh);
}

static void files_get_sums(void)
{
    spmd_mesh *mesh = make_line();
    char path[64] = "contributions-XXXXXX";
    int descriptor = test_rank == 0 ? mkstemp(path) : -1;
    MPI_Bcast(path, sizeof path, MPI_BYTE, 0, MPI_COMM_WORLD);
    spmd_array *a = make_contributions(0, mesh, "P(unreduced={x})", SPMD_F64, SPMD_SHAPE(5, 3)),
               *b = NULL, *c = NULL;
    EXPECT_OK(spmd_write(a, path, "a"));
    EXPECT_OK(spmd_read(mesh, path, "a", "P(x)", SPMD_F64, &b));
    EXPECT(has_outcomes(0, b, SPMD_SHAPE(5, 3), SPMD_F64, spmd_array_sharding(a),
                        spmd_array_sharding(b)));
    EXPECT_OK(spmd_read(mesh, path, "a", "P(unreduced={x})", SPMD_F64, &c));
    EXPECT_OK(spmd_reshard_donate(&c, spmd_array_sharding(b)));
    EXPECT(has_outcomes(0, c, SPMD_SHAPE(5, 3), SPMD_F64, spmd_array_sharding(a),
                        spmd_array_sharding(b)));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    MPI_Barrier(MPI_COMM_WORLD);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(path);
    }
    spmd_mesh_free(&mesh);
}

static void prints_show_sums(void)
{
    spmd_mesh *mesh = make_line();
    char *text = NULL, wanted[200];
    size_t size = 0;
    int32_t local[] = {2};
    spmd_array *a = NULL;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(spmd_array_from_local(mesh, "P(unreduced={x})", SPMD_I32, SPMD_SHAPE(1), local, &a));
    EXPECT_OK(spmd_array_print(a, stream));
    fclose(stream);
    snprintf(wanted, sizeof wanted, "i32[1]{U:x}\n[%d]\n", 2 * test_size);
    if (test_rank == 0 && !EXPECT(strcmp(text, wanted) == 0))
        fprintf(stderr, "# %s", text);
    free(text);
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("contributions", CASE(contributions_add_up_to_any_spec), CASE(scalars_too),
             CASE(other_meshes_get_sums), CASE(contributions_move_one_to_one),
             CASE(values_count_once), CASE(host_values_count_once), CASE(what_cannot_be),
             CASE(round_trips), CASE(halves_are_rounded_once), CASE(large_ones),
             CASE(bodies_give_contributions), CASE(bodies_take_contributions), CASE(files_get_sums),
             CASE(prints_show_sums))
