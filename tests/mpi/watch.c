/* watch.c - MPI tests of SPMD_CHECK=1: each mistake has its own message and none hangs; what is no
 * mistake is never called one. On one rank nothing can go wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "comms.h"
#include "harness.h"

/* A mesh of all ranks, checked. */
static spmd_mesh *make(const char *text)
{
    spmd_mesh *mesh = NULL;
    setenv("SPMD_CHECK", "1", 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, text, &mesh));
    setenv("SPMD_CHECK", test_checks ? "1" : "0", 1);
    return mesh;
}

/* Two columns where the ranks divide, else one. */
static spmd_mesh *make_rows(void)
{
    return make(test_size % 2 == 0 ? "x=*,y=2" : "x=*,y=1");
}

static bool is_last(void)
{
    return test_rank == test_size - 1;
}

static spmd_status run(spmd_mesh *mesh, spmd_body *body)
{
    return spmd_shard_map(mesh, body, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL);
}

/* Where the calls stand that messages name; a call and its AT are on one line. */
static int lines[2];
#define AT(n, ...) (lines[n] = __LINE__, (__VA_ARGS__))

/* The one that a rank has passed. */
static int line_of(int n, int rank)
{
    int line = lines[n];
    MPI_Bcast(&line, 1, MPI_INT, rank, MPI_COMM_WORLD);
    return line;
}

/* The text, made as printf does, stands in the last message. */
static void expect_text(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!EXPECT(strstr(spmd_error_message(), text) != NULL))
        fprintf(stderr, "# no \"%s\" in: %s\n", text, spmd_error_message());
}

/* "rank 0", "ranks 0, 1, 2 and 4 more": all but the last `without`. */
static const char *first_ranks(int without)
{
    static char text[128];
    int count = test_size - without, shown = count > 4 ? 3 : count;
    int length = snprintf(text, sizeof text, count == 1 ? "rank 0" : "ranks 0");
    for (int r = 1; r < shown; r++)
        length += snprintf(text + length, sizeof text - (size_t)length, ", %d", r);
    if (count > shown)
        snprintf(text + length, sizeof text - (size_t)length, " and %d more", count - shown);
    return text;
}

/* All ranks have the message of rank 0. */
static void expect_one_message(void)
{
    char message[2048];
    snprintf(message, sizeof message, "%s", spmd_error_message());
    MPI_Bcast(message, sizeof message, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT(strcmp(message, spmd_error_message()) == 0);
}

static spmd_status good_body(spmd_ctx *ctx, void *user)
{
    spmd_block *sum = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(1));
    (void)user;
    *(int64_t *)sum->data = test_rank + 1;
    SPMD_TRY(spmd_psum(ctx, sum, "x", sum));
    SPMD_TRY(spmd_pmax(ctx, sum, "y", sum));
    EXPECT(*(int64_t *)sum->data > 0);
    return SPMD_OK;
}

/* A mistake that is found before data moves: the mesh is as before. */
static void expect_mismatch(spmd_mesh *mesh, spmd_body *body)
{
    spmd_status status = run(mesh, body);
    if (test_size == 1) {
        EXPECT_OK(status);
    } else {
        EXPECT(status == SPMD_ERR_DISAGREE);
        expect_text("ranks that belong together are in different calls: ");
        expect_one_message();
    }
}

static void expect_usable(spmd_mesh *mesh)
{
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    EXPECT_OK(run(mesh, good_body));
}

/* A mistake after which nobody can go on: all further calls say so. */
static void expect_deadlock(spmd_mesh *mesh, spmd_body *body)
{
    spmd_status status = run(mesh, body);
    if (test_size == 1) {
        EXPECT_OK(status);
        return;
    }
    EXPECT(status == SPMD_ERR_DISAGREE);
    expect_text("no rank can go on: ");
    EXPECT(strstr(spmd_error_message(), "out of use") == NULL);
    expect_one_message();
}

