/* shard_map_many.c - MPI tests of what one shard_map after the other leaves behind: no memory, no
 * communicators; and of what a planned run asks for: nothing. */
#include "comms.h"
#include "counting.h"
#include "heap.h"

/* Memory that anybody asks for: the calls come by here. */
static int requests;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size)
{
    requests++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    requests++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    requests++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    requests++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    requests++;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : 12; /* ENOMEM */
}

void free(void *memory)
{
    __libc_free(memory);
}
#endif

/* Two inputs, two outputs, scratch memory; no communication. */
static spmd_status much_at_once(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *a = spmd_in(ctx, 0), *b = spmd_in(ctx, 1);
    spmd_block *sums = spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(3000, 3));
    spmd_block *out = out_like(ctx, 0, a), *total = spmd_out(ctx, 1, SPMD_I64, SPMD_SCALAR);
    elements(total)[0] = elements(sums)[8999] + spmd_axis_size(ctx, "x");
    for (int64_t i = 0; i < spmd_block_size(out); i++)
        elements(out)[i] = elements(a)[i] + elements(b)[0];
    return SPMD_OK;
}

static void planned_runs_ask_for_no_memory(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in[] = {count_up(mesh, "P(x)", SPMD_SHAPE(9, 2)),
                        count_up(mesh, "P()", SPMD_SHAPE(1))};
    spmd_array *out[2] = {NULL};
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, much_at_once, 2, SPMD_SPECS("P(x, -)", "P()"), 2,
                                  SPMD_SPECS("P(x)", "P()"), NULL, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, NULL, in, out));
    int before = requests;
    spmd_status status = SPMD_OK;
    for (int run = 0; run < 1000 && status == SPMD_OK; run++)
        status = spmd_shard_map_run(plan, NULL, in, out);
    EXPECT(requests == before || test_checks);
    EXPECT_OK(status);
    expect_line(out[0], 1, 0);
    expect_line(out[1], 0, test_size);
    spmd_shard_map_free(&plan);
    for (int k = 0; k < 2; k++) {
        spmd_array_free(&in[k]);
        spmd_array_free(&out[k]);
    }
    spmd_mesh_free(&mesh);
}

/* Columns of the input, doubled by instances with scratch memory and vmaps of their own. */
static spmd_status double_one(spmd_ctx *ctx, void *user)
{
    (void)user;
    *elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)) = 2 * *elements(spmd_in(ctx, 0));
    return SPMD_OK;
}

static spmd_status double_row(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in), *made = NULL;
    SPMD_TRY(spmd_vmap(ctx, double_one, user, 1, &in, SPMD_AXES(0), 1, &made, SPMD_AXES(0), NULL));
    spmd_block *temp = spmd_temp(ctx, SPMD_I64, spmd_block_shape(in));
    memcpy(temp->data, made->data, (size_t)spmd_block_size(made) * sizeof(int64_t));
    memcpy(out->data, temp->data, (size_t)spmd_block_size(made) * sizeof(int64_t));
    return SPMD_OK;
}

static spmd_status double_columns(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    return spmd_vmap(ctx, double_row, user, 1, &in, SPMD_AXES(1), 1, &out, SPMD_AXES(1), NULL);
}

static void vmaps_in_planned_runs_ask_for_no_memory(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(test_size + 3, 7)), *out = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, double_columns, "P(x)", "P(x)", NULL);
    spmd_status status = spmd_shard_map_run(plan, NULL, &in, &out);
    int before = requests;
    for (int run = 0; run < 100 && status == SPMD_OK; run++)
        status = spmd_shard_map_run(plan, NULL, &in, &out);
    EXPECT(requests == before || test_checks);
    EXPECT_OK(status);
    expect_line(out, 2, 0);
    spmd_shard_map_free(&plan);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Many on one rank, where a few bytes of each add up to more than the slack; fewer on several,
 * which wait for each other, and under a sanitizer, which keeps what was freed for a while. */
static int calls(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 4000 / test_size;
#else
    return test_size == 1 ? 40000 : 8000 / test_size;
#endif
}

/* Makes a call many times. After the first ones nothing is added to what is held. */
static void expect_flat(void (*call)(void *state), void *state, int calls)
{
    enum { WARM_UP = 200 };
    size_t memory = 0;
    int comms = 0;
    for (int i = 0; i < calls; i++) {
        if (i == WARM_UP) {
            memory = memory_in_use();
            comms = comms_alive;
        }
        call(state);
    }
    size_t now = memory_in_use(), slack = (size_t)1 << 17; /* MPI keeps some lists */
    EXPECT(comms_alive == comms);
    if (!EXPECT(now <= memory + slack))
        fprintf(stderr, "# %zu bytes after %d calls, %zu after %d\n", memory, WARM_UP, now, calls);
}

