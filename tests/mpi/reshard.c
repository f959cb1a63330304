/* reshard.c - arrays move from any sharding to any other one. */
#include "pattern.h"
#include "permuted.h"

static spmd_mesh *make_mesh(MPI_Comm comm, const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(comm, text, &mesh));
    return mesh;
}

/* A mesh of `ranks` ranks along x. */
static spmd_mesh *make_line(MPI_Comm comm, int ranks)
{
    char text[32];
    snprintf(text, sizeof text, "x=%d", ranks);
    return make_mesh(comm, text);
}

/* Moves the pattern from one sharding to another and checks every block of the result. */
static void check_move(spmd_mesh *from, const char *from_spec, spmd_mesh *to, const char *to_spec,
                       spmd_dtype dtype, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    spmd_array *a = pattern_array(from, from_spec, dtype, shape), *b = NULL;
    EXPECT_OK(spmd_sharding_create(to, to_spec, &sharding));
    bool moved = EXPECT_OK(spmd_reshard_to(a, sharding, &b)) &&
                 EXPECT(pattern_is_on(b, shape, dtype, sharding));
    if (!moved)
        fprintf(stderr, "# %s to %s, %d dims, %s\n", from_spec, to_spec, shape.ndim,
                spmd_dtype_name(dtype));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&sharding);
}

/* Every pair of these, where the mesh has the axes; shapes and types in turn. */
static void every_pair_of_specs(void)
{
    static const char *const specs[] = {
        "P()",      "P(x)",     "P(-,x)",     "P(y)",       "P(-,y)",     "P(x,y)",    "P(y,x)",
        "P((x,y))", "P((y,x))", "P(-,(x,y))", "P(-,(y,x))", "P(z,(x,y))", "P((z,x),y)"};
    static const int64_t extents[] = {1, 7, 8, 9, 0, 16, 3};
    static const spmd_dtype types[] = {SPMD_I8, SPMD_F16, SPMD_I32, SPMD_C64, SPMD_C128};
    const int nspecs = sizeof specs / sizeof *specs;
    int turn = 0;
    for (int m = 0; pattern_mesh(test_size, m); m++) {
        spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, pattern_mesh(test_size, m));
        for (int i = 0; i < nspecs * nspecs; i++, turn++) {
            spmd_sharding *known = NULL, *known_too = NULL;
            const char *from = specs[i / nspecs], *to = specs[i % nspecs];
            spmd_shape shape = SPMD_SHAPE(extents[turn % 7], extents[turn / 7 % 7]);
            if (spmd_sharding_create(mesh, from, &known) == SPMD_OK &&
                spmd_sharding_create(mesh, to, &known_too) == SPMD_OK)
                check_move(mesh, from, mesh, to, types[turn % 5], shape);
            spmd_sharding_free(&known);
            spmd_sharding_free(&known_too);
        }
        spmd_mesh_free(&mesh);
    }
}

static void scalars_and_empty_arrays(void)
{
    spmd_mesh *one = make_mesh(MPI_COMM_WORLD, "x=*"), *two = make_mesh(MPI_COMM_WORLD, "a=*,b=1");
    check_move(one, "P()", two, "P()", SPMD_F64, SPMD_SCALAR);
    check_move(one, "P(x)", one, "P()", SPMD_C128, SPMD_SHAPE(0));
    check_move(one, "P(x)", two, "P(-,a)", SPMD_I16, SPMD_SHAPE(5, 0));
    spmd_mesh_free(&one);
    spmd_mesh_free(&two);
}

/* Parts that do not fit into one message, packed on one side, on both, or on none. */
static void large_parts(void)
{
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*");
    check_move(mesh, "P(x)", mesh, "P(-,x)", SPMD_C128, SPMD_SHAPE(1030, 1040));
    check_move(mesh, "P(-,x)", mesh, "P(x)", SPMD_F64, SPMD_SHAPE(2, 1024 * 1024));
    check_move(mesh, "P(-,x)", mesh, "P(-,-,x)", SPMD_U8, SPMD_SHAPE(3, 2049, 1025));
    check_move(mesh, "P(x)", mesh, "P()", SPMD_F32, SPMD_SHAPE(3 * 1024 * 1024));
    spmd_mesh_free(&mesh);
}