static void expect_out_of_use(spmd_mesh *mesh)
{
    static const char said[] = "this mesh is out of use: no rank can go on: ";
    spmd_array *array = NULL;
    if (test_size == 1)
        return;
    EXPECT_FAILS(spmd_agree(mesh, SPMD_OK), SPMD_ERR_DISAGREE, said);
    EXPECT_FAILS(run(mesh, good_body), SPMD_ERR_DISAGREE, said);
    EXPECT_FAILS(spmd_array_zeros(mesh, "P()", SPMD_F32, SPMD_SHAPE(2), &array), SPMD_ERR_DISAGREE,
                 said);
}

static spmd_block *temp(spmd_ctx *ctx, spmd_dtype dtype, int64_t n)
{
    return spmd_temp(ctx, dtype, SPMD_SHAPE(n));
}

/* The ranks are in a psum of three f32, the last one is in another call; where, AT tells. */
static void check_mismatch(spmd_body *body, const char *other)
{
    spmd_mesh *mesh = make("x=*,y=1");
    expect_mismatch(mesh, body);
    int first = line_of(0, 0), last = line_of(0, test_size - 1);
    if (test_size > 1) {
        expect_text(": %s in psum over x of f32[3] (watch.c:%d); ", first_ranks(1), first);
        expect_text("; rank %d in %s (watch.c:%d)", test_size - 1, other, last);
    }
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

static spmd_status other_shape(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, is_last() ? 4 : 3);
    (void)user;
    return AT(0, spmd_psum(ctx, a, "x", a));
}

static void different_shapes(void)
{
    check_mismatch(other_shape, "psum over x of f32[4]");
}

static spmd_status other_dtype(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, is_last() ? SPMD_I32 : SPMD_F32, 3);
    (void)user;
    return AT(0, spmd_psum(ctx, a, "x", a));
}

static void different_dtypes(void)
{
    check_mismatch(other_dtype, "psum over x of i32[3]");
}

static spmd_status other_call(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    return AT(0, is_last() ? spmd_pmax(ctx, a, "x", a) : spmd_psum(ctx, a, "x", a));
}

static void different_calls(void)
{
    check_mismatch(other_call, "pmax over x of f32[3]");
}

static spmd_status other_order(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    if (is_last())
        SPMD_TRY(AT(0, spmd_pmin(ctx, a, "x", a)));
    SPMD_TRY(AT(0, spmd_psum(ctx, a, "x", a)));
    return is_last() ? SPMD_OK : spmd_pmin(ctx, a, "x", a);
}

static void a_different_order(void)
{
    check_mismatch(other_order, "pmin over x of f32[3]");
}

static spmd_status other_root(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    return spmd_pbroadcast(ctx, a, "x", is_last() ? test_size - 1 : 0, a);
}

