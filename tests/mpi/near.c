/* near.c - large blocks, which ranks of a node read where they lie; and the same by messages. */
#include "costs.h"
#include "planned.h"

/* Runs a case once for each way that can be forced, and for the stores of larger blocks. */
static void every_way(void (*run)(void))
{
    static const struct {
        const char *move, *costs;
    } ways[] = {{"auto", NULL},
                {"auto", "stream_from = 0\nstream_all_from = inf\n"},
                {"auto", "stream_from = 0\nstream_all_from = 0\n"},
                {"pool", NULL},
                {"readv", NULL},
                {"messages", NULL},
                {"collective", NULL}};
    costs_begin();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        setenv("SPMD_MOVE", ways[i].move, 1);
        costs_set(ways[i].costs);
        run();
    }
    unsetenv("SPMD_MOVE");
    costs_end();
}

static const char *const specs[] = {"P()",        "P(x)",     "P(-,x)",   "P(x,y)",
                                    "P(y,x)",     "P((x,y))", "P((y,x))", "P(-,(x,y))",
                                    "P(-,(y,x))", "P(y)",     "P(-,y)"};
enum { SPECS = sizeof specs / sizeof *specs };

static spmd_mesh *make_mesh(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1", &mesh));
    return mesh;
}

/* One plan between each two specs, run twice, into memory of its own; the blocks are larger than 32
 * KiB, or some of them are smaller. */
static void plan_all(spmd_shape shape, spmd_dtype dtype)
{
    spmd_mesh *mesh = make_mesh();
    for (int i = 0; i < SPECS * SPECS; i++) {
        struct planned planned =
            plan_between(mesh, specs[i / SPECS], specs[i % SPECS], dtype, shape);
        spmd_array *a = source_of(&planned), *b = NULL;
        for (int run = 0; run < 2; run++)
            EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &b));
        if (!EXPECT(is_moved(&planned, b)))
            fprintf(stderr, "# %s to %s\n", specs[i / SPECS], specs[i % SPECS]);
        spmd_array_free(&a);
        spmd_array_free(&b);
        free_plan(&planned);
    }
    spmd_mesh_free(&mesh);
}

static void plan_large(void)
{
    plan_all(SPMD_SHAPE(151, 203), SPMD_F64);
}

/* Of 8 or 6 ranks some have less than 32 KiB and some more: these go by messages, those do not. */
static void plan_mixed(void)
{
    plan_all(SPMD_SHAPE(test_size * 4 + 1, 1024), SPMD_F64);
}

static void large_blocks_move(void)
{
    every_way(plan_large);
}

static void blocks_of_which_some_are_small_move(void)
{
    every_way(plan_mixed);
}

static void run_outputs(void)
{
    spmd_mesh *mesh = make_mesh();
    struct planned planned =
        plan_between(mesh, "P(-,x)", "P(x)", SPMD_F64, SPMD_SHAPE(64, 64 * test_size));
    spmd_array *in[2] = {source_of(&planned), source_of(&planned)}, *out[2] = {NULL, NULL};
    EXPECT_OK(spmd_reshard_run(planned.plan, 2, in, out));
    EXPECT(is_moved(&planned, out[0]) && is_moved(&planned, out[1]));
    const spmd_array *before = out[0];
    EXPECT_OK(spmd_reshard_run(planned.plan, 2, in, out));
    bool moves = spmd_mesh_axis_size(mesh, "x") > 1;
    EXPECT(out[0] == (moves ? before : in[0])); /* its memory is used again */
    spmd_array *held = spmd_array_hold(out[1]);
    EXPECT_OK(spmd_reshard_run(planned.plan, 2, in, out));
    EXPECT(out[1] != held || !moves);
    EXPECT(is_moved(&planned, held));
    spmd_array_free(&held);
    for (int k = 0; k < 2; k++) {
        spmd_array_free(&in[k]);
        spmd_array_free(&out[k]);
    }
    free_plan(&planned);
    spmd_mesh_free(&mesh);
}

static void a_plan_moves_several_arrays_and_uses_memory_again(void)
{
    every_way(run_outputs);
}

