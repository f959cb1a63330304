/* put.c - host arrays and pieces of arrays, placed where a sharding wants them. */
#include "pattern.h"
#include "permuted.h"

static const char *const specs[] = {"P()",    "P(x)",     "P(-,x)",   "P(y)",       "P(-,y)",
                                    "P(y,x)", "P((x,y))", "P((y,x))", "P(-,(x,y))", "P(z,(y,x))"};
enum { NSPECS = sizeof specs / sizeof *specs };

static spmd_mesh *make_mesh(const char *text)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    return mesh;
}

/* The sharding, or NULL if the mesh lacks axes of the spec. */
static spmd_sharding *sharding_of(spmd_mesh *mesh, const char *spec)
{
    spmd_sharding *sharding = NULL;
    return spmd_sharding_create(mesh, spec, &sharding) == SPMD_OK ? sharding : NULL;
}

typedef void check_layout(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                          spmd_shape shape);

/* Calls `check` for every spec, with shapes and types in turn; frees the mesh. */
static void for_all_layouts_on(spmd_mesh *mesh, int turn, check_layout *check)
{
    static const int64_t extents[] = {9, 1, 8, 0, 7};
    static const spmd_dtype types[] = {SPMD_U8, SPMD_F16, SPMD_U32, SPMD_F64, SPMD_C128, SPMD_C64};
    for (int i = 0; i < 2 * NSPECS; i++, turn++) {
        spmd_sharding *sharding = sharding_of(mesh, specs[i % NSPECS]);
        if (sharding)
            check(sharding, specs[i % NSPECS], types[turn % 6],
                  SPMD_SHAPE(extents[turn % 5], extents[turn / 5 % 5]));
        spmd_sharding_free(&sharding);
    }
    spmd_mesh_free(&mesh);
}

/* The same on every mesh. */
static void for_all_layouts(check_layout *check)
{
    for (int m = 0; pattern_mesh(test_size, m); m++)
        for_all_layouts_on(make_mesh(pattern_mesh(test_size, m)), 2 * m * NSPECS, check);
    for (int m = 0; m < PERMUTED_MESHES; m++)
        for_all_layouts_on(make_permuted(m), 2 * m * NSPECS, check);
}

static void check_put(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                      spmd_shape shape)
{
    spmd_array *a = NULL;
    void *host = pattern_host(dtype, shape);
    EXPECT_OK(spmd_device_put(host, spmd_shape_size(shape), dtype, shape, sharding, &a));
    if (!EXPECT(pattern_is_on(a, shape, dtype, sharding)))
        fprintf(stderr, "# %s\n", spec);
    spmd_array_free(&a);
    free(host);
}

static void every_rank_has_all(void)
{
    for_all_layouts(check_put);
}

static void check_put_root(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                           spmd_shape shape)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(sharding);
    int64_t size = spmd_mesh_size(mesh);
    for (int64_t root = 0; root<size; root += size> 2 ? size - 2 : 1) {
        spmd_array *a = NULL;
        bool here = spmd_mesh_position(mesh) == root;
        void *host = here ? pattern_host(dtype, shape) : NULL;
        EXPECT_OK(spmd_device_put_root(root, host, here ? spmd_shape_size(shape) : -5, dtype, shape,
                                       sharding, &a));
        if (!EXPECT(pattern_is_on(a, shape, dtype, sharding)))
            fprintf(stderr, "# %s from %d\n", spec, (int)root);
        spmd_array_free(&a);
        free(host);
    }
}

static void one_rank_has_all(void)
{
    for_all_layouts(check_put_root);
}

