/* donate.c - arrays that are given up for a reshard, and memory that is used again in place. */
#include "permuted.h"
#include "planned.h"

static spmd_mesh *make_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

static spmd_mesh *make_grid(void)
{
    return make_mesh(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1");
}

static spmd_mesh *make_line(int ranks)
{
    char text[32];
    snprintf(text, sizeof text, "x=%d", ranks);
    return make_mesh(text);
}

static spmd_sharding *sharding_on(spmd_mesh *mesh, const char *spec)
{
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding));
    return sharding;
}

/* Where this rank's block lies; NULL on idle ranks. */
static const void *memory_of(const spmd_array *array)
{
    const spmd_block *block = spmd_array_block(array);
    return block ? block->data : NULL;
}

static void tell(bool holds, const char *from, const char *to)
{
    if (!EXPECT(holds))
        fprintf(stderr, "# %s to %s\n", from, to);
}

/* What the move is known to do with the block's memory. */
enum memory { KEPT, NEW, EITHER };

/* Gives the pattern up from one sharding to another and checks every block of the result. */
static void check_donated(spmd_mesh *from, const char *from_spec, spmd_mesh *to,
                          const char *to_spec, spmd_dtype dtype, spmd_shape shape,
                          enum memory memory)
{
    spmd_sharding *sharding = sharding_on(to, to_spec);
    spmd_array *a = pattern_array(from, from_spec, dtype, shape);
    const void *before = memory_of(a);
    bool given = EXPECT_OK(spmd_reshard_donate(&a, sharding));
    tell(given && pattern_is_on(a, shape, dtype, sharding), from_spec, to_spec);
    tell(memory == EITHER || (memory_of(a) == before) == (memory == KEPT), from_spec, to_spec);
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
}

/* Of blocks that lie in the pool, and of such that do not. */
static const struct {
    spmd_dtype dtype;
    spmd_shape shape;
} sizes[] = {{SPMD_F64, {3, {7, 90, 101}}}, {SPMD_U8, {3, {5, 7, 3}}}, {SPMD_F32, {3, {9, 0, 4}}}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void any_array_may_be_given_up(void)
{
    static const char *const specs[] = {"P()",      "P(x)",     "P(-,x)", "P(x,y)",
                                        "P((y,x))", "P(-,y,x)", "P(y,-)", "P(-,(x,y))"};
    enum { SPECS = sizeof specs / sizeof *specs };
    spmd_mesh *mesh = make_grid();
    for (int i = 0; i < SPECS * SPECS; i++)
        for (int k = 0; k < SIZES; k++)
            check_donated(mesh, specs[i / SPECS], mesh, specs[i % SPECS], sizes[k].dtype,
                          sizes[k].shape, EITHER);
    spmd_mesh_free(&mesh);
}

static void a_part_of_the_block_stays_in_its_memory(void)
{
    static const char *const pairs[][2] = {{"P()", "P(x)"},          {"P()", "P(-,x)"},
                                           {"P()", "P(-,-,x)"},      {"P()", "P(-,y,x)"},
                                           {"P()", "P(y,x)"},        {"P(x)", "P(x,y)"},
                                           {"P(x)", "P((x,y))"},     {"P(-,y)", "P(-,y,x)"},
                                           {"P(-,-,x)", "P(y,-,x)"}, {"P(y)", "P((y,x),-)"}};
    spmd_mesh *mesh = make_grid();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < SIZES; k++)
            check_donated(mesh, pairs[i][0], mesh, pairs[i][1], sizes[k].dtype, sizes[k].shape,
                          KEPT);
    spmd_mesh_free(&mesh);
}

/* The same layout under other names is a move of nothing. */
static void whole_blocks_stay_in_their_memory(void)
{
    spmd_mesh *mesh = make_line(test_size), *other = make_mesh("a=*,b=1");
    for (int k = 0; k < SIZES; k++) {
        check_donated(mesh, "P(x)", other, "P(a)", sizes[k].dtype, sizes[k].shape, KEPT);
        check_donated(other, "P(-,a)", mesh, "P(-,x)", sizes[k].dtype, sizes[k].shape, KEPT);
    }
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&other);
}

static void what_comes_from_others_has_a_new_block(void)
{
    spmd_mesh *mesh = make_line(test_size);
    enum memory memory = test_size > 1 ? NEW : KEPT;
    for (int k = 0; k < 2; k++) {
        check_donated(mesh, "P(x)", mesh, "P()", sizes[k].dtype, SPMD_SHAPE(8, 16, 600), memory);
        check_donated(mesh, "P(-,x)", mesh, "P(x)", sizes[k].dtype, SPMD_SHAPE(8, 16, 600), memory);
    }
    spmd_mesh_free(&mesh);
}