static void a_plan_where_nothing_moves_gives_the_array(void)
{
    spmd_mesh *mesh = make_mesh();
    struct planned planned = plan_between(mesh, "P(x)", "P(x,-)", SPMD_I32, SPMD_SHAPE(5, 3));
    spmd_array *a = source_of(&planned), *b = NULL;
    EXPECT_OK(spmd_reshard_run(planned.plan, 1, &a, &b));
    EXPECT(a == b);
    free_plan(&planned);
    EXPECT(planned.plan == NULL);
    free_plan(&planned);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_mesh_free(&mesh);
}

/* Each output was given the array that is the other one's input, and nobody else holds them. */
static void where_nothing_moves_arrays_may_change_places(void)
{
    spmd_mesh *mesh = make_mesh();
    spmd_shape shape = SPMD_SHAPE(5, 3);
    spmd_sharding *sharding = NULL;
    spmd_reshard_call *plan = NULL;
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_I32, shape), *b = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_I32, shape, &b));
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &sharding));
    EXPECT_OK(spmd_reshard_plan(sharding, sharding, SPMD_I32, shape, &plan));
    spmd_array *in[] = {a, b}, *out[] = {b, a};
    EXPECT_OK(spmd_reshard_run(plan, 2, in, out));
    EXPECT(out[0] == a && out[1] == b);
    EXPECT(pattern_is_on(a, shape, SPMD_I32, sharding));
    EXPECT_OK(spmd_reshard_run(plan, 2, out, out));
    EXPECT(out[0] == a && out[1] == b);
    EXPECT_OK(spmd_reshard(b, "P(-,x)", &in[1])); /* it is an array still */
    spmd_array_free(&in[1]);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_reshard_free(&plan);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

static void wrong_plans_and_runs_are_told(void)
{
    spmd_mesh *mesh = make_mesh();
    spmd_sharding *from = NULL, *to = NULL;
    spmd_reshard_call *plan = NULL;
    spmd_array *right = pattern_array(mesh, "P()", SPMD_F32, SPMD_SHAPE(9));
    spmd_array *dtype = pattern_array(mesh, "P()", SPMD_F64, SPMD_SHAPE(9));
    spmd_array *shape = pattern_array(mesh, "P()", SPMD_F32, SPMD_SHAPE(8)), *out = NULL;
    spmd_array *none = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, "P()", &from));
    EXPECT_OK(spmd_sharding_create(mesh, "P(x,y)", &to));
    EXPECT_FAILS(spmd_reshard_plan(NULL, to, SPMD_F32, SPMD_SHAPE(9), &plan), SPMD_ERR_ARGUMENT,
                 "NULL");
    EXPECT_FAILS(spmd_reshard_plan(from, NULL, SPMD_F32, SPMD_SHAPE(9), &plan), SPMD_ERR_ARGUMENT,
                 "NULL");
    EXPECT_FAILS(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9), &plan), SPMD_ERR_SPEC,
                 "P(x, y)");
    EXPECT_FAILS(spmd_reshard_plan(from, from, SPMD_F32, SPMD_SHAPE(9),
                                   test_rank == test_size - 1 ? NULL : &plan),
                 SPMD_ERR_ARGUMENT, "no place for the plan");
    EXPECT(plan == NULL);
    spmd_sharding_free(&to);
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &to));
    EXPECT_OK(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9), &plan));
    EXPECT_FAILS(spmd_reshard_run(plan, 1, &dtype, &out), SPMD_ERR_DTYPE, "f64");
    EXPECT_FAILS(spmd_reshard_run(plan, 1, &shape, &out), SPMD_ERR_SHAPE, "input 0");
    EXPECT_FAILS(spmd_reshard_run(plan, 1, &none, &out), SPMD_ERR_ARGUMENT, "input 0 is NULL");
    EXPECT_FAILS(spmd_reshard_run(NULL, 0, NULL, NULL), SPMD_ERR_ARGUMENT, "plan");
    EXPECT(out == NULL);
    EXPECT_OK(spmd_reshard_run(plan, 1, &right, &out));
    spmd_array_free(&right);
    spmd_array_free(&dtype);
    spmd_array_free(&shape);
    spmd_array_free(&out);
    spmd_reshard_free(&plan);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    spmd_mesh_free(&mesh);
}