static void nothing_to_do_is_the_same_array(void)
{
    static const char *const same[] = {"P(x)", "P(x,-)", "P((x,one))", "P((one,x),-)", "P(x,one)"};
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*,one=1");
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9, 2)), *b = NULL;
    for (int i = 0; i < 5; i++) {
        EXPECT_OK(spmd_reshard(a, same[i], &b));
        EXPECT(b == a);
        spmd_array_free(&b);
    }
    EXPECT_OK(spmd_reshard(a, "P(-,x)", &b));
    EXPECT((b == a) == (test_size == 1));
    spmd_array_free(&b);
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

/* The same layout on a mesh of other names is an array of that mesh. */
static void the_result_is_of_the_mesh_that_was_asked_for(void)
{
    spmd_mesh *x = make_mesh(MPI_COMM_WORLD, "x=*"), *data = make_mesh(MPI_COMM_WORLD, "data=*");
    spmd_sharding *sharding = NULL;
    spmd_array *a = pattern_array(x, "P(x)", SPMD_F32, SPMD_SHAPE(9)), *b = NULL, *c = NULL;
    EXPECT_OK(spmd_sharding_create(data, "P(data)", &sharding));
    EXPECT_OK(spmd_reshard_to(a, sharding, &b));
    EXPECT(b && spmd_mesh_equal(spmd_sharding_mesh(spmd_array_sharding(b)), data));
    EXPECT_OK(spmd_reshard(b, "P(data)", &c));
    EXPECT(c == b);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&x);
    spmd_mesh_free(&data);
}

static void to_the_same_ranks_in_another_order(void)
{
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    spmd_mesh *forth = make_mesh(MPI_COMM_WORLD, "x=*"), *back = make_mesh(reversed, "x=*");
    MPI_Comm_free(&reversed);
    check_move(forth, "P(x)", back, "P(x)", SPMD_I32, SPMD_SHAPE(9, 3));
    check_move(back, "P(-,x)", forth, "P(x)", SPMD_F16, SPMD_SHAPE(7, 9));
    check_move(back, "P()", forth, "P(x)", SPMD_I8, SPMD_SHAPE(16));
    check_move(forth, "P(x)", back, "P()", SPMD_C128, SPMD_SHAPE(8));
    spmd_mesh_free(&forth);
    spmd_mesh_free(&back);
}

/* Every pair of a plain mesh and permuted ones, with and without idle ranks. */
static void between_any_orders_of_ranks(void)
{
    spmd_mesh *meshes[PERMUTED_MESHES + 1] = {make_mesh(MPI_COMM_WORLD, "x=*")};
    for (int m = 0; m < PERMUTED_MESHES; m++)
        meshes[m + 1] = make_permuted(m);
    for (int i = 0; i <= PERMUTED_MESHES; i++)
        for (int j = 0; j <= PERMUTED_MESHES; j++) {
            check_move(meshes[i], "P(x)", meshes[j], "P(x)", SPMD_I32, SPMD_SHAPE(9, 3));
            check_move(meshes[i], "P(-,x)", meshes[j], "P(x)", SPMD_F16, SPMD_SHAPE(7, 9));
            check_move(meshes[i], "P()", meshes[j], "P(x)", SPMD_I8, SPMD_SHAPE(16));
            check_move(meshes[i], "P(x)", meshes[j], "P()", SPMD_C128, SPMD_SHAPE(8));
        }
    for (int i = 1; i <= PERMUTED_FULL_MESHES; i++)
        for (int j = 1; j <= PERMUTED_FULL_MESHES; j++) {
            check_move(meshes[i], "P((y,x))", meshes[j], "P(y,x)", SPMD_I64, SPMD_SHAPE(7, 5));
            check_move(meshes[i], "P(y)", meshes[j], "P(-,(x,y))", SPMD_U8, SPMD_SHAPE(6, 9));
        }
    for (int m = 0; m <= PERMUTED_MESHES; m++)
        spmd_mesh_free(&meshes[m]);
}