static void different_arguments(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    expect_mismatch(mesh, other_root);
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

/* On one column the last rank is alone along y, and goes on to the end of its body. */
static spmd_status other_axis(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    return AT(0, spmd_psum(ctx, a, is_last() ? "y" : "x", a));
}

static void the_wrong_axis(void)
{
    spmd_mesh *mesh = make_rows();
    /* On 2 ranks the first one is alone along x. */
    expect_deadlock(mesh, other_axis);
    if (test_size > 2 && test_size % 2 == 0)
        expect_text("rank %d in psum over y of f32[3] (watch.c:%d)", test_size - 1, lines[0]);
    if (test_size > 2)
        expect_text(" in psum over x of f32[3] (watch.c:%d)", lines[0]);
    expect_out_of_use(mesh);
    spmd_mesh_free(&mesh);
}

static spmd_status forget_psum(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    if (!is_last())
        return AT(0, spmd_psum(ctx, a, "x", a));
    return SPMD_OK;
}

static void a_forgotten_collective(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    expect_deadlock(mesh, forget_psum);
    if (test_size > 1) {
        expect_text(": %s in psum over x of f32[3] (watch.c:%d); ", first_ranks(1), line_of(0, 0));
        expect_text("; rank %d at the end of the body of spmd_shard_map (watch.c:", test_size - 1);
    }
    expect_out_of_use(mesh);
    spmd_mesh_free(&mesh);
}

/* All ranks reduce twice, the last one in one branch only once. */
static spmd_status return_early(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    if (is_last())
        return SPMD_OK;
    return AT(0, spmd_all_gather(ctx, a, "x", 0, SPMD_TILED, temp(ctx, SPMD_F32, 3 * test_size)));
}

static void an_early_return(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    expect_deadlock(mesh, return_early);
    if (test_size > 1) {
        expect_text(": %s in all_gather over x of f32[3]", first_ranks(1));
        expect_text("; rank %d at the end of the body of spmd_shard_map (watch.c:", test_size - 1);
    }
    expect_out_of_use(mesh);
    spmd_mesh_free(&mesh);
}

static spmd_status fail_early(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    if (is_last() && test_size > 1)
        return spmd_fail(SPMD_ERR_BODY, "the last rank has had enough");
    return spmd_psum(ctx, a, "x", a);
}

static void an_early_failure(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    expect_deadlock(mesh, fail_early);
    if (test_size > 1) {
        expect_text(": %s in psum over x of f32[3] (watch.c:", first_ranks(1));
        expect_text("; rank %d out of the body of spmd_shard_map (watch.c:", test_size - 1);
        expect_text(") with: the last rank has had enough");
    }
    expect_out_of_use(mesh);
    spmd_mesh_free(&mesh);
}

static spmd_status fail_as_instance(spmd_ctx *ctx, void *user)
{
    const char *axes = user;
    spmd_block *sum = spmd_temp(ctx, SPMD_F32, SPMD_SCALAR);
    if (is_last() && test_size > 1 && spmd_axis_index(ctx, "v") == 1)
        return spmd_fail(SPMD_ERR_BODY, "this instance has had enough");
    return spmd_psum(ctx, sum, axes, sum);
}

static spmd_status run_instances(spmd_ctx *ctx, const char *axes)
{
    const spmd_vmap_options options = {.axis_name = "v", .axis_size = 3};
    return spmd_vmap(ctx, fail_as_instance, (void *)axes, 0, NULL, NULL, 0, NULL, NULL, &options);
}

static spmd_status run_instances_with_ranks(spmd_ctx *ctx, void *user)
{
    (void)user;
    return run_instances(ctx, "x,v");
}

static spmd_status run_instances_over_ranks(spmd_ctx *ctx, void *user)
{
    (void)user;
    return run_instances(ctx, "x");
}

/* The members' communicator is not there yet: making it would wait as well. */
static void an_instance_fails(void)
{
    spmd_body *const bodies[] = {run_instances_with_ranks, run_instances_over_ranks};
    for (int i = 0; i < 2; i++) {
        spmd_mesh *mesh = make("x=*,y=1");
        expect_deadlock(mesh, bodies[i]);
        if (test_size > 1)
            expect_text(") with: instance 1: this instance has had enough");
        expect_out_of_use(mesh);
        spmd_mesh_free(&mesh);
    }
}

static spmd_status do_nothing(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return SPMD_OK;
}

static spmd_status forget_a_nested_call(spmd_ctx *ctx, void *user)
{
    (void)user;
    return is_last() ? SPMD_OK : run(spmd_ctx_mesh(ctx), do_nothing);
}

/* The meshes of both calls have the same ranks: these are told, and end the outer one together. */
static void a_forgotten_nested_call(void)
{
    const spmd_shard_map_options options = {.axes = "x"};
    spmd_mesh *mesh = make("x=1,y=*");
    spmd_status status =
        spmd_shard_map(mesh, forget_a_nested_call, NULL, 0, NULL, NULL, 0, NULL, NULL, &options);
    if (test_size == 1)
        EXPECT_OK(status);
    else
        EXPECT_FAILS(status, SPMD_ERR_DISAGREE, "are in different calls");
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

/* The failure reaches a plan's run as well, which without checks agrees on nothing. */
static void an_early_failure_in_a_planned_run(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, other_shape, 0, NULL, 0, NULL, NULL, &plan));
    for (int i = 0; i < 3; i++) {
        spmd_status status = spmd_shard_map_run(plan, NULL, NULL, NULL);
        EXPECT(status == (test_size > 1 ? SPMD_ERR_DISAGREE : SPMD_OK));
    }
    spmd_shard_map_free(&plan);
    EXPECT_OK(spmd_shard_map_plan(mesh, fail_early, 0, NULL, 0, NULL, NULL, &plan));
    spmd_status status = spmd_shard_map_run(plan, NULL, NULL, NULL);
    EXPECT(status == (test_size > 1 ? SPMD_ERR_DISAGREE : SPMD_OK));
    expect_out_of_use(mesh);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

static spmd_status other_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(is_last() && test_size > 1 ? 4 : 3));
    return SPMD_OK;
}