static void scalars(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_sharding *sharding = sharding_of(mesh, "P()");
    check_put(sharding, "P()", SPMD_C128, SPMD_SCALAR);
    check_put_root(sharding, "P()", SPMD_U8, SPMD_SCALAR);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void idle_ranks_may_call(void)
{
    char text[32];
    snprintf(text, sizeof text, "x=%d", (test_size + 1) / 2);
    spmd_mesh *mesh = make_mesh(text);
    spmd_sharding *sharding = sharding_of(mesh, "P(x)");
    bool idle = spmd_mesh_position(mesh) < 0;
    spmd_array *a = NULL, *b = NULL;
    float host[9] = {0};
    EXPECT_OK(
        spmd_device_put(idle ? NULL : host, idle ? -1 : 9, SPMD_F32, SPMD_SHAPE(9), sharding, &a));
    EXPECT(a && (spmd_array_block(a) == NULL) == idle);
    spmd_array_free(&a);
    EXPECT_OK(spmd_device_put_root(0, host, 9, SPMD_F32, SPMD_SHAPE(9), sharding, &a));
    EXPECT_OK(spmd_array_from_pieces(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9),
                                     test_rank == 0 ? 1
                                     : idle         ? -3
                                                    : 0,
                                     &(spmd_piece){.box = {1, {0}, {9}}, .step = {1}, .data = host},
                                     &b));
    EXPECT(b && (spmd_array_block(b) == NULL) == idle);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void bad_arguments_fail(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_sharding *sharding = sharding_of(mesh, "P(x)");
    spmd_array *a = NULL;
    float host[16] = {0};
    EXPECT_FAILS(spmd_device_put(host, 12, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
                 SPMD_ERR_SHAPE, "device_put: host has 12 elements, f32[4@x,4] has 16");
    EXPECT_FAILS(spmd_device_put(NULL, 16, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_device_put(host, 16, SPMD_F32, SPMD_SHAPE(4, 4), NULL, &a), SPMD_ERR_ARGUMENT,
                 "sharding is NULL");
    EXPECT_FAILS(spmd_device_put(host, 16, SPMD_F32, SPMD_SHAPE(4, 4), sharding, NULL),
                 SPMD_ERR_ARGUMENT, "no place");
    EXPECT_FAILS(spmd_device_put_root(0, host, 16, SPMD_F32, SPMD_SHAPE(4, 4), sharding, NULL),
                 SPMD_ERR_ARGUMENT, "no place");
    EXPECT_FAILS(spmd_device_put(host, 1, SPMD_F32, SPMD_SCALAR, sharding, &a), SPMD_ERR_SPEC,
                 "use P()");
    EXPECT_FAILS(spmd_device_put(host, 1, SPMD_DTYPE_NONE, SPMD_SHAPE(1), sharding, &a),
                 SPMD_ERR_DTYPE, "");
    EXPECT_FAILS(
        spmd_device_put_root(test_size, host, 16, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
        SPMD_ERR_ARGUMENT, "root");
    EXPECT_FAILS(spmd_device_put_root(-1, host, 16, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
                 SPMD_ERR_ARGUMENT, "device_put: there is no root -1, only 0");
    EXPECT_FAILS(spmd_device_put_root(0, host, 15, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
                 SPMD_ERR_SHAPE, "host has 15 elements");
    EXPECT(a == NULL);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void one_ranks_mistake_is_everybodys(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_sharding *sharding = sharding_of(mesh, "P(x)");
    spmd_array *a = NULL;
    float host[16] = {0};
    int64_t count = test_rank == test_size - 1 ? 15 : 16;
    EXPECT_FAILS(spmd_device_put(host, count, SPMD_F32, SPMD_SHAPE(4, 4), sharding, &a),
                 SPMD_ERR_SHAPE, "host has 15 elements");
    if (test_size > 1) {
        EXPECT_FAILS(spmd_device_put_root(test_rank != 0, host, 16, SPMD_F32, SPMD_SHAPE(4, 4),
                                          sharding, &a),
                     SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(spmd_device_put(host, 4, SPMD_F32,
                                     SPMD_SHAPE(4 - 3 * !test_rank, 1 + 3 * !test_rank), sharding,
                                     &a),
                     SPMD_ERR_DISAGREE, "");
    }
    EXPECT(a == NULL);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

/* A mesh whose calls are checked; or not. */
static spmd_mesh *make_checked(const char *text, bool checked)
{
    setenv("SPMD_CHECK", checked ? "1" : "0", 1);
    spmd_mesh *mesh = make_mesh(text);
    setenv("SPMD_CHECK", test_checks ? "1" : "0", 1);
    return mesh;
}

/* Places a host array that is `other` instead of the pattern at element `at` on the last rank. */
static spmd_status put_other(spmd_mesh *mesh, spmd_dtype dtype, spmd_shape shape, int64_t at,
                             const void *other, spmd_array **a)
{
    spmd_sharding *sharding = sharding_of(mesh, "P()");
    unsigned char *host = pattern_host(dtype, shape);
    size_t element = spmd_dtype_size(dtype);
    if (test_rank == test_size - 1)
        memcpy(host + (size_t)at * element, other, element);
    spmd_status status = spmd_device_put(host, spmd_shape_size(shape), dtype, shape, sharding, a);
    free(host);
    spmd_sharding_free(&sharding);
    return status;
}

static void checks_compare_the_host_arrays_of_all_ranks(void)
{
    spmd_mesh *mesh = make_checked("x=*", true), *trusting = make_checked("x=*", false);
    spmd_array *a = NULL;
    char part[128];
    int last = test_size - 1;
    for (int64_t at = 0; at < 35; at += 17) {
        spmd_status status = put_other(mesh, SPMD_U8, SPMD_SHAPE(7, 5), at, &(uint8_t){77}, &a);
        snprintf(part, sizeof part, ", rank %d others: element (%d, %d) is ", last, (int)at / 5,
                 (int)at % 5);
        EXPECT(test_size > 1 || status == SPMD_OK);
        if (test_size > 1)
            EXPECT_FAILS(status, SPMD_ERR_DISAGREE, part);
        snprintf(part, sizeof part, " on rank 0 and 77 on rank %d; where one rank has", last);
        EXPECT(test_size == 1 || strstr(spmd_error_message(), part));
        EXPECT(test_size == 1 || a == NULL);
        spmd_array_free(&a);
    }
    if (test_size > 1 && !test_checks) { /* whose ranks have nothing to agree on */
        EXPECT_OK(put_other(trusting, SPMD_U8, SPMD_SHAPE(7, 5), 3, &(uint8_t){77}, &a));
        spmd_array_free(&a);
    }
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&trusting);
}

static void expect_values(spmd_mesh *mesh, double first, double last, const char *part)
{
    spmd_array *a = NULL;
    spmd_sharding *sharding = sharding_of(mesh, "P()");
    double value = test_rank == test_size - 1 ? last : first;
    spmd_status status = spmd_device_put(&value, 1, SPMD_F64, SPMD_SCALAR, sharding, &a);
    if (part && test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, part);
    else
        EXPECT_OK(status);
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
}

/* Bit by bit, whatever they mean. */
static void checks_compare_bits(void)
{
    spmd_mesh *mesh = make_checked("x=*", true);
    double nan = strtod("nan", NULL), other = strtod("nan(5)", NULL);
    expect_values(mesh, nan, nan, NULL);
    expect_values(mesh, nan, other, "its value is nan on rank 0 and nan on rank");
    expect_values(mesh, nan, other, ", of other bits; where");
    expect_values(mesh, 0.0, -0.0, "its value is 0 on rank 0 and -0 on rank");
    expect_values(mesh, 1.5, 1.5, NULL);
    expect_values(mesh, 1.5, 1.25, "its value is 1.5 on rank 0 and 1.25 on rank");
    spmd_mesh_free(&mesh);
}

/* Ranks have their names, and idle ones no part in it. */
static void checks_know_any_mesh(void)
{
    setenv("SPMD_CHECK", "1", 1);
    for (int m = 0; m < PERMUTED_MESHES; m++)
        for_all_layouts_on(make_permuted(m), m, check_put);
    spmd_mesh *mesh = make_reversed_rest();
    setenv("SPMD_CHECK", test_checks ? "1" : "0", 1);
    spmd_sharding *sharding = sharding_of(mesh, "P(x)");
    spmd_array *a = NULL;
    bool idle = spmd_mesh_position(mesh) < 0;
    int32_t host[9] = {0};
    EXPECT_OK(spmd_device_put(idle ? NULL : host, 9, SPMD_I32, SPMD_SHAPE(9), sharding, &a));
    spmd_array_free(&a);
    host[4] = test_rank;
    spmd_status status = spmd_device_put(host, 9, SPMD_I32, SPMD_SHAPE(9), sharding, &a);
    if (idle || test_size < 3)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, "element (4) is ");
    char part[128];
    snprintf(part, sizeof part, "is %d on rank %d and %d on rank %d;", test_size - 1, test_size - 1,
             test_size - 2, test_size - 2);
    EXPECT(idle || test_size < 3 || strstr(spmd_error_message(), part));
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void checks_name_the_leaf_of_a_tree(void)
{
    spmd_mesh *mesh = make_checked("x=*", true);
    spmd_tree *tree = NULL, *placed = NULL;
    float same[4] = {1, 2, 3, 4}, other[4] = {1, 2, test_rank == test_size - 1 ? 5 : 3, 4};
    spmd_block blocks[2] = {spmd_block_borrow(same, SPMD_F32, SPMD_SHAPE(4)),
                            spmd_block_borrow(other, SPMD_F32, SPMD_SHAPE(4))};
    EXPECT_OK(spmd_tree_create(&tree));
    EXPECT_OK(spmd_tree_set_block(tree, "layer/b", &blocks[0]));
    EXPECT_OK(spmd_tree_set_block(tree, "layer/w", &blocks[1]));
    spmd_status status = spmd_tree_device_put(tree, mesh, "P(x)", &placed);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE,
                     "['layer']['w']: device_put: not all ranks passed the host values of rank 0");
    else
        EXPECT_OK(status);
    spmd_tree_free(&placed);
    spmd_tree_free(&tree);
    spmd_mesh_free(&mesh);
}

/* A piece of the pattern, with data of its own. */
static spmd_piece make_piece(spmd_dtype dtype, spmd_shape shape, spmd_box box, const int64_t step[])
{
    spmd_piece piece = {.box = box};
    spmd_shape extents = {.ndim = box.ndim};
    int64_t index[SPMD_MAX_DIMS] = {0};
    for (int d = 0; d < box.ndim; d++) {
        piece.step[d] = step[d];
        extents.dim[d] = box.hi[d] > box.lo[d] ? (box.hi[d] - box.lo[d] - 1) / step[d] + 1 : 0;
    }
    int64_t size = spmd_shape_size(extents);
    unsigned char *data = calloc((size_t)size + 1, spmd_dtype_size(dtype));
    for (int64_t i = 0; i < size; i++) {
        int64_t number = 0, rest = i;
        for (int d = box.ndim - 1; d >= 0; d--) {
            index[d] = box.lo[d] + rest % extents.dim[d] * step[d];
            rest /= extents.dim[d];
        }
        for (int d = 0; d < box.ndim; d++)
            number = number * shape.dim[d] + index[d];
        pattern_element(number, spmd_dtype_size(dtype), data + i * (int64_t)spmd_dtype_size(dtype));
    }
    piece.data = data;
    return piece;
}

static spmd_piece rows(spmd_dtype dtype, spmd_shape shape, int64_t lo, int64_t hi, int64_t step)
{
    spmd_box box = spmd_box_whole(shape);
    box.lo[0] = lo < hi ? lo : hi;
    box.hi[0] = hi;
    return make_piece(dtype, shape, box, (int64_t[SPMD_MAX_DIMS]){step, 1, 1});
}

static void free_pieces(int npieces, spmd_piece pieces[])
{
    while (npieces-- > 0)
        free((void *)pieces[npieces].data);
}

static void check_pieces(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                         spmd_shape shape, int npieces, spmd_piece pieces[])
{
    spmd_array *a = NULL;
    EXPECT_OK(spmd_array_from_pieces(spmd_sharding_mesh(sharding), spec, dtype, shape, npieces,
                                     pieces, &a));
    if (!EXPECT(pattern_is_on(a, shape, dtype, sharding)))
        fprintf(stderr, "# %s, %d pieces\n", spec, npieces);
    spmd_array_free(&a);
    free_pieces(npieces, pieces);
}

static void check_cyclic_rows(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                              spmd_shape shape)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(sharding);
    int64_t position = spmd_mesh_position(mesh);
    spmd_piece piece;
    if (position >= 0)
        piece = rows(dtype, shape, position, shape.dim[0], spmd_mesh_size(mesh));
    check_pieces(sharding, spec, dtype, shape, position >= 0, &piece);
}

static void cyclic_rows(void)
{
    for_all_layouts(check_cyclic_rows);
}

/* Blocks of two rows, dealt out in turn, the last ones first. */
static void check_block_cyclic(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                               spmd_shape shape)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(sharding);
    spmd_piece pieces[16];
    int npieces = 0;
    for (int64_t lo = (shape.dim[0] + 1) / 2 * 2 - 2; lo >= 0; lo -= 2)
        if (lo / 2 % spmd_mesh_size(mesh) == spmd_mesh_position(mesh))
            pieces[npieces++] =
                rows(dtype, shape, lo, lo + 2 < shape.dim[0] ? lo + 2 : shape.dim[0], 1);
    check_pieces(sharding, spec, dtype, shape, npieces, pieces);
}

static void block_cyclic_rows(void)
{
    for_all_layouts(check_block_cyclic);
}

/* Every second or third element in both dimensions: six pieces, dealt out in turn. */
static void check_strided(const spmd_sharding *sharding, const char *spec, spmd_dtype dtype,
                          spmd_shape shape)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(sharding);
    spmd_piece pieces[6];
    int npieces = 0;
    for (int i = 0; i < 6; i++)
        if (i % spmd_mesh_size(mesh) == spmd_mesh_position(mesh) && i / 3 <= shape.dim[0] &&
            i % 3 <= shape.dim[1]) {
            spmd_box box = spmd_box_whole(shape);
            box.lo[0] = i / 3;
            box.lo[1] = i % 3;
            pieces[npieces++] = make_piece(dtype, shape, box, (int64_t[SPMD_MAX_DIMS]){2, 3});
        }
    check_pieces(sharding, spec, dtype, shape, npieces, pieces);
}

static void strided_in_two_dimensions(void)
{
    for_all_layouts(check_strided);
}

static void one_rank_has_all_pieces(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_sharding *sharding = sharding_of(mesh, "P(-,x)");
    spmd_shape shape = SPMD_SHAPE(9, 7);
    spmd_piece pieces[9];
    int npieces = test_rank == test_size - 1 ? 9 : 0;
    for (int i = 0; i < npieces; i++)
        pieces[i] = rows(SPMD_F64, shape, i, i + 1, 1);
    check_pieces(sharding, "P(-,x)", SPMD_F64, shape, npieces, pieces);
    spmd_sharding_free(&sharding);

    sharding = sharding_of(mesh, "P()");
    double value;
    pattern_element(0, sizeof value, (unsigned char *)&value);
    spmd_piece scalar = spmd_piece_make(spmd_box_whole(SPMD_SCALAR), &value);
    spmd_array *a = NULL;
    EXPECT_OK(
        spmd_array_from_pieces(mesh, "P()", SPMD_F64, SPMD_SCALAR, test_rank == 0, &scalar, &a));
    EXPECT(pattern_is_on(a, SPMD_SCALAR, SPMD_F64, sharding));
    spmd_array_free(&a);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

/* Pieces of the same one array: its rows lo ... hi - 1 with a step, as rank `rank` passes them. */
static spmd_status try_rows(spmd_mesh *mesh, const char *spec, int rank, int64_t lo, int64_t hi,
                            int64_t step, spmd_array **a)
{
    static double data[64 * 4];
    spmd_piece mine = spmd_piece_make(spmd_box_whole(SPMD_SHAPE(8, 4)), data);
    mine.box.lo[0] = test_rank == 0 ? 0 : 8;
    if (test_rank == 0 && rank == 0)
        mine.box.lo[0] = 8;
    spmd_piece other = spmd_piece_make(spmd_box_whole(SPMD_SHAPE(8, 4)), data);
    other.box.lo[0] = lo;
    other.box.hi[0] = hi;
    other.step[0] = step;
    spmd_piece pieces[] = {mine, other};
    return spmd_array_from_pieces(mesh, spec, SPMD_F64, SPMD_SHAPE(8, 4), test_rank == rank ? 2 : 1,
                                  pieces, a);
}

static void wrong_pieces_fail(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *a = NULL;
    int last = test_size - 1;
    char part[128];
    for (int i = 0; i < 3; i++) {
        const char *spec = (const char *const[]){"P(x)", "P()", "P(-,x)"}[i];
        /* Only rank 0 has rows, too few of them. */
        EXPECT_FAILS(try_rows(mesh, spec, 0, 0, 3, 1, &a), SPMD_ERR_SHAPE,
                     "index (3, 0) is held by nobody");
        EXPECT_FAILS(try_rows(mesh, spec, 0, 1, 8, 1, &a), SPMD_ERR_SHAPE,
                     "index (0, 0) is held by nobody");
        EXPECT_FAILS(try_rows(mesh, spec, 0, 0, 8, 2, &a), SPMD_ERR_SHAPE,
                     "index (1, 0) is held by nobody");
        if (test_size > 1) {
            /* Rank 0 has all, the last one some of them again. */
            snprintf(part, sizeof part, "index (3, 0) is held twice, by ranks 0 and %d", last);
            EXPECT_FAILS(try_rows(mesh, spec, last, 3, 5, 1, &a), SPMD_ERR_SHAPE, part);
            snprintf(part, sizeof part, "index (2, 0) is held twice, by ranks 0 and %d", last);
            EXPECT_FAILS(try_rows(mesh, spec, last, 2, 8, 3, &a), SPMD_ERR_SHAPE, part);
        }
    }
    EXPECT_FAILS(try_rows(mesh, "P(x)", last, 0, 9, 1, &a), SPMD_ERR_SHAPE,
                 "piece 1 reaches outside of dim 0 of 2: 0:9 of 8");
    EXPECT_FAILS(try_rows(mesh, "P(x)", last, -1, 2, 1, &a), SPMD_ERR_SHAPE,
                 "piece 1 reaches outside of dim 0 of 2: -1:2 of 8");
    EXPECT_FAILS(try_rows(mesh, "P(x)", last, 0, 8, 0, &a), SPMD_ERR_ARGUMENT,
                 "piece 1 has step 0 in dim 0 of 2");
    EXPECT(a == NULL);
    spmd_mesh_free(&mesh);
}

static void more_wrong_pieces_fail(void)
{
    spmd_mesh *mesh = make_mesh("x=*");
    spmd_array *a = NULL;
    static double data[32];
    spmd_piece twice[] = {spmd_piece_make(spmd_box_whole(SPMD_SHAPE(8, 4)), data),
                          spmd_piece_make(spmd_box_whole(SPMD_SHAPE(8, 4)), data)};
    spmd_piece line = spmd_piece_make(spmd_box_whole(SPMD_SHAPE(8)), data);
    int one = test_rank == 0;
    EXPECT_FAILS(
        spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), 2 * one, twice, &a),
        SPMD_ERR_SHAPE, "index (0, 0) is held twice, by pieces 0 and 1 of rank 0");
    EXPECT_FAILS(spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), one, &line, &a),
                 SPMD_ERR_SHAPE, "piece 0 has 1 dimensions, the array has 2");
    EXPECT_FAILS(spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), one, NULL, &a),
                 SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), -one, twice, &a),
                 SPMD_ERR_ARGUMENT, "-1 pieces");
    twice[0].data = NULL;
    EXPECT_FAILS(spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), one, twice, &a),
                 SPMD_ERR_ARGUMENT, "piece 0 has no data");
    EXPECT_FAILS(
        spmd_array_from_pieces(mesh, "P(q)", SPMD_F64, SPMD_SHAPE(8, 4), one, &twice[1], &a),
        SPMD_ERR_SPEC, "q");
    EXPECT_FAILS(
        spmd_array_from_pieces(NULL, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), one, &twice[1], &a),
        SPMD_ERR_ARGUMENT, "mesh");
    EXPECT_FAILS(
        spmd_array_from_pieces(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8, 4), one, &twice[1], NULL),
        SPMD_ERR_ARGUMENT, "NULL");
    EXPECT(a == NULL);
    spmd_mesh_free(&mesh);
}