static const spmd_dtype dtypes[] = {
#define DTYPE(name, text, bytes) SPMD_##name,
    SPMD_DTYPE_MAP(DTYPE)
#undef DTYPE
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes, ELEMENTS = 80 * 1024 + 5 };

/* Small whole numbers, in any type: element i of rank r is (i + r) % 3. */
static void fill(spmd_block *block, int rank)
{
    int64_t count = spmd_block_size(block);
    static const uint16_t f16[] = {0, 0x3c00, 0x4000}, bf16[] = {0, 0x3f80, 0x4000};
    for (int64_t i = 0; i < count; i++) {
        int value = (int)((i + rank) % 3);
        void *at = (char *)block->data + (size_t)i * spmd_dtype_size(block->dtype);
        switch (block->dtype) {
        case SPMD_F16:
            memcpy(at, &f16[value], 2);
            break;
        case SPMD_BF16:
            memcpy(at, &bf16[value], 2);
            break;
        case SPMD_F32:
        case SPMD_C64:
            *(float *)at = (float)value;
            break;
        case SPMD_F64:
        case SPMD_C128:
            *(double *)at = value;
            break;
        case SPMD_BOOL:
            *(bool *)at = value == 1;
            break;
        default:
            memcpy(at, &(int64_t){value}, spmd_dtype_size(block->dtype));
        }
    }
}

/* The first 8 elements, the last 8, and some in between: by small collectives. */
static void expect_as_small(spmd_ctx *ctx, const spmd_block *in, const spmd_block *out,
                            spmd_status (*call)(spmd_ctx *, const spmd_block *, const char *,
                                                spmd_block *))
{
    size_t in_size = spmd_dtype_size(in->dtype), out_size = spmd_dtype_size(out->dtype);
    for (int64_t at = 0; at < ELEMENTS; at += (ELEMENTS - 8) / 7) {
        spmd_block *some = spmd_temp(ctx, in->dtype, SPMD_SHAPE(8));
        spmd_block *wanted = spmd_temp(ctx, out->dtype, SPMD_SHAPE(8));
        memcpy(some->data, (char *)in->data + (size_t)at * in_size, 8 * in_size);
        EXPECT_OK(call(ctx, some, "x", wanted));
        EXPECT(memcmp(wanted->data, (char *)out->data + (size_t)at * out_size, 8 * out_size) == 0);
    }
}

static spmd_status reduce_all(spmd_ctx *ctx, void *user)
{
    (void)user;
    for (int t = 0; t < DTYPES; t++) {
        spmd_dtype dtype = dtypes[t];
        bool ordered = dtype != SPMD_C64 && dtype != SPMD_C128;
        spmd_block *in = spmd_temp(ctx, dtype, SPMD_SHAPE(ELEMENTS));
        spmd_block *sum = spmd_temp(ctx, spmd_psum_dtype(dtype), SPMD_SHAPE(ELEMENTS));
        spmd_block *mean = spmd_temp(ctx, spmd_pmean_dtype(dtype), SPMD_SHAPE(ELEMENTS));
        fill(in, test_rank);
        EXPECT_OK(spmd_psum(ctx, in, "x", sum));
        expect_as_small(ctx, in, sum, spmd_psum);
        EXPECT_OK(spmd_pmean(ctx, in, "x", mean));
        expect_as_small(ctx, in, mean, spmd_pmean);
        if (!ordered)
            continue;
        spmd_block *most = spmd_temp(ctx, dtype, SPMD_SHAPE(ELEMENTS));
        EXPECT_OK(spmd_pmax(ctx, in, "x", most));
        expect_as_small(ctx, in, most, spmd_pmax);
        EXPECT_OK(spmd_pmin(ctx, in, "x", most));
        expect_as_small(ctx, in, most, spmd_pmin);
    }
    return SPMD_OK;
}