static void the_wrong_output_shape(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    spmd_array *out[1] = {NULL};
    spmd_status status =
        spmd_shard_map(mesh, other_output, NULL, 0, NULL, NULL, 1, out, SPMD_SPECS("P(-)"), NULL);
    EXPECT(status == (test_size > 1 ? SPMD_ERR_SHAPE : SPMD_OK));
    if (test_size > 1)
        expect_text("output 0: ");
    spmd_array_free(&out[0]);
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

static void other_calls_outside_of_bodies(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    spmd_array *array = NULL;
    spmd_status status = SPMD_OK;
    if (test_size > 1 && is_last())
        status = AT(0, spmd_array_zeros(mesh, "P()", SPMD_F32, SPMD_SHAPE(2), &array));
    else
        status = AT(1, spmd_agree(mesh, SPMD_OK));
    EXPECT(status == (test_size > 1 ? SPMD_ERR_DISAGREE : SPMD_OK));
    if (test_size > 1)
        expect_text("spmd_array_zeros (watch.c:%d) beside spmd_agree (watch.c:%d)",
                    line_of(0, test_size - 1), line_of(1, 0));
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

/* A part of the ranks that is stuck is found when the others get there. */
static spmd_status stuck_row(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    (void)user;
    if (test_rank < 2 && test_rank == 0)
        return AT(0, spmd_psum(ctx, a, "y", a));
    if (test_rank >= 2)
        for (int i = 0; i < 20; i++)
            SPMD_TRY(spmd_psum(ctx, a, "y", a));
    return SPMD_OK;
}

/* Plans of reshards on a mesh, and an array for each. */
struct reshards {
    spmd_sharding *rows, *columns, *whole;
    spmd_reshard_call *plan[3]; /* rows to columns, rows to whole, and nothing to move */
    spmd_array *array, *wrong;
};

static struct reshards make_reshards(spmd_mesh *mesh)
{
    struct reshards made = {0};
    spmd_shape shape = SPMD_SHAPE(8, 4);
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &made.rows));
    EXPECT_OK(spmd_sharding_create(mesh, "P(-,x)", &made.columns));
    EXPECT_OK(spmd_sharding_create(mesh, "P()", &made.whole));
    EXPECT_OK(spmd_reshard_plan(made.rows, made.columns, SPMD_F32, shape, &made.plan[0]));
    EXPECT_OK(spmd_reshard_plan(made.rows, made.whole, SPMD_F32, shape, &made.plan[1]));
    EXPECT_OK(spmd_reshard_plan(made.rows, made.rows, SPMD_F32, shape, &made.plan[2]));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F32, shape, &made.array));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F64, shape, &made.wrong));
    return made;
}

static void free_reshards(struct reshards *made)
{
    for (int i = 0; i < 3; i++)
        spmd_reshard_free(&made->plan[i]);
    spmd_array_free(&made->array);
    spmd_array_free(&made->wrong);
    spmd_sharding_free(&made->rows);
    spmd_sharding_free(&made->columns);
    spmd_sharding_free(&made->whole);
}

static void different_plans(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    struct reshards made = make_reshards(mesh);
    spmd_array *out = NULL;
    spmd_reshard_call *plan = made.plan[is_last()];
    spmd_status status = AT(0, spmd_reshard_run(plan, 1, &made.array, &out));
    EXPECT(status == (test_size == 1 ? SPMD_OK : SPMD_ERR_DISAGREE));
    if (test_size > 1) {
        expect_text("different calls: %s in reshard f32[8,4] from P(x) to P(-, x) (watch.c:%d); ",
                    first_ranks(1), lines[0]);
        expect_text("; rank %d in reshard f32[8,4] from P(x) to P() (watch.c:%d)", test_size - 1,
                    lines[0]);
        expect_one_message();
        EXPECT(out == NULL);
    }
    EXPECT_OK(spmd_reshard_run(made.plan[0], 1, &made.array, &out));
    spmd_array_free(&out);
    expect_usable(mesh);
    free_reshards(&made);
    spmd_mesh_free(&mesh);
}