/* What there is for the calls below; all of them are about f32[9@x]. */
struct scene {
    spmd_mesh *mesh;
    spmd_sharding *sharding;
    spmd_array *array;
    float host[9];
};

static spmd_status fill_nothing(const spmd_box *box, void *data, void *user)
{
    (void)box, (void)data, (void)user;
    return SPMD_OK;
}

enum { CALLS = 11 };

static spmd_status make_call(int call, const struct scene *scene, spmd_array **a)
{
    spmd_mesh *mesh = scene->mesh;
    const spmd_sharding *sharding = scene->sharding;
    const spmd_shape shape = SPMD_SHAPE(9);
    const spmd_piece whole = spmd_piece_make(spmd_box_whole(shape), scene->host);
    const spmd_block *block = spmd_array_block(scene->array);
    float gathered[9];
    switch (call) {
    case 0:
        return spmd_array_zeros(mesh, "P(x)", SPMD_F32, shape, a);
    case 1:
        return spmd_array_full(mesh, "P(x)", SPMD_F32, shape, scene->host, a);
    case 2:
        return spmd_array_arange(mesh, "P(x)", SPMD_F32, shape, a);
    case 3:
        return spmd_array_from_callback(mesh, "P(x)", SPMD_F32, shape, fill_nothing, NULL, a);
    case 4:
        return spmd_device_put(scene->host, 9, SPMD_F32, shape, sharding, a);
    case 5:
        return spmd_device_put_root(0, scene->host, 9, SPMD_F32, shape, sharding, a);
    case 6:
        return spmd_array_from_pieces(mesh, "P(x)", SPMD_F32, shape, test_rank == 0, &whole, a);
    case 7:
        return spmd_reshard(scene->array, "P()", a);
    case 8:
        return spmd_array_gather(scene->array, 0, gathered, 9);
    case 9:
        return spmd_array_from_local(mesh, "P(x)", SPMD_F32, spmd_block_shape(block), block->data,
                                     a);
    default:
        return spmd_array_print(scene->array, stderr);
    }
}