static void check_move_to_part(spmd_mesh *mesh, const char *coordinates, const char *spec,
                               const char *part_spec)
{
    spmd_mesh *part = NULL;
    EXPECT_OK(spmd_mesh_sub(mesh, coordinates, &part));
    check_move(mesh, spec, part, part_spec, SPMD_F32, SPMD_SHAPE(7, 5));
    check_move(part, part_spec, mesh, spec, SPMD_C128, SPMD_SHAPE(5, 7));
    spmd_mesh_free(&part);
}

static void to_a_part_of_the_mesh_and_back(void)
{
    for (int m = 0; m < PERMUTED_FULL_MESHES; m++) {
        char last[32];
        spmd_mesh *mesh = make_permuted(m);
        snprintf(last, sizeof last, "x=%d", (int)spmd_mesh_axis_size(mesh, "x") - 1);
        check_move_to_part(mesh, "x=0", "P(x,y)", "P(y)");
        check_move_to_part(mesh, last, "P((y,x))", "P(-,y)");
        check_move_to_part(mesh, "y=0", "P()", "P(-,x)");
        check_move_to_part(mesh, "y=0,x=0", "P(-,(x,y))", "P(x)");
        spmd_mesh_free(&mesh);
    }
}

static void to_fewer_and_to_more_ranks(void)
{
    spmd_mesh *all = make_line(MPI_COMM_WORLD, test_size);
    for (int ranks = 1; ranks < test_size; ranks++) {
        spmd_mesh *few = make_line(MPI_COMM_WORLD, ranks);
        check_move(all, "P(x)", few, "P(x)", SPMD_F64, SPMD_SHAPE(9, 2));
        check_move(few, "P(x)", all, "P(-,x)", SPMD_F32, SPMD_SHAPE(7, 9));
        check_move(few, "P()", all, "P(x)", SPMD_I16, SPMD_SHAPE(8));
        check_move(few, "P(x)", all, "P()", SPMD_I8, SPMD_SHAPE(5, 5));
        check_move(all, "P()", few, "P()", SPMD_I8, SPMD_SHAPE(3));
        spmd_mesh_free(&few);
    }
    spmd_mesh_free(&all);
}

/* Neither mesh has all ranks of the other one: they overlap, or have none in common. */
static void between_meshes_that_share_some_ranks_or_none(void)
{
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
    for (int ranks = 1; ranks < test_size; ranks++) {
        spmd_mesh *first = make_line(MPI_COMM_WORLD, ranks), *last = make_line(reversed, ranks);
        check_move(first, "P(x)", last, "P(x)", SPMD_I64, SPMD_SHAPE(9, 2));
        check_move(last, "P(-,x)", first, "P(x)", SPMD_U8, SPMD_SHAPE(4, 9));
        check_move(first, "P()", last, "P(x)", SPMD_C128, SPMD_SHAPE(11));
        spmd_mesh_free(&first);
        spmd_mesh_free(&last);
    }
    MPI_Comm_free(&reversed);
}