/* Also where the others have nothing to move. */
static void a_wrong_array_in_a_planned_reshard(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    struct reshards made = make_reshards(mesh);
    spmd_array *out = NULL, **in = is_last() ? &made.wrong : &made.array;
    for (int i = 0; i < 3; i++) {
        EXPECT_FAILS(spmd_reshard_run(made.plan[i], 1, in, &out), SPMD_ERR_DTYPE,
                     "reshard: input 0 is f64[8@x,4], the plan begins with f32[8@x,4]");
        if (test_size > 1)
            expect_text("rank %d: reshard: ", test_size - 1);
        EXPECT_FAILS(spmd_reshard_run(made.plan[i], 1, in, is_last() ? NULL : &out),
                     SPMD_ERR_ARGUMENT, "needs a place for each of 1 arrays");
        EXPECT(out == NULL);
        EXPECT_OK(spmd_reshard_run(made.plan[i], 1, &made.array, &out));
        spmd_array_free(&out);
    }
    expect_usable(mesh);
    free_reshards(&made);
    spmd_mesh_free(&mesh);
}

static void a_reshard_beside_another_call(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    struct reshards made = make_reshards(mesh);
    spmd_array *out = NULL;
    spmd_status status = is_last() ? AT(0, spmd_agree(mesh, SPMD_OK))
                                   : spmd_reshard_run(made.plan[0], 1, &made.array, &out);
    EXPECT(status == (test_size == 1 ? SPMD_OK : SPMD_ERR_DISAGREE));
    if (test_size > 1) {
        expect_text(": %s in reshard f32[8,4] from P(x) to P(-, x) (watch.c:", first_ranks(1));
        expect_text("; rank %d in spmd_agree (watch.c:%d)", test_size - 1,
                    line_of(0, test_size - 1));
    }
    expect_usable(mesh);
    free_reshards(&made);
    spmd_mesh_free(&mesh);
}

/* Between two meshes, of which one has the ranks of both, and several arrays at once. */
static void reshards_between_meshes(void)
{
    char text[32];
    snprintf(text, sizeof text, "a=%d", (test_size + 1) / 2);
    spmd_mesh *mesh = make("x=*,y=1"), *part = make(text);
    spmd_sharding *from = NULL, *to = NULL;
    spmd_reshard_call *plan = NULL;
    spmd_array *a = NULL, *b = NULL, *out[2] = {NULL, NULL};
    EXPECT_OK(spmd_sharding_create(mesh, "P(x)", &from));
    EXPECT_OK(spmd_sharding_create(part, "P(a)", &to));
    EXPECT_OK(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9), &plan));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9), &a));
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(7), &b));
    spmd_array *two[] = {a, is_last() ? b : a};
    EXPECT_FAILS(spmd_reshard_run(plan, 2, two, out), SPMD_ERR_SHAPE,
                 "input 1 is f32[7@x], the plan begins with f32[9@x]");
    spmd_array_free(&b);
    EXPECT_OK(spmd_array_arange(mesh, "P()", SPMD_F32, SPMD_SHAPE(9), &b));
    if (test_size > 1)
        EXPECT_FAILS(spmd_reshard_run(plan, 1, &b, out), SPMD_ERR_SPEC,
                     "input 0 is f32[9], the plan begins with f32[9@x]");
    two[1] = a;
    EXPECT_OK(spmd_reshard_run(plan, 2, two, out));
    spmd_status status = AT(0, spmd_reshard_run(plan, is_last() ? 1 : 2, two, out));
    EXPECT(status == (test_size == 1 ? SPMD_OK : SPMD_ERR_DISAGREE));
    if (test_size > 1)
        expect_text(
            ": %s in reshard 2 of f32[9] from P(x) on x=%d,y=1 to P(a) on a=%d (watch.c:%d)",
            first_ranks(1), test_size, (test_size + 1) / 2, lines[0]);
    for (int k = 0; k < 2; k++)
        spmd_array_free(&out[k]);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_reshard_free(&plan);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    spmd_mesh_free(&part);
    spmd_mesh_free(&mesh);
}