/* A rank that needs nothing itself may move its part only when others have read theirs. */
static void others_read_before_a_part_moves(void)
{
    spmd_mesh *all = make_line(test_size);
    for (int ranks = 1; ranks < test_size; ranks++) {
        spmd_mesh *few = make_line(ranks);
        for (int k = 0; k < SIZES; k++) {
            check_donated(few, "P()", all, "P(-,x)", sizes[k].dtype, sizes[k].shape,
                          test_rank < ranks ? KEPT : NEW);
            check_donated(few, "P()", all, "P()", sizes[k].dtype, sizes[k].shape,
                          test_rank < ranks ? KEPT : NEW);
            check_donated(all, "P()", few, "P(-,x)", sizes[k].dtype, sizes[k].shape,
                          test_rank < ranks ? KEPT : NEW);
            check_donated(all, "P(x)", few, "P(-,x)", sizes[k].dtype, sizes[k].shape, EITHER);
        }
        spmd_mesh_free(&few);
    }
    spmd_mesh_free(&all);
}

static void between_any_orders_of_ranks(void)
{
    for (int i = 0; i < PERMUTED_MESHES * PERMUTED_MESHES; i++) {
        spmd_mesh *from = make_permuted(i / PERMUTED_MESHES);
        spmd_mesh *to = make_permuted(i % PERMUTED_MESHES);
        check_donated(from, "P()", to, "P(-,x)", SPMD_F64, sizes[0].shape, EITHER);
        check_donated(from, "P(x)", to, "P(x)", SPMD_F64, sizes[0].shape, EITHER);
        spmd_mesh_free(&from);
        spmd_mesh_free(&to);
    }
}

static void scalars(void)
{
    spmd_mesh *mesh = make_line(test_size), *few = make_line((test_size + 1) / 2);
    check_donated(mesh, "P()", mesh, "P()", SPMD_C128, SPMD_SCALAR, KEPT);
    check_donated(mesh, "P()", few, "P()", SPMD_C128, SPMD_SCALAR, EITHER);
    check_donated(few, "P()", mesh, "P()", SPMD_I8, SPMD_SCALAR, EITHER);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&few);
}

/* Gives an array that counts up to contributions and checks the values that they make. */
static void check_contributions(spmd_mesh *mesh, const char *from, const char *to, spmd_shape shape,
                                enum memory memory)
{
    spmd_sharding *sharding = sharding_on(mesh, to), *back = sharding_on(mesh, from);
    spmd_array *a = NULL;
    int64_t size = spmd_shape_size(shape), wrong = 0;
    int64_t *host = calloc((size_t)size, sizeof *host);
    EXPECT_OK(spmd_array_arange(mesh, from, SPMD_I64, shape, &a));
    const void *before = memory_of(a);
    EXPECT_OK(spmd_reshard_donate(&a, sharding));
    tell(memory == EITHER || (memory_of(a) == before) == (memory == KEPT), from, to);
    EXPECT_OK(spmd_reshard_donate(&a, back));
    EXPECT_OK(spmd_array_gather(a, SPMD_ALL, host, size));
    for (int64_t i = 0; i < size; i++)
        wrong += host[i] != i;
    tell(wrong == 0, from, to);
    free(host);
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_sharding_free(&back);
}

static void contributions_may_be_given_up(void)
{
    spmd_mesh *mesh = make_grid();
    static const int64_t columns[] = {5, 1031};
    for (int i = 0; i < 2; i++) {
        spmd_shape shape = SPMD_SHAPE(17, columns[i]);
        check_contributions(mesh, "P()", "P(unreduced={x})", shape, KEPT);
        check_contributions(mesh, "P(-,y)", "P(-,y,unreduced={x})", shape, KEPT);
        check_contributions(mesh, "P()", "P(y,unreduced={x})", shape, KEPT);
        check_contributions(mesh, "P(x)", "P(unreduced={x})", shape, EITHER);
        check_contributions(mesh, "P(x,y)", "P(-,y,unreduced={x})", shape, EITHER);
        check_contributions(mesh, "P(x)", "P(-,y,unreduced={x})", shape, EITHER);
    }
    spmd_mesh_free(&mesh);
}

static void where_nothing_moves_it_is_the_same_array(void)
{
    static const char *const same[] = {"P(x)", "P(x,-)", "P((x,one))", "P(x,one)"};
    spmd_mesh *mesh = make_mesh("x=*,one=1");
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9, 2));
    const spmd_array *before = a;
    for (int i = 0; i < 4; i++) {
        spmd_sharding *sharding = sharding_on(mesh, same[i]);
        EXPECT_OK(spmd_reshard_donate(&a, sharding));
        EXPECT(a == before);
        spmd_sharding_free(&sharding);
    }
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