/* An array from local blocks has a shape that idle ranks learn only when they get a part. */
static void idle_ranks_learn_the_shape(void)
{
    int half = (test_size + 1) / 2;
    spmd_mesh *few = make_line(MPI_COMM_WORLD, half), *all = make_line(MPI_COMM_WORLD, test_size);
    spmd_array *a = NULL, *b = NULL;
    spmd_sharding *sharding = NULL;
    int32_t mine[] = {10 * test_rank, 10 * test_rank + 1, 10 * test_rank + 2};
    EXPECT_OK(spmd_array_from_local(few, "P(x)", SPMD_I32, SPMD_SHAPE(3), mine, &a));
    EXPECT_OK(spmd_sharding_create(all, "P()", &sharding));
    EXPECT_OK(spmd_reshard_to(a, sharding, &b));
    EXPECT(b && spmd_shape_equal(spmd_array_shape(b), SPMD_SHAPE(3 * half)));
    const int32_t *got = b ? spmd_array_block(b)->data : NULL;
    for (int i = 0; b && i < 3 * half; i++)
        EXPECT(got[i] == 10 * (i / 3) + i % 3);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&few);
    spmd_mesh_free(&all);
}

static void idle_ranks_may_call(void)
{
    spmd_mesh *few = make_line(MPI_COMM_WORLD, (test_size + 1) / 2);
    check_move(few, "P(x)", few, "P(-,x)", SPMD_F32, SPMD_SHAPE(5, 6));
    spmd_mesh_free(&few);
}

static void bad_arguments_fail(void)
{
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*"), *nowhere = NULL;
    spmd_sharding *sharding = NULL, *unreal = NULL;
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9)), *b = NULL;
    EXPECT_FAILS(spmd_reshard(NULL, "P(x)", &b), SPMD_ERR_ARGUMENT, "array is NULL");
    EXPECT_FAILS(spmd_reshard(a, "P(q)", &b), SPMD_ERR_SPEC, "q");
    EXPECT_FAILS(spmd_reshard(a, "P(x", &b), SPMD_ERR_SYNTAX, "");
    EXPECT_FAILS(spmd_reshard(a, "P(-,x)", &b), SPMD_ERR_SPEC, "2 entries, the array 1 dimension");
    EXPECT_FAILS(spmd_reshard(a, "P(x,-)", &b), SPMD_ERR_SPEC, "2 entries, the array 1 dimension");
    EXPECT_FAILS(spmd_reshard_to(a, NULL, &b), SPMD_ERR_ARGUMENT, "sharding is NULL");
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &sharding));
    EXPECT_FAILS(spmd_reshard_to(NULL, sharding, &b), SPMD_ERR_ARGUMENT, "array is NULL");
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &nowhere));
    EXPECT_OK(spmd_sharding_create(nowhere, "P(x)", &unreal));
    EXPECT_FAILS(spmd_reshard_to(a, unreal, &b), SPMD_ERR_MESH, "abstract");
    EXPECT(b == NULL);
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_sharding_free(&unreal);
    spmd_mesh_free(&nowhere);
    spmd_mesh_free(&mesh);
}

/* What one rank gets wrong fails everywhere, and the next call works. */
static void one_ranks_mistake_is_everybodys(void)
{
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*");
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9, 4)), *b = NULL;
    int last = test_size - 1;
    EXPECT_FAILS(spmd_reshard(a, test_rank == last ? "P(q)" : "P(-,x)", &b), SPMD_ERR_SPEC, "q");
    if (test_size > 1)
        EXPECT_FAILS(spmd_reshard(a, test_rank == last ? "P()" : "P(-,x)", &b), SPMD_ERR_DISAGREE,
                     "passed other arguments than rank 0");
    if (test_size > 1) /* where the others have nothing to move */
        EXPECT_FAILS(spmd_reshard(a, test_rank == last ? "P()" : "P(x)", &b), SPMD_ERR_DISAGREE,
                     "passed other arguments than rank 0");
    EXPECT(b == NULL);
    EXPECT_FAILS(spmd_reshard(a, "P(-,x)", test_rank == last ? NULL : &b), SPMD_ERR_ARGUMENT,
                 "no place");
    EXPECT_OK(spmd_reshard(a, "P(-,x)", &b));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* The same type otherwise, but lying in another way. */
