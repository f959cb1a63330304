/* print.c - blocks printed from inside of a body, on every rank and in every kind. */
#include <stdarg.h>
#include <stdlib.h>

#include "meshes.h"

/* What a body prints to, and what should be there at position 0. */
struct prints {
    FILE *stream;
    char *text;
    size_t size;
    char wanted[8192];
};

static void begin(struct prints *prints)
{
    *prints = (struct prints){0};
    prints->stream = open_memstream(&prints->text, &prints->size);
}

static void want(struct prints *prints, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void want(struct prints *prints, const char *format, ...)
{
    size_t length = strlen(prints->wanted);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prints->wanted + length, sizeof prints->wanted - length, format, arguments);
    va_end(arguments);
}

static void end(struct prints *prints)
{
    fclose(prints->stream);
    if (!EXPECT(strcmp(prints->text, test_rank == 0 ? prints->wanted : "") == 0))
        fprintf(stderr, "# printed:\n%s# wanted:\n%s", prints->text, prints->wanted);
    free(prints->text);
}

/* Runs `body` over i32 [shape] that counts, as `spec` says. */
static void run(spmd_mesh *mesh, const char *spec, spmd_shape shape, spmd_body *body, void *user)
{
    spmd_array *a = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_I32, shape, &a));
    EXPECT_OK(spmd_shard_map(mesh, body, user, 2, SPMD_ARRAYS(a, NULL), SPMD_SPECS(spec, "P()"), 0,
                             NULL, NULL, NULL));
    spmd_array_free(&a);
}

static spmd_status print_input(spmd_ctx *ctx, void *user)
{
    struct prints *prints = user;
    return spmd_block_print(ctx, "a", spmd_in(ctx, 0), prints->stream);
}

/* Two rows a rank, of two numbers. */
static void inputs_know_their_place(void)
{
    spmd_mesh *mesh = make_line();
    struct prints prints;
    begin(&prints);
    for (int r = 0, n = 2 * test_size; r < test_size; r++) {
        int first = 4 * r, width = first + 3 > 9 ? 2 : 1;
        want(&prints, "a on (x=%d) of x=%d: i32[2,2] at %d:%d, 0:2 of [%d,2]\n", r, test_size,
             2 * r, 2 * r + 2, n);
        want(&prints, "[[%*d %*d]\n [%*d %*d]]\n", width, first, width, first + 1, width, first + 2,
             width, first + 3);
    }
    run(mesh, "P(x,-)", SPMD_SHAPE(2 * test_size, 2), print_input, &prints);
    end(&prints);
    spmd_mesh_free(&mesh);
}

static void positions_have_coordinates(void)
{
    spmd_mesh *mesh = make_grid();
    struct prints prints;
    int rows = test_size % 2 == 0 ? 2 : 1, columns = test_size / rows;
    begin(&prints);
    for (int r = 0; r < test_size; r++)
        want(&prints,
             "a on (x=%d, y=%d) of x=%d,y=%d: i32[1,1] at %d:%d, %d:%d of [%d,%d]\n[[%d]]\n",
             r / columns, r % columns, rows, columns, r / columns, r / columns + 1, r % columns,
             r % columns + 1, rows, columns, r);
    run(mesh, "P(x,y)", SPMD_SHAPE(rows, columns), print_input, &prints);
    end(&prints);
    spmd_mesh_free(&mesh);
}

/* With more ranks than rows; and on a mesh that leaves a rank idle. */
static void empty_blocks(void)
{
    spmd_mesh *mesh = make_shorter_line();
    int64_t size = spmd_mesh_size(mesh);
    struct prints prints;
    begin(&prints);
    want(&prints, "a on (x=0) of x=%d: i32[1] at 0:1 of [1]\n[0]\n", (int)size);
    for (int r = 1; r < size; r++)
        want(&prints, "a on (x=%d) of x=%d: i32[0] at 1:1 of [1], empty\n", r, (int)size);
    run(mesh, "P(x)", SPMD_SHAPE(1), print_input, &prints);
    end(&prints);
    spmd_mesh_free(&mesh);
}

static spmd_status print_others(spmd_ctx *ctx, void *user)
{
    struct prints *prints = user;
    spmd_block *temp = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR), *out;
    out = spmd_out(ctx, 0, SPMD_BOOL, SPMD_SHAPE(2));
    *(double *)temp->data = 0.5;
    SPMD_TRY(spmd_block_print(ctx, "none", spmd_in(ctx, 0), prints->stream));
    SPMD_TRY(spmd_block_print(ctx, "temp", temp, prints->stream));
    return spmd_block_print(ctx, NULL, out, prints->stream);
}

