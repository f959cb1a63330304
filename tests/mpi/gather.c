/* gather.c - whole arrays on one rank or on all; and printed. */
#include "pattern.h"
#include "permuted.h"

static spmd_mesh *make_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

static void check_gather(spmd_mesh *mesh, const char *spec, spmd_dtype dtype, spmd_shape shape,
                         int64_t root)
{
    spmd_array *a = pattern_array(mesh, spec, dtype, shape);
    int64_t size = spmd_shape_size(shape), position = spmd_mesh_position(mesh);
    spmd_box whole = spmd_box_whole(shape);
    bool here = position >= 0 && (root == SPMD_ALL || position == root);
    void *host = here ? calloc((size_t)size + 1, spmd_dtype_size(dtype)) : NULL;
    EXPECT_OK(spmd_array_gather(a, root, host, here ? size : -7));
    if (here && !EXPECT(pattern_is_in(host, &whole, shape, dtype)))
        fprintf(stderr, "# %s to %d\n", spec, (int)root);
    free(host);
    spmd_array_free(&a);
}

static void check_gathers_on(spmd_mesh *mesh, int turn, unsigned *seed)
{
    static const int64_t extents[] = {9, 1, 8, 0, 7};
    static const spmd_dtype types[] = {SPMD_U8, SPMD_F16, SPMD_U32, SPMD_F64, SPMD_C128, SPMD_C64};
    for (int last = turn + 20; turn < last; turn++) {
        char spec[256];
        spmd_shape shape = SPMD_SHAPE(extents[turn % 5], extents[turn / 5 % 5], 3);
        pattern_random_spec(mesh, 3, seed, spec);
        check_gather(mesh, spec, types[turn % 6], shape, SPMD_ALL);
        check_gather(mesh, spec, types[turn % 6], shape, turn % spmd_mesh_size(mesh));
    }
    spmd_mesh_free(&mesh);
}

static void to_one_and_to_all(void)
{
    unsigned seed = 7;
    for (int m = 0; pattern_mesh(test_size, m); m++)
        check_gathers_on(make_mesh(pattern_mesh(test_size, m)), 20 * m, &seed);
}

static void from_ranks_in_another_order(void)
{
    unsigned seed = 8;
    for (int m = 0; m < PERMUTED_MESHES; m++)
        check_gathers_on(make_permuted(m), 20 * m, &seed);
}

static void scalars(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    check_gather(mesh, "P()", SPMD_C128, SPMD_SCALAR, SPMD_ALL);
    check_gather(mesh, "P()", SPMD_BOOL, SPMD_SCALAR, test_size - 1);
    spmd_mesh_free(&mesh);
}

static void idle_ranks_may_call(void)
{
    char text[32];
    snprintf(text, sizeof text, "x=%d", (test_size + 1) / 2);
    spmd_mesh *mesh = make_mesh(text);
    check_gather(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9), SPMD_ALL);
    check_gather(mesh, "P(-,x)", SPMD_F32, SPMD_SHAPE(9, 5), 0);
    spmd_mesh_free(&mesh);
}

static void bad_arguments_fail(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(4, 4));
    float host[16];
    EXPECT_FAILS(spmd_array_gather(NULL, 0, host, 16), SPMD_ERR_ARGUMENT, "array is NULL");
    EXPECT_FAILS(spmd_array_gather(a, 0, host, 12), SPMD_ERR_SHAPE,
                 "gather: host has 12 elements, f32[4@x,4] has 16");
    EXPECT_FAILS(spmd_array_gather(a, 0, NULL, 16), SPMD_ERR_ARGUMENT, "host array is NULL");
    EXPECT_FAILS(spmd_array_gather(a, test_size, host, 16), SPMD_ERR_ARGUMENT, "root");
    EXPECT_FAILS(spmd_array_gather(a, -2, host, 16), SPMD_ERR_ARGUMENT,
                 "gather: there is no root -2, only 0");
    EXPECT_FAILS(spmd_array_gather(a, SPMD_ALL, host, test_rank == test_size - 1 ? 17 : 16),
                 SPMD_ERR_SHAPE, "host has 17 elements");
    if (test_size > 1)
        EXPECT_FAILS(spmd_array_gather(a, test_rank != 0, host, 16), SPMD_ERR_DISAGREE, "");
    EXPECT_FAILS(spmd_array_print(NULL, stdout), SPMD_ERR_ARGUMENT, "array is NULL");
    EXPECT_FAILS(spmd_array_print(a, NULL), SPMD_ERR_ARGUMENT, "stream is NULL");
    EXPECT_OK(spmd_array_gather(a, 0, host, 16));
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

/* What is printed, at position 0; everywhere else nothing is. */
static void check_print(spmd_array *a, const char *wanted)
{
    char got[8192];
    FILE *stream = tmpfile();
    EXPECT_OK(spmd_array_print(a, stream));
    rewind(stream);
    got[fread(got, 1, sizeof got - 1, stream)] = '\0';
    fclose(stream);
    if (!EXPECT(strcmp(got, test_rank == 0 ? wanted : "") == 0))
        fprintf(stderr, "# printed:\n%s# wanted:\n%s", got, wanted);
}