/* Neither mesh has all ranks: the first one lacks the last rank, the other one the first. */
static void a_wrong_array_between_meshes_that_overlap(void)
{
    enum { MOST = 64 };
    int ranks[MOST];
    char text[32];
    if (test_size == 1 || !EXPECT(test_size <= MOST))
        return;
    for (int p = 0; p < test_size - 1; p++)
        ranks[p] = test_size - 1 - p;
    snprintf(text, sizeof text, "x=%d", test_size - 1);
    spmd_mesh *first = make(text), *last = NULL;
    EXPECT_OK(spmd_mesh_create_ranks(MPI_COMM_WORLD, text, ranks, &last));
    spmd_sharding *from = NULL, *to = NULL;
    spmd_reshard_call *plan = NULL;
    spmd_array *right = NULL, *wrong = NULL, *out = NULL;
    EXPECT_OK(spmd_sharding_create(first, "P(x)", &from));
    EXPECT_OK(spmd_sharding_create(last, "P(x)", &to));
    EXPECT_OK(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9), &plan));
    EXPECT_OK(spmd_array_arange(first, "P(x)", SPMD_F32, SPMD_SHAPE(9), &right));
    EXPECT_OK(spmd_array_arange(first, "P(x)", SPMD_F64, SPMD_SHAPE(9), &wrong));
    EXPECT_FAILS(spmd_reshard_run(plan, 1, test_rank == 0 ? &wrong : &right, &out), SPMD_ERR_DTYPE,
                 "rank 0: reshard: input 0 is f64");
    EXPECT_FAILS(spmd_reshard_run(plan, is_last() ? 0 : 1, &right, &out), SPMD_ERR_DISAGREE,
                 "passed other arguments than rank ");
    EXPECT(out == NULL);
    EXPECT_OK(spmd_reshard_run(plan, 1, &right, &out));
    spmd_array_free(&right);
    spmd_array_free(&wrong);
    spmd_array_free(&out);
    spmd_reshard_free(&plan);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    spmd_mesh_free(&first);
    spmd_mesh_free(&last);
}

static void one_row_is_stuck(void)
{
    spmd_mesh *mesh = make_rows();
    if (test_size % 2 == 0) {
        expect_deadlock(mesh, stuck_row);
        expect_text(": rank 0 in psum over y of f32[3] (watch.c:");
        expect_out_of_use(mesh);
    }
    spmd_mesh_free(&mesh);
}

static spmd_status rows_differ(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3), *b = temp(ctx, SPMD_I64, 2);
    int64_t row = spmd_axis_index(ctx, "x");
    (void)user;
    for (int64_t i = 0; i < 50 * (row + 1); i++)
        SPMD_TRY(i % 3 == row % 3 ? spmd_psum(ctx, a, "y", a) : spmd_pmax(ctx, b, "y", b));
    return SPMD_OK;
}