/* Whatever two calls the ranks are in, no data moves, and the mesh may be used on. */
static void calls_are_not_taken_for_each_other(void)
{
    struct scene scene = {.mesh = make_mesh("x=*")};
    spmd_array *a = NULL;
    scene.sharding = sharding_of(scene.mesh, "P(x)");
    scene.array = pattern_array(scene.mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9));
    for (int first = 0; first < CALLS && test_size > 1; first++)
        for (int other = 0; other < CALLS; other++)
            if (first != other)
                EXPECT_FAILS(make_call(test_rank == test_size - 1 ? other : first, &scene, &a),
                             SPMD_ERR_DISAGREE, "");
    EXPECT(a == NULL);
    check_put_root(scene.sharding, "P(x)", SPMD_F32, SPMD_SHAPE(9));
    spmd_array_free(&scene.array);
    spmd_sharding_free(&scene.sharding);
    spmd_mesh_free(&scene.mesh);
}

HARNESS_MAIN("put", CASE(every_rank_has_all), CASE(one_rank_has_all), CASE(scalars),
             CASE(idle_ranks_may_call), CASE(bad_arguments_fail),
             CASE(one_ranks_mistake_is_everybodys),
             CASE(checks_compare_the_host_arrays_of_all_ranks), CASE(checks_compare_bits),
             CASE(checks_know_any_mesh), CASE(checks_name_the_leaf_of_a_tree), CASE(cyclic_rows),
             CASE(block_cyclic_rows), CASE(strided_in_two_dimensions),
             CASE(one_rank_has_all_pieces), CASE(wrong_pieces_fail), CASE(more_wrong_pieces_fail),
             CASE(calls_are_not_taken_for_each_other))