static spmd_status reduce_in_place(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *block = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(ELEMENTS));
    double *data = block->data, n = test_size;
    for (int64_t i = 0; i < ELEMENTS; i++)
        data[i] = (double)i + test_rank;
    EXPECT_OK(spmd_psum(ctx, block, "x", block));
    int64_t wrong = 0;
    for (int64_t i = 0; i < ELEMENTS; i++)
        wrong += data[i] != n * (double)i + n * (n - 1) / 2;
    EXPECT(wrong == 0);
    return SPMD_OK;
}

/* The last rank's results come to lie in memory of its own, which others cannot write. */
static spmd_status reduce_and_gather_elsewhere(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t all = (int64_t)test_size * ELEMENTS, n = test_size, wrong = 0;
    spmd_shape shape = SPMD_SHAPE(ELEMENTS), rows = SPMD_SHAPE(all);
    bool elsewhere = test_rank == test_size - 1;
    double *own = malloc((size_t)all * sizeof *own);
    spmd_block borrowed = spmd_block_borrow(own, SPMD_F64, rows), *in, *out = &borrowed;
    if (!EXPECT(own))
        return spmd_fail(SPMD_ERR_MEMORY, "no memory");
    in = spmd_temp(ctx, SPMD_F64, shape);
    if (!elsewhere)
        out = spmd_temp(ctx, SPMD_F64, rows);
    double *from = in->data, *to = out->data;
    for (int64_t i = 0; i < ELEMENTS; i++)
        from[i] = (double)(i * n + test_rank);
    EXPECT_OK(spmd_all_gather(ctx, in, "x", 0, SPMD_TILED, out));
    for (int64_t i = 0; i < all; i++)
        wrong += to[i] != (double)(i % ELEMENTS * n + i / ELEMENTS);
    spmd_block sum = spmd_block_borrow(to, SPMD_F64, shape);
    EXPECT_OK(spmd_psum(ctx, in, "x", &sum));
    for (int64_t i = 0; i < ELEMENTS; i++)
        wrong += to[i] != (double)(i * n * n + n * (n - 1) / 2);
    EXPECT(wrong == 0);
    free(own);
    return SPMD_OK;
}

/* The last member has none of the rows, and no memory for them. */
static spmd_status gather_also_nothing(spmd_ctx *ctx, void *user)
{
    (void)user;
    int64_t rows = test_rank < test_size - 1 ? 2 : 0, all = 2 * (int64_t)(test_size - 1), wrong = 0;
    double *from = rows > 0 ? spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(rows, ELEMENTS))->data : NULL;
    spmd_block in = spmd_block_borrow(from, SPMD_F64, SPMD_SHAPE(rows, ELEMENTS));
    spmd_block *out = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(all, ELEMENTS));
    double *to = out->data;
    for (int64_t i = 0; i < rows * ELEMENTS; i++)
        from[i] = (double)(2 * test_rank * ELEMENTS + i);
    EXPECT_OK(spmd_all_gather(ctx, &in, "x", 0, SPMD_TILED, out));
    for (int64_t i = 0; i < all * ELEMENTS; i++)
        wrong += to[i] != (double)i;
    EXPECT(wrong == 0);
    return SPMD_OK;
}

/* Parts that differ, scattered and gathered again. */
static spmd_status scatter_and_gather(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_shape part;
    spmd_block *in = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(ELEMENTS));
    spmd_block *sum = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(ELEMENTS));
    fill(in, test_rank);
    EXPECT_OK(spmd_psum_scatter_shape(ctx, in, "x", 0, SPMD_TILED, &part));
    spmd_block *mine = spmd_temp(ctx, SPMD_F32, part);
    EXPECT_OK(spmd_psum_scatter(ctx, in, "x", 0, SPMD_TILED, mine));
    EXPECT_OK(spmd_psum(ctx, in, "x", sum));
    int64_t lo = 0;
    for (int r = 0; r < test_rank; r++)
        lo += ELEMENTS / test_size + (r < ELEMENTS % test_size);
    EXPECT(memcmp(mine->data, (float *)sum->data + lo, (size_t)part.dim[0] * 4) == 0);

    spmd_block *rows = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(test_size, ELEMENTS));
    EXPECT_OK(spmd_all_gather(ctx, in, "x", 0, SPMD_UNTILED, rows));
    for (int r = 0; r < test_size; r++) {
        fill(in, r);
        EXPECT(memcmp(in->data, (float *)rows->data + (int64_t)r * ELEMENTS, ELEMENTS * 4) == 0);
    }
    return SPMD_OK;
}