static void an_array_that_is_held_elsewhere_stays_as_it_is(void)
{
    static const char *const to[] = {"P(x)", "P(-,x)", "P()"};
    spmd_mesh *mesh = make_line(test_size);
    spmd_sharding *whole = sharding_on(mesh, "P()");
    for (int k = 0; k < SIZES; k++)
        for (int i = 0; i < 3; i++) {
            spmd_sharding *sharding = sharding_on(mesh, to[i]);
            spmd_array *a = pattern_array(mesh, "P()", sizes[k].dtype, sizes[k].shape);
            spmd_array *held = spmd_array_hold(a);
            EXPECT_OK(spmd_reshard_donate(&a, sharding));
            EXPECT((a == held) == (test_size == 1 || i == 2));
            EXPECT(pattern_is_on(a, sizes[k].shape, sizes[k].dtype, sharding));
            EXPECT(pattern_is_on(held, sizes[k].shape, sizes[k].dtype, whole));
            spmd_array_free(&a);
            EXPECT(pattern_is_on(held, sizes[k].shape, sizes[k].dtype, whole));
            spmd_array_free(&held);
            spmd_sharding_free(&sharding);
        }
    spmd_sharding_free(&whole);
    spmd_mesh_free(&mesh);
}

/* The first case: nothing else is free in the pool but what lies before the first large page, which
 * is less than a row of these. */
static void what_is_left_of_the_memory_is_given_back(void)
{
    spmd_mesh *mesh = make_line(test_size);
    spmd_sharding *split = sharding_on(mesh, "P(x)");
    spmd_shape shape = SPMD_SHAPE(test_size, 1 << 21), less = SPMD_SHAPE(test_size, 510 << 12);
    spmd_array *a = pattern_array(mesh, "P()", SPMD_U8, shape);
    const char *before = memory_of(a);
    EXPECT_OK(spmd_reshard_donate(&a, split));
    spmd_array *b = pattern_array(mesh, "P(x)", SPMD_U8, less);
    const char *taken = memory_of(b);
    EXPECT(test_size == 1 || (taken > before && taken < before + spmd_shape_size(shape)));
    EXPECT(pattern_is_on(a, shape, SPMD_U8, split) && pattern_is_on(b, less, SPMD_U8, split));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&split);
    spmd_mesh_free(&mesh);
}

static void a_failed_call_leaves_the_array(void)
{
    spmd_mesh *mesh = make_line(test_size), *nowhere = NULL;
    spmd_sharding *wrong = sharding_on(mesh, "P(-,-,-,x)"), *right = sharding_on(mesh, "P(-,x)");
    spmd_sharding *whole = sharding_on(mesh, "P()"), *unreal;
    spmd_array *a = pattern_array(mesh, "P()", SPMD_F32, SPMD_SHAPE(9, 3)), *none = NULL;
    const spmd_array *before = a;
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &nowhere));
    unreal = sharding_on(nowhere, "P(x)");
    EXPECT_FAILS(spmd_reshard_donate(&a, wrong), SPMD_ERR_SPEC, "4 entries");
    EXPECT_FAILS(spmd_reshard_donate(&a, unreal), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(spmd_reshard_donate(&a, test_rank == test_size - 1 ? NULL : right),
                 SPMD_ERR_ARGUMENT, "sharding is NULL");
    if (test_size > 1)
        EXPECT_FAILS(spmd_reshard_donate(&a, test_rank == test_size - 1 ? right : whole),
                     SPMD_ERR_DISAGREE, "passed other arguments than rank 0");
    EXPECT_FAILS(spmd_reshard_donate(&none, right), SPMD_ERR_ARGUMENT, "it is NULL");
    EXPECT_FAILS(spmd_reshard_donate(NULL, right), SPMD_ERR_ARGUMENT, "it is NULL");
    EXPECT(a == before && pattern_is_on(a, SPMD_SHAPE(9, 3), SPMD_F32, whole));
    EXPECT_OK(spmd_reshard_donate(&a, right));
    spmd_array_free(&a);
    spmd_sharding_free(&wrong);
    spmd_sharding_free(&right);
    spmd_sharding_free(&whole);
    spmd_sharding_free(&unreal);
    spmd_mesh_free(&nowhere);
    spmd_mesh_free(&mesh);
}