struct operands {
    spmd_mesh *mesh;
    spmd_shard_map_call *plan;
    spmd_array *in;
};

static struct operands begin(spmd_mesh *mesh, const char *spec)
{
    return (struct operands){.mesh = mesh, .in = count_up(mesh, spec, SPMD_SHAPE(9, 4))};
}

static void end(struct operands *operands)
{
    spmd_array_free(&operands->in);
    spmd_shard_map_free(&operands->plan);
    spmd_mesh_free(&operands->mesh);
}

static spmd_status sum_along_x(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *sum = spmd_temp(ctx, SPMD_I64, SPMD_SCALAR);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(sum)[0] += elements(in)[i];
    return spmd_psum(ctx, sum, "x", out);
}

static void map_once(void *state)
{
    struct operands *operands = state;
    spmd_array *out = NULL;
    EXPECT_OK(map(operands->mesh, sum_along_x, NULL, operands->in, "P(x)", &out, "P()"));
    EXPECT(out && block_of(out)[0] == 36 * 35 / 2);
    spmd_array_free(&out);
}

static void one_shot_calls_leave_nothing_behind(void)
{
    struct operands operands = begin(make_line(), "P(x)");
    expect_flat(map_once, &operands, calls());
    end(&operands);
}

static void inputs_that_move_leave_nothing_behind(void)
{
    struct operands operands = begin(make_line(), "P(-, x)");
    expect_flat(map_once, &operands, calls());
    end(&operands);
}

/* Outputs that are not given back: each run makes a new one. */
static void run_planned(void *state)
{
    struct operands *operands = state;
    spmd_array *out = NULL;
    EXPECT_OK(spmd_shard_map_run(operands->plan, NULL, &operands->in, &out));
    EXPECT(out && block_of(out)[0] == 36 * 35 / 2);
    spmd_array_free(&out);
}

static void planned_runs_leave_nothing_behind(void)
{
    struct operands operands = begin(make_line(), "P(x)");
    operands.plan = plan_one(operands.mesh, sum_along_x, "P(x)", "P()", NULL);
    expect_flat(run_planned, &operands, calls());
    end(&operands);
}

/* A shard_map over x, and one over y in its body. */
static spmd_status sum_inside(spmd_ctx *ctx, void *user)
{
    spmd_array *in = spmd_in_array(ctx, 0), *out = NULL;
    (void)user;
    SPMD_TRY(map(spmd_ctx_mesh(ctx), twice_and_one, NULL, in, "P(-, y)", &out, "P(-, y)"));
    spmd_status status = spmd_out_array(ctx, 0, out);
    spmd_array_free(&out);
    return status;
}

static void map_nested(void *state)
{
    struct operands *operands = state;
    const spmd_shard_map_options options = {.axes = "x"};
    spmd_array *out = NULL;
    EXPECT_OK(spmd_shard_map(operands->mesh, sum_inside, NULL, 1, SPMD_ARRAYS(operands->in),
                             SPMD_SPECS("P(x)"), 1, &out, SPMD_SPECS("P(x)"), &options));
    spmd_array_free(&out);
}

static void nested_calls_leave_nothing_behind(void)
{
    struct operands operands = begin(make_grid(), "P(x, y)");
    expect_flat(map_nested, &operands, calls());
    end(&operands);
}

static spmd_status refuse(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_temp(ctx, SPMD_I64, SPMD_SHAPE(100));
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(100));
    return spmd_fail(SPMD_ERR_BODY, "not today");
}

static void map_in_vain(void *state)
{
    struct operands *operands = state;
    spmd_array *out = NULL;
    EXPECT(map(operands->mesh, refuse, NULL, operands->in, "P(x)", &out, "P()") == SPMD_ERR_BODY);
    EXPECT(map(operands->mesh, refuse, NULL, operands->in, "P(x,", &out, "P()") != SPMD_OK);
}

static void calls_that_fail_leave_nothing_behind(void)
{
    struct operands operands = begin(make_line(), "P(x)");
    expect_flat(map_in_vain, &operands, 500);
    end(&operands);
}

HARNESS_MAIN("shard_map_many", CASE(planned_runs_ask_for_no_memory),
             CASE(vmaps_in_planned_runs_ask_for_no_memory),
             CASE(one_shot_calls_leave_nothing_behind), CASE(inputs_that_move_leave_nothing_behind),
             CASE(planned_runs_leave_nothing_behind), CASE(nested_calls_leave_nothing_behind),
             CASE(calls_that_fail_leave_nothing_behind))