/* Part k goes to member k, from the first dimension, and from the second one, which is packed. */
static spmd_status swap(spmd_ctx *ctx, void *user)
{
    enum { PART = 20000 };
    (void)user;
    int64_t n = test_size, wrong = 0;
    for (int dim = 0; dim < 2; dim++) {
        spmd_shape shape = dim == 0 ? SPMD_SHAPE(n * PART) : SPMD_SHAPE(4, n * PART / 4);
        spmd_block *in = spmd_temp(ctx, SPMD_I64, shape), *out = spmd_temp(ctx, SPMD_I64, shape);
        int64_t *from = in->data, *to = out->data, rows = dim == 0 ? 1 : 4;
        int64_t row = n * PART / rows, each = row / n;
        for (int64_t i = 0; i < n * PART; i++)
            from[i] = i * n + test_rank;
        EXPECT_OK(spmd_all_to_all(ctx, in, "x", dim, dim, SPMD_TILED, out));
        for (int64_t i = 0; i < n * PART; i++) {
            int64_t source = i % row / each, at = i / row * row + test_rank * each + i % each;
            wrong += to[i] != at * n + source;
        }
    }
    EXPECT(wrong == 0);
    return SPMD_OK;
}

static void run_body(spmd_body *body)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_OK(spmd_shard_map(mesh, body, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static void run_reductions(void)
{
    run_body(reduce_all);
    run_body(reduce_in_place);
}

static void run_moves(void)
{
    run_body(scatter_and_gather);
    run_body(reduce_and_gather_elsewhere);
    run_body(gather_also_nothing);
    run_body(swap);
}

static void large_reductions_are_as_small_ones(void)
{
    every_way(run_reductions);
}

static void large_blocks_are_scattered_and_gathered(void)
{
    every_way(run_moves);
}

/* A mesh whose ranks have met. */
static spmd_mesh *make_used_mesh(void)
{
    spmd_mesh *mesh = make_mesh();
    spmd_array *a = pattern_array(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(64, 512)), *b = NULL;
    EXPECT_OK(spmd_reshard(a, "P(-,x)", &b));
    spmd_array_free(&a);
    spmd_array_free(&b);
    return mesh;
}

/* A mesh may go while a slow rank still looks at its slots. */
static void meshes_come_and_go(void)
{
    for (int i = 0; i < 20; i++) {
        spmd_mesh *mesh = make_used_mesh();
        spmd_mesh_free(&mesh);
    }
}

/* Pages of address space that this process has taken up; 0: that is not known. */
static long count_mapped(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages;
}

/* Each neighbour's pool has addresses for as much memory as there is: one more mesh wants none. */
static void meshes_have_the_pools_in_common(void)
{
    enum { MESHES = 4 };
    spmd_mesh *meshes[MESHES];
    meshes[0] = make_used_mesh();
    long before = count_mapped();
    for (int i = 1; i < MESHES; i++)
        meshes[i] = make_used_mesh();
    EXPECT(count_mapped() - before < 1 << 18);
    for (int i = 0; i < MESHES; i++)
        spmd_mesh_free(&meshes[i]);
}

HARNESS_MAIN("near", CASE(large_blocks_move), CASE(blocks_of_which_some_are_small_move),
             CASE(a_plan_moves_several_arrays_and_uses_memory_again),
             CASE(a_plan_where_nothing_moves_gives_the_array),
             CASE(where_nothing_moves_arrays_may_change_places),
             CASE(wrong_plans_and_runs_are_told), CASE(large_reductions_are_as_small_ones),
             CASE(large_blocks_are_scattered_and_gathered), CASE(meshes_come_and_go),
             CASE(meshes_have_the_pools_in_common))