static void a_plan_may_replace_its_inputs(void)
{
    static const char *const pairs[][2] = {{"P()", "P(-,x)"}, {"P(x)", "P(-,x)"}, {"P(x)", "P()"},
                                           {"P()", "P()"},    {"P(x)", "P(x,y)"}, {"P(x)", "P(y)"}};
    spmd_mesh *mesh = make_grid();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct planned planned = plan_between(mesh, pairs[i][0], pairs[i][1], SPMD_F64,
                                              SPMD_SHAPE(2 * test_size + 1, 1021));
        for (int run = 0; run < 3; run++) {
            spmd_array *list[2] = {source_of(&planned), source_of(&planned)};
            EXPECT_OK(spmd_reshard_run(planned.plan, 1, &list[0], &list[0]));
            tell(is_moved(&planned, list[0]), pairs[i][0], pairs[i][1]);
            spmd_array_free(&list[0]);
            list[0] = source_of(&planned);
            EXPECT_OK(spmd_reshard_run(planned.plan, 2, list, list));
            tell(is_moved(&planned, list[0]) && is_moved(&planned, list[1]), pairs[i][0],
                 pairs[i][1]);
            spmd_array_free(&list[0]);
            spmd_array_free(&list[1]);
        }
        free_plan(&planned);
    }
    spmd_mesh_free(&mesh);
}

static void a_plan_uses_the_memory_of_an_input_that_it_replaces(void)
{
    spmd_mesh *mesh = make_grid();
    struct planned planned = plan_between(mesh, "P()", "P(-,x)", SPMD_F64, SPMD_SHAPE(31, 1021));
    spmd_array *a = source_of(&planned);
    const void *before = memory_of(a);
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &a));
    EXPECT(memory_of(a) == before && is_moved(&planned, a));
    spmd_array_free(&a);
    a = source_of(&planned);
    spmd_array *held = spmd_array_hold(a);
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &a));
    EXPECT(is_moved(&planned, a));
    EXPECT(pattern_is_on(held, planned.shape, SPMD_F64, planned.from) ||
           spmd_mesh_axis_size(mesh, "x") == 1);
    spmd_array_free(&held);
    spmd_array_free(&a);
    free_plan(&planned);
    spmd_mesh_free(&mesh);
}

static void an_output_may_be_no_other_array_of_the_call(void)
{
    spmd_mesh *mesh = make_line(test_size);
    struct planned planned = plan_between(mesh, "P()", "P(-,x)", SPMD_F64, SPMD_SHAPE(3, 7));
    spmd_array *in[2] = {source_of(&planned), source_of(&planned)};
    spmd_array *other = source_of(&planned);
    if (test_size > 1) {
        EXPECT_FAILS(spmd_reshard_run(planned.plan, 2, in, (spmd_array *[]){in[1], NULL}),
                     SPMD_ERR_ARGUMENT, "output 0 was given the array of input 1");
        EXPECT_FAILS(spmd_reshard_run(planned.plan, 2, in, (spmd_array *[]){NULL, in[0]}),
                     SPMD_ERR_ARGUMENT, "output 1 was given the array of input 0");
        EXPECT_FAILS(spmd_reshard_run(planned.plan, 2, in, (spmd_array *[]){other, other}),
                     SPMD_ERR_ARGUMENT, "output 0 was given the array of output 1");
        EXPECT_FAILS(spmd_reshard_run(planned.plan, 2, (spmd_array *[]){in[0], in[0]},
                                      (spmd_array *[]){in[0], NULL}),
                     SPMD_ERR_ARGUMENT, "output 0 was given the array of input 1");
    }
    EXPECT_OK(spmd_reshard_run(planned.plan, 2, in, in));
    EXPECT(is_moved(&planned, in[0]) && is_moved(&planned, in[1]));
    spmd_array_free(&in[0]);
    spmd_array_free(&in[1]);
    spmd_array_free(&other);
    free_plan(&planned);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("donate", CASE(what_is_left_of_the_memory_is_given_back),
             CASE(any_array_may_be_given_up), CASE(a_part_of_the_block_stays_in_its_memory),
             CASE(whole_blocks_stay_in_their_memory), CASE(what_comes_from_others_has_a_new_block),
             CASE(others_read_before_a_part_moves), CASE(between_any_orders_of_ranks),
             CASE(scalars), CASE(contributions_may_be_given_up),
             CASE(where_nothing_moves_it_is_the_same_array),
             CASE(an_array_that_is_held_elsewhere_stays_as_it_is),
             CASE(a_failed_call_leaves_the_array), CASE(a_plan_may_replace_its_inputs),
             CASE(a_plan_uses_the_memory_of_an_input_that_it_replaces),
             CASE(an_output_may_be_no_other_array_of_the_call))