static void other_blocks(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    struct prints prints;
    begin(&prints);
    for (int r = 0; r < test_size; r++)
        want(&prints, "none on (x=%d) of x=%d: NULL\n", r, test_size);
    for (int r = 0; r < test_size; r++)
        want(&prints, "temp on (x=%d) of x=%d: f64[]\n0.5\n", r, test_size);
    for (int r = 0; r < test_size; r++)
        want(&prints, "block on (x=%d) of x=%d: bool[2]\n[false false]\n", r, test_size);
    EXPECT_OK(spmd_shard_map(mesh, print_others, &prints, 1, SPMD_ARRAYS(NULL), SPMD_SPECS("P()"),
                             1, &out, SPMD_SPECS("P(x)"), NULL));
    end(&prints);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status print_transposed(spmd_ctx *ctx, void *user)
{
    struct prints *prints = user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block turned = *in;
    for (int d = 0; d < 2; d++) {
        turned.shape[d] = in->shape[1 - d];
        turned.stride[d] = in->stride[1 - d];
        turned.global[d] = -1;
    }
    return spmd_block_print(ctx, "turned", &turned, prints->stream);
}

/* Large blocks are elided; blocks with strides are shown as they are. */
static void excerpts_and_strides(void)
{
    spmd_mesh *mesh = make_line();
    struct prints prints;
    begin(&prints);
    for (int r = 0; r < test_size; r++)
        want(&prints,
             "a on (x=%d) of x=%d: i32[1001] at 0:1001 of [1001]\n"
             "[   0    1    2 ...  998  999 1000]\n",
             r, test_size);
    run(mesh, "P()", SPMD_SHAPE(1001), print_input, &prints);
    for (int r = 0; r < test_size; r++)
        want(&prints, "turned on (x=%d) of x=%d: i32[3,2]\n[[0 3]\n [1 4]\n [2 5]]\n", r,
             test_size);
    run(mesh, "P()", SPMD_SHAPE(2, 3), print_transposed, &prints);
    end(&prints);
    spmd_mesh_free(&mesh);
}

static spmd_status print_rows(spmd_ctx *ctx, void *user)
{
    return spmd_vmap(ctx, print_input, user, 1, SPMD_BLOCKS(spmd_in(ctx, 0)), SPMD_AXES(0), 0, NULL,
                     NULL, NULL);
}

static void instances_have_numbers(void)
{
    spmd_mesh *mesh = make_line();
    struct prints prints;
    begin(&prints);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < test_size; r++)
            want(&prints, "a on (x=%d) of x=%d, instance %d: i32[1] at 0:1 of [1]\n[%d]\n", r,
                 test_size, i, 2 * r + i);
    run(mesh, "P(x)", SPMD_SHAPE(2 * test_size, 1), print_rows, &prints);
    end(&prints);
    spmd_mesh_free(&mesh);
}

/* Without a mesh a block is printed where it is. */
static void alone(void)
{
    int32_t memory[] = {1, 2, 3, 4};
    spmd_block block = spmd_block_borrow(memory, SPMD_I32, SPMD_SHAPE(2, 2));
    struct prints prints;
    begin(&prints);
    EXPECT_OK(spmd_block_print(NULL, "b", &block, prints.stream));
    EXPECT_OK(spmd_block_print(NULL, "n", NULL, prints.stream));
    EXPECT_OK(spmd_vmap(NULL, print_input, &prints, 1, SPMD_BLOCKS(&block), SPMD_AXES(1), 0, NULL,
                        NULL, NULL));
    fclose(prints.stream);
    EXPECT(strcmp(prints.text, "b: i32[2,2] at 0:2, 0:2 of [2,2]\n[[1 2]\n [3 4]]\nn: NULL\n"
                               "a, instance 0: i32[2] at 0:2 of [2]\n[1 3]\n"
                               "a, instance 1: i32[2] at 0:2 of [2]\n[2 4]\n") == 0);
    free(prints.text);
    EXPECT_FAILS(spmd_block_print(NULL, "b", &block, NULL), SPMD_ERR_ARGUMENT, "stream is NULL");
}

static spmd_status print_without_memory(spmd_ctx *ctx, void *user)
{
    struct prints *prints = user;
    spmd_block block = *spmd_in(ctx, 0);
    if (test_rank == test_size - 1)
        block.data = NULL;
    spmd_status status = spmd_block_print(ctx, "lost", &block, prints->stream);
    EXPECT_FAILS(status, SPMD_ERR_ARGUMENT, "the block lost has no memory");
    expect_same_message();
    EXPECT_FAILS(spmd_block_print(ctx, "a", spmd_in(ctx, 0), NULL), SPMD_ERR_ARGUMENT,
                 "stream is NULL");
    return SPMD_OK;
}

static spmd_status print_to_full(spmd_ctx *ctx, void *user)
{
    EXPECT_FAILS(spmd_block_print(ctx, "a", spmd_in(ctx, 0), user), SPMD_ERR_FILE,
                 "cannot print a block");
    return SPMD_OK;
}

/* One rank's failure is everybody's. */
static void failures(void)
{
    spmd_mesh *mesh = make_line();
    struct prints prints;
    begin(&prints);
    run(mesh, "P()", SPMD_SHAPE(2), print_without_memory, &prints);
    end(&prints);
    FILE *full = fopen("/dev/full", "w");
    if (full)
        run(mesh, "P()", SPMD_SHAPE(2), print_to_full, full);
    if (full)
        fclose(full);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("print", CASE(inputs_know_their_place), CASE(positions_have_coordinates),
             CASE(empty_blocks), CASE(other_blocks), CASE(excerpts_and_strides),
             CASE(instances_have_numbers), CASE(alone), CASE(failures))