static void rows_may_do_different_things(void)
{
    spmd_mesh *mesh = make_rows();
    EXPECT_OK(run(mesh, rows_differ));
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

/* The last rank waits for a message of rank 0, which comes behind a collective of rank 0's group.
 */
static spmd_status talk_in_between(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    int word = 0;
    (void)user;
    if (is_last() && test_rank > 0)
        MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (test_rank == 0)
        usleep(600000); /* longer than it takes to have a look */
    SPMD_TRY(spmd_psum(ctx, a, test_size >= 4 ? "y" : "z", a));
    if (test_rank == 0 && test_size > 1)
        MPI_Send(&word, 1, MPI_INT, test_size - 1, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return spmd_psum(ctx, a, "x", a);
}

static void messages_of_the_program(void)
{
    spmd_mesh *mesh = make(test_size % 2 == 0 ? "x=*,y=2,z=1" : "x=*,y=1,z=1");
    EXPECT_OK(run(mesh, talk_in_between));
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_mesh_free(&mesh);
}

static spmd_status slow_rank(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    const int *which = user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    if (test_rank == *which && test_size > 1)
        sleep(1);
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    return spmd_psum(ctx, a, "y", a);
}

static void one_slow_rank(void)
{
    spmd_mesh *mesh = make_rows();
    int slow[] = {0, test_size - 1};
    for (int i = 0; i < 2; i++)
        EXPECT_OK(spmd_shard_map(mesh, slow_rank, &slow[i], 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* The first row waits so long that rank 0 asks around, again and again, and finds the others in one
 * short wait after the other. */
static spmd_status others_go_on(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3);
    uint32_t own = (uint32_t)test_rank;
    (void)user;
    if (spmd_axis_index(ctx, "x") > 0)
        for (int i = 0; i < 200; i++) {
            usleep(draw(&own) % 10000);
            SPMD_TRY(spmd_psum(ctx, a, "y", a));
        }
    return spmd_psum(ctx, a, "x", a);
}

static void one_row_waits_for_the_others(void)
{
    spmd_mesh *mesh = make_rows();
    EXPECT_OK(run(mesh, others_go_on));
    expect_usable(mesh);
    spmd_mesh_free(&mesh);
}

/* A rank's wait may be what another one's message waits for: starts wait for nobody, and waits for
 * starts only. */
static spmd_status wait_then_tell(spmd_ctx *ctx, void *user)
{
    spmd_block *a = temp(ctx, SPMD_F32, 3), *b = temp(ctx, SPMD_F32, 3);
    spmd_request *first, *second;
    int word = 0;
    (void)user;
    SPMD_TRY(spmd_psum_start(ctx, a, "x", a, &first));
    SPMD_TRY(spmd_pmax_start(ctx, b, "x", b, &second));
    if (test_rank == 0)
        for (int r = 1; r < test_size; r++)
            MPI_Recv(&word, 1, MPI_INT, r, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SPMD_TRY(spmd_wait(test_rank % 2 == 0 ? &first : &second));
    SPMD_TRY(spmd_wait(test_rank % 2 == 0 ? &second : &first));
    if (test_rank != 0)
        MPI_Send(&word, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    return spmd_psum(ctx, a, "x", a);
}

static void two_phases(void)
{
    spmd_mesh *mesh = make("x=*,y=1");
    EXPECT_OK(run(mesh, good_body)); /* uses the group for the first time */
    for (int i = 0; i < 20; i++)
        EXPECT_OK(run(mesh, wait_then_tell));
    spmd_mesh_free(&mesh);
}

/* What a group does in one step of all: the same for its members. */
struct step {
    const char *axes;
    uint32_t what;
};

/* Members of a group draw alike: from the seed, the step, and the coordinates that they share. */
static struct step draw_step(spmd_ctx *ctx, uint32_t seed, uint32_t turn)
{
    static const char *const choices[] = {"x", "y", "z", "x,y", "y,z", "x,z", "z,y,x", "y,x"};
    uint32_t common = seed + 2654435761u * turn;
    struct step step = {.axes = choices[draw(&common) % 8]};
    for (const char *axis = "xyz"; *axis; axis++) {
        const char name[] = {*axis, '\0'};
        if (!strchr(step.axes, *axis))
            common = common * 31 + (uint32_t)spmd_axis_index(ctx, name);
    }
    step.what = draw(&common);
    return step;
}

static spmd_status wander(spmd_ctx *ctx, void *user)
{
    uint32_t seed = *(uint32_t *)user, own = seed * 7 + (uint32_t)test_rank;
    spmd_block *a = temp(ctx, SPMD_I64, 1);
    for (uint32_t turn = 0; turn < 1500; turn++) {
        struct step step = draw_step(ctx, seed, turn);
        int64_t size = spmd_axis_size(ctx, step.axes), *value = a->data;
        *value = 1;
        if (draw(&own) % 64 == 0)
            usleep(draw(&own) % 2000);
        if (step.what % 4 == 0)
            continue;
        if (step.what % 4 == 1) {
            SPMD_TRY(spmd_pmax(ctx, a, step.axes, a));
            EXPECT(*value == 1);
        } else {
            SPMD_TRY(spmd_psum(ctx, a, step.axes, a));
            EXPECT(*value == size);
        }
    }
    return SPMD_OK;
}

static void thousands_of_meetings(void)
{
    spmd_mesh *mesh = make(test_size % 4 == 0   ? "x=*,y=2,z=2"
                           : test_size % 2 == 0 ? "x=*,y=1,z=2"
                                                : "x=1,y=*,z=1");
    uint32_t seed = (uint32_t)time(NULL);
    MPI_Bcast(&seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("# seed %u\n", seed);
    EXPECT_OK(spmd_shard_map(mesh, wander, &seed, 0, NULL, NULL, 0, NULL, NULL, NULL));
    spmd_mesh_free(&mesh);
}

static void an_environment_of_one_rank_is_enough(void)
{
    spmd_mesh *mesh = NULL;
    setenv("SPMD_CHECK", is_last() ? "1" : "0", 1);
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*,y=1", &mesh));
    EXPECT(spmd_mesh_comms(mesh) == 3);
    expect_mismatch(mesh, other_shape);
    spmd_mesh_free(&mesh);
    setenv("SPMD_CHECK", test_checks ? "1" : "0", 1);
}

static void expect_refused(const char *name, const char *value, const char *message)
{
    spmd_mesh *mesh = NULL;
    const char *before = getenv(name);
    char kept[64];
    snprintf(kept, sizeof kept, "%s", before ? before : "");
    if (is_last())
        setenv(name, value, 1);
    EXPECT_FAILS(spmd_mesh_create(MPI_COMM_WORLD, "x=1", &mesh), SPMD_ERR_ARGUMENT, message);
    setenv(name, kept, 1);
    EXPECT(mesh == NULL);
}

static void wrong_settings_are_refused(void)
{
    expect_refused("SPMD_CHECK", "2", "SPMD_CHECK=2 in the environment: it is 0 or 1");
    expect_refused("SPMD_CHECK", "yes", "SPMD_CHECK=yes in the environment");
    expect_refused("SPMD_WATCHDOG", "soon",
                   "SPMD_WATCHDOG=soon in the environment: it is a number");
    expect_refused("SPMD_WATCHDOG", "-1", "SPMD_WATCHDOG=-1 in the environment");
    expect_refused("SPMD_WATCHDOG", "nan", "SPMD_WATCHDOG=nan in the environment");
    expect_refused("SPMD_WATCHDOG", "1e300", "SPMD_WATCHDOG=1e300 in the environment");
}

/* The communicator of the checks goes when the last rank has freed the mesh, which another rank
 * cannot wait for. */
static void meshes_come_and_go(void)
{
    int before = comms_alive;
    for (int i = 0; i < 100; i++) {
        spmd_mesh *mesh = make("x=*,y=1");
        EXPECT_OK(spmd_agree(mesh, SPMD_OK));
        spmd_mesh_free(&mesh);
    }
    EXPECT(comms_alive <= before + 8);
}

HARNESS_MAIN("watch", CASE(different_shapes), CASE(different_dtypes), CASE(different_calls),
             CASE(a_different_order), CASE(different_arguments), CASE(the_wrong_axis),
             CASE(a_forgotten_collective), CASE(an_early_return), CASE(an_early_failure),
             CASE(an_instance_fails), CASE(a_forgotten_nested_call),
             CASE(an_early_failure_in_a_planned_run), CASE(the_wrong_output_shape),
             CASE(other_calls_outside_of_bodies), CASE(different_plans),
             CASE(a_wrong_array_in_a_planned_reshard), CASE(a_reshard_beside_another_call),
             CASE(reshards_between_meshes), CASE(a_wrong_array_between_meshes_that_overlap),
             CASE(one_row_is_stuck), CASE(rows_may_do_different_things),
             CASE(messages_of_the_program), CASE(one_slow_rank), CASE(one_row_waits_for_the_others),
             CASE(two_phases), CASE(thousands_of_meetings),
             CASE(an_environment_of_one_rank_is_enough), CASE(wrong_settings_are_refused),
             CASE(meshes_come_and_go))