static void check_print_arange(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                               spmd_shape shape, const char *wanted)
{
    spmd_array *a = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, dtype, shape, &a));
    check_print(a, wanted);
    spmd_array_free(&a);
}

static void rows_stand_in_brackets(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    check_print_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(5), "i32[5@x]\n[0 1 2 3 4]\n");
    check_print_arange(mesh, "P(-,x)", SPMD_F64, SPMD_SHAPE(3, 4),
                       "f64[3,4@x]\n[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]\n");
    check_print_arange(mesh, "P(-,x)", SPMD_U8, SPMD_SHAPE(2, 2, 2),
                       "u8[2,2@x,2]\n[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n");
    check_print_arange(mesh, "P()", SPMD_I64, SPMD_SCALAR, "i64[]\n0\n");
    check_print_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(0), "i64[0@x]\n[]\n");
    check_print_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(3, 0), "i64[3@x,0]\n[]\n");
    spmd_mesh_free(&mesh);
}

static void check_print_of(spmd_dtype dtype, int64_t count, const void *host, const char *wanted)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_sharding *sharding = NULL;
    spmd_array *a = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &sharding));
    EXPECT_OK(spmd_device_put(host, count, dtype, SPMD_SHAPE(count), sharding, &a));
    check_print(a, wanted);
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void every_type_is_readable(void)
{
    check_print_of(SPMD_BOOL, 2, (bool[]){true, false}, "bool[2@x]\n[ true false]\n");
    check_print_of(SPMD_I8, 2, (int8_t[]){-128, 5}, "i8[2@x]\n[-128    5]\n");
    check_print_of(SPMD_U64, 1, (uint64_t[]){UINT64_MAX}, "u64[1@x]\n[18446744073709551615]\n");
    check_print_of(SPMD_F32, 4, (float[]){0.1f, -2.5f, 100.0f, 1e-9f},
                   "f32[4@x]\n[  0.1  -2.5   100 1e-09]\n");
    check_print_of(SPMD_F64, 4, (double[]){1.0 / 3, -(0.0 / 0.0), 1 / 0.0, -1 / 0.0},
                   "f64[4@x]\n[0.333333      nan      inf     -inf]\n");
    check_print_of(SPMD_F16, 2, (uint16_t[]){0x3e00, 0xc000}, "f16[2@x]\n[1.5  -2]\n");
    check_print_of(SPMD_BF16, 2, (uint16_t[]){0x3fc0, 0xc000}, "bf16[2@x]\n[1.5  -2]\n");
    check_print_of(SPMD_C64, 2, (float[]){1, 2, 0, -0.5f}, "c64[2@x]\n[  1+2i 0-0.5i]\n");
    check_print_of(SPMD_C128, 1, (double[]){-1, 0.25}, "c128[1@x]\n[-1+0.25i]\n");
}

static void large_arrays_are_elided(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    check_print_arange(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(1001),
                       "i32[1001@x]\n[   0    1    2 ...  998  999 1000]\n");
    check_print_arange(
        mesh, "P(-,x)", SPMD_I32, SPMD_SHAPE(300, 4),
        "i32[300,4@x]\n"
        "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n"
        " [1188 1189 1190 1191]\n [1192 1193 1194 1195]\n [1196 1197 1198 1199]]\n");
    check_print_arange(mesh, "P(-,x)", SPMD_I32, SPMD_SHAPE(2, 1000),
                       "i32[2,1000@x]\n"
                       "[[   0    1    2 ...  997  998  999]\n"
                       " [1000 1001 1002 ... 1997 1998 1999]]\n");
    check_print_arange(mesh, "P(x)", SPMD_I16, SPMD_SHAPE(100, 50),
                       "i16[100@x,50]\n"
                       "[[   0    1    2 ...   47   48   49]\n"
                       " [  50   51   52 ...   97   98   99]\n"
                       " [ 100  101  102 ...  147  148  149]\n"
                       " ...\n"
                       " [4850 4851 4852 ... 4897 4898 4899]\n"
                       " [4900 4901 4902 ... 4947 4948 4949]\n"
                       " [4950 4951 4952 ... 4997 4998 4999]]\n");
    spmd_mesh_free(&mesh);
}

static void long_rows_are_wrapped(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    check_print_arange(
        mesh, "P(x)", SPMD_I32, SPMD_SHAPE(30),
        "i32[30@x]\n"
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25\n"
        " 26 27 28 29]\n");
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("gather", CASE(to_one_and_to_all), CASE(from_ranks_in_another_order), CASE(scalars),
             CASE(idle_ranks_may_call), CASE(bad_arguments_fail), CASE(rows_stand_in_brackets),
             CASE(every_type_is_readable), CASE(large_arrays_are_elided),
             CASE(long_rows_are_wrapped))