static void arrays_that_differ_between_ranks_are_noticed(void)
{
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*");
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(8, 8)), *out = NULL;
    spmd_array *b = pattern_array(mesh, "P(-,x)", SPMD_F32, SPMD_SHAPE(8, 8));
    spmd_array *mine = test_rank == test_size - 1 ? b : a;
    float host[64];
    if (test_size > 1) {
        EXPECT_FAILS(spmd_reshard(mine, "P()", &out), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_reshard(mine, "P(x)", &out), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_array_gather(mine, 0, host, 64), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_array_print(mine, stderr), SPMD_ERR_DISAGREE, "");
    }
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* Two meshes of the same axes over the same ranks, in two orders. */
static void meshes_that_differ_between_ranks_are_noticed(void)
{
    spmd_mesh *mesh = make_mesh(MPI_COMM_WORLD, "x=*"), *reversed = make_reversed("x=*");
    spmd_sharding *from, *straight, *back;
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9)), *b = NULL;
    spmd_reshard_call *plan = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &from));
    EXPECT_OK(spmd_sharding_create(mesh, "P()", &straight));
    EXPECT_OK(spmd_sharding_create(reversed, "P()", &back));
    const spmd_sharding *to = test_rank == test_size - 1 ? back : straight;
    if (test_size > 1) {
        EXPECT_FAILS(spmd_reshard_to(a, to, &b), SPMD_ERR_DISAGREE, "passed other arguments");
        EXPECT_FAILS(spmd_reshard_donate(&a, to), SPMD_ERR_DISAGREE, "passed other arguments");
        EXPECT_FAILS(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9), &plan), SPMD_ERR_DISAGREE,
                     "passed other arguments");
    }
    EXPECT_OK(spmd_reshard_to(a, back, &b));
    EXPECT(pattern_is_on(b, SPMD_SHAPE(9), SPMD_F32, back));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&from);
    spmd_sharding_free(&straight);
    spmd_sharding_free(&back);
    spmd_mesh_free(&reversed);
    spmd_mesh_free(&mesh);
}

/* A mesh whose communicator lacks ranks of the other one: these could not take part. */
static void meshes_must_know_each_other(void)
{
    MPI_Comm half;
    bool first = test_rank < (test_size + 1) / 2;
    if (test_size == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, !first, test_rank, &half);
    spmd_mesh *all = make_mesh(MPI_COMM_WORLD, "x=*"), *some = make_mesh(half, "x=*");
    spmd_sharding *sharding = NULL;
    spmd_array *a = pattern_array(all, "P(x)", SPMD_F32, SPMD_SHAPE(9)), *b = NULL;
    EXPECT_OK(spmd_sharding_create(some, "P(x)", &sharding));
    spmd_status status = spmd_reshard_to(a, sharding, &b);
    if (test_size % 2 == 0)
        EXPECT_FAILS(status, SPMD_ERR_MESH, "lacks ranks of mesh x=");
    else /* the halves differ in size */
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, "");
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&some);
    spmd_mesh_free(&all);
    MPI_Comm_free(&half);
}

HARNESS_MAIN("reshard", CASE(every_pair_of_specs), CASE(scalars_and_empty_arrays),
             CASE(large_parts), CASE(nothing_to_do_is_the_same_array),
             CASE(the_result_is_of_the_mesh_that_was_asked_for),
             CASE(to_the_same_ranks_in_another_order), CASE(between_any_orders_of_ranks),
             CASE(to_a_part_of_the_mesh_and_back), CASE(to_fewer_and_to_more_ranks),
             CASE(between_meshes_that_share_some_ranks_or_none), CASE(idle_ranks_learn_the_shape),
             CASE(idle_ranks_may_call), CASE(bad_arguments_fail),
             CASE(one_ranks_mistake_is_everybodys),
             CASE(arrays_that_differ_between_ranks_are_noticed),
             CASE(meshes_that_differ_between_ranks_are_noticed), CASE(meshes_must_know_each_other))
