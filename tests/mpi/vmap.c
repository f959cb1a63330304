/* vmap.c - MPI tests of vmap: what instances see, where their outputs go, nested, with collectives.
 *
 * Blocks are i64 and count row-major unless a case says otherwise. */
#include <stdlib.h>

#include "elements.h"

static bool has_shape(const spmd_block *block, spmd_shape shape)
{
    return spmd_shape_equal(spmd_block_shape(block), shape);
}

/* One input and one output. */
static spmd_status map(spmd_body *fn, void *user, const spmd_block *in, int in_axis,
                       spmd_block **out, int out_axis)
{
    return spmd_vmap(NULL, fn, user, 1, SPMD_BLOCKS(in), SPMD_AXES(in_axis), 1, out,
                     SPMD_AXES(out_axis), NULL);
}

static spmd_status copy(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    EXPECT(spmd_ctx_mesh(ctx) == NULL);
    if (out)
        memcpy(out->data, in->data, sizeof(int64_t) * (size_t)spmd_block_size(in));
    return SPMD_OK;
}

/* The index at which an element of [2,3,4] stands once its dim `from` is moved to `to`. */
static int64_t moved(int64_t index, int from, int to)
{
    int64_t at[3] = {index / 12, index / 4 % 3, index % 4}, shape[3] = {2, 3, 4}, there = 0;
    int order[3] = {0}, rest = 0;
    for (int d = 0; d < 3; d++) {
        rest += rest == from;
        order[d] = d == to ? from : rest++;
    }
    for (int d = 0; d < 3; d++)
        there = there * shape[order[d]] + at[order[d]];
    return there;
}

static void any_dimension_maps_to_any_other(void)
{
    int64_t memory[24];
    spmd_block in = count_in(memory, SPMD_SHAPE(2, 3, 4));
    for (int from = -3; from < 3; from++)
        for (int to = -3; to < 3; to++) {
            spmd_block *out = NULL;
            int wrong = 0;
            if (!EXPECT_OK(map(copy, NULL, &in, from, &out, to)))
                continue;
            for (int64_t i = 0; i < 24; i++)
                wrong += elements(out)[moved(i, (from + 3) % 3, (to + 3) % 3)] != i;
            EXPECT(wrong == 0 && spmd_block_size(out) == 24);
            EXPECT(out->shape[(to + 3) % 3] == in.shape[(from + 3) % 3]);
            spmd_block_free(&out);
            EXPECT(out == NULL);
        }
    for (int64_t i = 0; i < 24; i++)
        EXPECT(memory[i] == i);
}

static void given_blocks_are_written(void)
{
    int64_t memory[24], room[24];
    spmd_block in = count_in(memory, SPMD_SHAPE(2, 3, 4));
    for (int to = 0; to < 3; to++) {
        spmd_block block = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(3, 3, 3)), *out = &block;
        const spmd_shape shapes[] = {SPMD_SHAPE(3, 2, 4), SPMD_SHAPE(2, 3, 4), SPMD_SHAPE(2, 4, 3)};
        int wrong = 0;
        memset(room, -1, sizeof room);
        block = spmd_block_borrow(room, SPMD_I64, shapes[to]);
        EXPECT_OK(map(copy, NULL, &in, 1, &out, to));
        EXPECT(out == &block);
        for (int64_t i = 0; i < 24; i++)
            wrong += room[moved(i, 1, to)] != i;
        EXPECT(wrong == 0);
    }
}

/* Where an instance's blocks lie in memory. */
struct lying {
    const int64_t *in, *out;
    int64_t step; /* elements from one instance to the next */
    int calls;
};

static spmd_status expect_in_place(spmd_ctx *ctx, void *user)
{
    struct lying *lying = user;
    EXPECT(elements(spmd_in(ctx, 0)) == lying->in + lying->calls * lying->step);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(4));
    EXPECT(elements(out) == lying->out + lying->calls * lying->step);
    lying->calls++;
    return SPMD_OK;
}

static void slices_that_are_dense_are_used_in_place(void)
{
    int64_t memory[12], room[12];
    struct lying lying = {memory, room, 4, 0};
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 4));
    spmd_block block = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(3, 4)), *out = &block;
    EXPECT_OK(map(expect_in_place, &lying, &in, 0, &out, 0));
    EXPECT(lying.calls == 3);
}

static spmd_status expect_slice(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    EXPECT(has_shape(in, SPMD_SHAPE(2, 4)));
    EXPECT(in->stride[0] == 4 && in->stride[1] == 1);
    EXPECT(in->offset[0] == 10 && in->offset[1] == 30);
    EXPECT(in->global[0] == 100 && in->global[1] == 300);
    EXPECT(in->replica == 5);
    return SPMD_OK;
}

static void slices_keep_their_place(void)
{
    int64_t memory[24];
    spmd_block in = count_in(memory, SPMD_SHAPE(2, 3, 4));
    memcpy(in.offset, (int64_t[]){10, 20, 30}, sizeof(int64_t[3]));
    memcpy(in.global, (int64_t[]){100, 200, 300}, sizeof(int64_t[3]));
    in.replica = 5;
    EXPECT_OK(spmd_vmap(NULL, expect_slice, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(1), 0, NULL, NULL,
                        NULL));
}

/* Slices of blocks with gaps, as an outer vmap's may be. */
static void blocks_may_have_gaps(void)
{
    int64_t memory[24];
    spmd_block whole = count_in(memory, SPMD_SHAPE(4, 6)), in = whole, *out = NULL;
    in.shape[0] = 2; /* rows 0 and 2, columns 1, 3, 5 */
    in.shape[1] = 3;
    in.stride[0] = 12;
    in.stride[1] = 2;
    in.data = memory + 1;
    EXPECT_OK(map(copy, NULL, &in, 1, &out, 0));
    EXPECT(has_shape(out, SPMD_SHAPE(3, 2)));
    for (int64_t i = 0; i < 6; i++)
        EXPECT(elements(out)[i] == 1 + i / 2 * 2 + i % 2 * 12);
    spmd_block_free(&out);
}

/* out = a[whole] + b[slice], and the index of the instance in a scalar; counts its calls. */
static spmd_status add(spmd_ctx *ctx, void *user)
{
    const spmd_block *a = spmd_in(ctx, 0), *b = spmd_in(ctx, 1);
    EXPECT(spmd_in(ctx, 2) == NULL);
    spmd_block *sum = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(a));
    spmd_block *index = spmd_out(ctx, 1, SPMD_I32, SPMD_SCALAR);
    for (int64_t i = 0; i < spmd_block_size(a); i++)
        elements(sum)[i] = elements(a)[i] + elements(b)[i];
    *(int32_t *)index->data = (*(int *)user)++;
    return SPMD_OK;
}

static void inputs_that_are_not_mapped_are_seen_whole(void)
{
    int64_t a_memory[3], b_memory[15];
    spmd_block a = count_in(a_memory, SPMD_SHAPE(3)), b = count_in(b_memory, SPMD_SHAPE(3, 5));
    spmd_block *out[2] = {NULL};
    int calls = 0;
    EXPECT_OK(spmd_vmap(NULL, add, &calls, 3, SPMD_BLOCKS(&a, &b, NULL),
                        SPMD_AXES(SPMD_NOT_MAPPED, 1, 0), 2, out, SPMD_AXES(0, 0), NULL));
    EXPECT(calls == 5);
    EXPECT(has_shape(out[0], SPMD_SHAPE(5, 3)) && has_shape(out[1], SPMD_SHAPE(5)));
    EXPECT(out[1]->dtype == SPMD_I32);
    for (int64_t i = 0; i < 15; i++)
        EXPECT(elements(out[0])[i] == i % 3 + i % 3 * 5 + i / 3);
    for (int32_t i = 0; i < 5; i++)
        EXPECT(((int32_t *)out[1]->data)[i] == i);
    spmd_block_free(&out[0]);
    spmd_block_free(&out[1]);
}

static spmd_status count_calls(spmd_ctx *ctx, void *user)
{
    *elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)) = (*(int64_t *)user)++;
    return SPMD_OK;
}

static spmd_status map_none(spmd_body *fn, void *user, int64_t axis_size, spmd_block **out,
                            int out_axis)
{
    return spmd_vmap(NULL, fn, user, 0, NULL, NULL, 1, out, SPMD_AXES(out_axis),
                     &(spmd_vmap_options){.axis_size = axis_size});
}

static void axis_size_counts_where_nothing_is_mapped(void)
{
    spmd_block *out = NULL;
    int64_t calls = 0, memory[6];
    EXPECT_OK(map_none(count_calls, &calls, 6, &out, 0));
    EXPECT(calls == 6 && has_shape(out, SPMD_SHAPE(6)));
    for (int64_t i = 0; i < 6; i++)
        EXPECT(elements(out)[i] == i);
    spmd_block_free(&out);
    EXPECT_FAILS(map_none(count_calls, &calls, 0, &out, 0), SPMD_ERR_ARGUMENT, "axis_size");
    EXPECT_FAILS(map_none(count_calls, &calls, -1, &out, 0), SPMD_ERR_ARGUMENT,
                 "axis_size of a vmap is -1");
    spmd_block in = count_in(memory, SPMD_SHAPE(6));
    EXPECT_OK(spmd_vmap(NULL, copy, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(0), 1, &out, SPMD_AXES(0),
                        &(spmd_vmap_options){.axis_size = 6}));
    spmd_block_free(&out);
    EXPECT_FAILS(spmd_vmap(NULL, copy, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), &(spmd_vmap_options){.axis_size = 5}),
                 SPMD_ERR_SHAPE, "input 0 has 6 instances along dim 0, but the option axis_size");
    EXPECT(out == NULL);
}

/* Adds its input to an output that the contract says is zeroed. */
static spmd_status accumulate(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] += elements(in)[i];
    return SPMD_OK;
}

static void outputs_are_zeroed_wherever_they_lie(void)
{
    int64_t memory[12];
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 4)), *rows = NULL, *columns = NULL;
    EXPECT_OK(map(accumulate, NULL, &in, 0, &rows, 0));
    EXPECT_OK(map(accumulate, NULL, &in, 0, &columns, 1));
    for (int64_t i = 0; i < 12; i++)
        EXPECT(elements(rows)[i] == i && elements(columns)[i % 4 * 3 + i / 4] == i);
    spmd_block_free(&rows);
    spmd_block_free(&columns);
    in = count_in(memory, SPMD_SHAPE(3, 4));
    memset(memory, 0, sizeof memory);
    memory[0] = memory[4] = memory[8] = 6;
    EXPECT_OK(map(accumulate, NULL, &in, 0, &rows, SPMD_NOT_MAPPED));
    EXPECT(rows && has_shape(rows, SPMD_SHAPE(4)) && elements(rows)[0] == 6);
    spmd_block_free(&rows);
}

/* Outputs that all instances share. */

static void shared_outputs_must_be_equal(void)
{
    int64_t memory[6], room[2] = {-1, -1};
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 2)), *out = NULL;
    spmd_block given = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(2));
    EXPECT_FAILS(map(copy, NULL, &in, 0, &out, SPMD_NOT_MAPPED), SPMD_ERR_REPLICATION,
                 "instance 1: output 0 is not mapped, but differs from instance 0's");
    EXPECT(out == NULL);
    for (int i = 0; i < 6; i++)
        memory[i] = 5 + i % 2;
    EXPECT_OK(map(copy, NULL, &in, 0, &out, SPMD_NOT_MAPPED));
    EXPECT(has_shape(out, SPMD_SHAPE(2)) && elements(out)[0] == 5 && elements(out)[1] == 6);
    spmd_block_free(&out);
    out = &given;
    EXPECT_OK(map(copy, NULL, &in, 0, &out, SPMD_NOT_MAPPED));
    EXPECT(room[0] == 5 && room[1] == 6);
    memory[5] = 0;
    EXPECT_FAILS(map(copy, NULL, &in, 0, &out, SPMD_NOT_MAPPED), SPMD_ERR_REPLICATION,
                 "instance 2: output 0 is not mapped");
}

/* Nested: outer(u[m], v[k]) = u[:,None] * v[None,:], as a vmap over u in which v is mapped. */

static spmd_status multiply(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 0)->ndim == 0 && spmd_in(ctx, 1)->ndim == 0);
    *elements(spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)) =
        *elements(spmd_in(ctx, 0)) * *elements(spmd_in(ctx, 1));
    return SPMD_OK;
}

/* The inner block is made, a temporary of this instance. */
static spmd_status multiply_row(spmd_ctx *ctx, void *user)
{
    spmd_block *row = NULL;
    SPMD_TRY(spmd_vmap(ctx, multiply, user, 2, SPMD_BLOCKS(spmd_in(ctx, 0), spmd_in(ctx, 1)),
                       SPMD_AXES(SPMD_NOT_MAPPED, 0), 1, &row, SPMD_AXES(0), NULL));
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(row));
    memcpy(out->data, row->data, sizeof(int64_t) * (size_t)spmd_block_size(row));
    return SPMD_OK;
}

/* The inner block is the output itself. */
static spmd_status multiply_row_in_place(spmd_ctx *ctx, void *user)
{
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(spmd_in(ctx, 1)));
    return spmd_vmap(ctx, multiply, user, 2, SPMD_BLOCKS(spmd_in(ctx, 0), spmd_in(ctx, 1)),
                     SPMD_AXES(SPMD_NOT_MAPPED, 0), 1, &out, SPMD_AXES(0), NULL);
}

static void maps_nest(void)
{
    spmd_body *const bodies[] = {multiply_row, multiply_row_in_place};
    int64_t u_memory[4], v_memory[3];
    spmd_block u = count_in(u_memory, SPMD_SHAPE(4)), v = count_in(v_memory, SPMD_SHAPE(3));
    for (int b = 0; b < 2; b++)
        for (int axis = 0; axis < 2; axis++) {
            spmd_block *out = NULL;
            EXPECT_OK(spmd_vmap(NULL, bodies[b], NULL, 2, SPMD_BLOCKS(&u, &v),
                                SPMD_AXES(0, SPMD_NOT_MAPPED), 1, &out, SPMD_AXES(axis), NULL));
            EXPECT(has_shape(out, axis == 0 ? SPMD_SHAPE(4, 3) : SPMD_SHAPE(3, 4)));
            for (int64_t i = 0; i < 12; i++)
                EXPECT(elements(out)[i] == (axis == 0 ? i / 3 * (i % 3) : i / 4 * (i % 4)));
            spmd_block_free(&out);
        }
}

/* Scratch memory of an instance. */

static spmd_status use_scratch(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *temp = spmd_temp(ctx, SPMD_I64, spmd_block_shape(in));
    spmd_block *sum = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        EXPECT(elements(temp)[i] == 0);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(temp)[i] = 2 * elements(in)[i];
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        *elements(sum) += elements(temp)[i];
    return SPMD_OK;
}

static void instances_have_scratch_memory(void)
{
    int64_t memory[12];
    spmd_block in = count_in(memory, SPMD_SHAPE(3, 4)), *out = NULL;
    EXPECT_OK(map(use_scratch, NULL, &in, 0, &out, 0));
    for (int64_t r = 0; r < 3; r++)
        EXPECT(elements(out)[r] == 2 * (16 * r + 6));
    spmd_block_free(&out);
}

/* No instances, no elements, sixteen dimensions. */

static void no_instances_leave_given_blocks_alone(void)
{
    int64_t room[1] = {7};
    spmd_block in = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(0, 3)), *out = NULL;
    spmd_block given = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(3, 0));
    EXPECT_FAILS(map(copy, NULL, &in, 0, &out, 0), SPMD_ERR_SHAPE, "without instances");
    EXPECT(out == NULL);
    out = &given;
    EXPECT_OK(map(copy, NULL, &in, 0, &out, 1));
    EXPECT(out == &given && room[0] == 7);
}

static void instances_may_be_empty(void)
{
    int64_t room[1];
    spmd_block in = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(2, 0, 3)), *out = NULL;
    for (int axis = 0; axis < 3; axis++) {
        EXPECT_OK(map(copy, NULL, &in, 0, &out, axis));
        EXPECT(spmd_block_size(out) == 0 && out->shape[axis] == 2);
        spmd_block_free(&out);
    }
}

static spmd_status sixteen_dimensions(spmd_ctx *ctx, void *user)
{
    spmd_shape shape = {.ndim = *(int *)user};
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = 1;
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, shape);
    if (out)
        *elements(out) = *elements(spmd_in(ctx, 0));
    return SPMD_OK;
}

static void a_batch_dimension_needs_room(void)
{
    int64_t memory[3];
    spmd_block in = count_in(memory, SPMD_SHAPE(3)), *out = NULL;
    int ndim = SPMD_MAX_DIMS - 1;
    EXPECT_OK(map(sixteen_dimensions, &ndim, &in, 0, &out, -1));
    EXPECT(out->ndim == SPMD_MAX_DIMS && elements(out)[2] == 2);
    spmd_block_free(&out);
    ndim = SPMD_MAX_DIMS;
    EXPECT_FAILS(map(sixteen_dimensions, &ndim, &in, 0, &out, 0), SPMD_ERR_SHAPE, "no room");
    EXPECT(out == NULL);
}

/* Failures. */

static spmd_status fail_in_instance_3(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    if (*elements(spmd_in(ctx, 0)) == 3)
        return spmd_fail(SPMD_ERR_BODY, "no luck");
    return SPMD_OK;
}

static spmd_status grow(spmd_ctx *ctx, void *user)
{
    int64_t size = *elements(spmd_in(ctx, 0));
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(user && size == 2 ? 3 : 2));
    return SPMD_OK;
}

static spmd_status change_type(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, *elements(spmd_in(ctx, 0)) == 0 ? SPMD_I64 : SPMD_F64, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status no_output(spmd_ctx *ctx, void *user)
{
    (void)ctx;
    (void)user;
    return SPMD_OK;
}

static spmd_status input_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 1) == NULL);
    spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status reduce_over_x(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR);
    EXPECT(spmd_axis_index(ctx, "x") == -1 && spmd_axis_size(ctx, "x") == -1);
    return spmd_psum(ctx, spmd_in(ctx, 0), "x", out);
}

static void failures_name_the_instance(void)
{
    const struct {
        spmd_body *fn;
        void *user;
        spmd_status status;
        const char *message;
    } failures[] = {
        {fail_in_instance_3, NULL, SPMD_ERR_BODY, "instance 3: no luck"},
        {grow, "", SPMD_ERR_SHAPE, "instance 2: output 0: an instance declares another"},
        {change_type, NULL, SPMD_ERR_SHAPE, "instance 1: output 0: an instance declares another"},
        {no_output, NULL, SPMD_ERR_BODY, "instance 0: the body never declared output 0 of 1"},
        {input_out_of_range, NULL, SPMD_ERR_ARGUMENT,
         "instance 0: spmd_in(ctx, 1): in this vmap there is no input 1, only 0"},
        {reduce_over_x, NULL, SPMD_ERR_MESH, "instance 0: no mesh has an axis x here"},
    };
    int64_t memory[5];
    spmd_block in = count_in(memory, SPMD_SHAPE(5));
    for (size_t f = 0; f < sizeof failures / sizeof *failures; f++) {
        spmd_block *out = NULL;
        EXPECT_FAILS(map(failures[f].fn, failures[f].user, &in, 0, &out, 0), failures[f].status,
                     failures[f].message);
        EXPECT(out == NULL);
    }
}

static void given_blocks_must_fit(void)
{
    int64_t memory[10], room[10];
    spmd_block in = count_in(memory, SPMD_SHAPE(5)), *out;
    spmd_block wrong_type = spmd_block_borrow(room, SPMD_U64, SPMD_SHAPE(5, 2));
    spmd_block wrong_shape = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(2, 5));
    spmd_block with_gaps = spmd_block_borrow(room, SPMD_I64, SPMD_SHAPE(5, 2));
    with_gaps.stride[0] = 1;
    with_gaps.stride[1] = 5;
    EXPECT_FAILS(map(grow, NULL, &in, 0, (out = &wrong_type, &out), 0), SPMD_ERR_SHAPE,
                 "instance 0: output 0: an instance declares another type or shape than the given");
    EXPECT_FAILS(map(grow, NULL, &in, 0, (out = &wrong_shape, &out), 0), SPMD_ERR_SHAPE,
                 "the given block");
    EXPECT_FAILS(map(grow, NULL, &in, 0, (out = &with_gaps, &out), 0), SPMD_ERR_SHAPE, "dense");
    EXPECT_OK(map(grow, NULL, &in, 0, (out = &wrong_shape, &out), 1));
}

static void wrong_axes_are_refused(void)
{
    int64_t memory[12];
    spmd_block a = count_in(memory, SPMD_SHAPE(3, 4)), b = count_in(memory, SPMD_SHAPE(3)), *out;
    spmd_block scalar = count_in(memory, SPMD_SCALAR);
    out = NULL;
    EXPECT_FAILS(map(copy, NULL, &a, 2, &out, 0), SPMD_ERR_ARGUMENT,
                 "in_axes[0]: there is no dim 2, only -2 to 1");
    EXPECT_FAILS(map(copy, NULL, &a, -3, &out, 0), SPMD_ERR_ARGUMENT,
                 "in_axes[0]: there is no dim -3, only -2 to 1");
    EXPECT_FAILS(map(copy, NULL, &scalar, 0, &out, 0), SPMD_ERR_ARGUMENT,
                 "in_axes[0]: there is no dim 0, there are none");
    EXPECT_FAILS(map(copy, NULL, &a, 0, &out, 2), SPMD_ERR_ARGUMENT,
                 "out_axes[0]: there is no dim 2, only -2 to 1");
    EXPECT_FAILS(map(copy, NULL, &a, 0, &out, -3), SPMD_ERR_ARGUMENT,
                 "out_axes[0]: there is no dim -3, only -2 to 1");
    EXPECT_FAILS(spmd_vmap(NULL, multiply, NULL, 2, SPMD_BLOCKS(&b, &a), SPMD_AXES(0, 1), 1, &out,
                           SPMD_AXES(0), NULL),
                 SPMD_ERR_SHAPE,
                 "input 1 has 4 instances along dim 1, but 1 of 2 mapped inputs has 3, such as "
                 "input 0 along dim 0");
    EXPECT_FAILS(spmd_vmap(NULL, multiply, NULL, 3, SPMD_BLOCKS(&b, &a, &b), SPMD_AXES(0, 1, -1), 1,
                           &out, SPMD_AXES(0), NULL),
                 SPMD_ERR_SHAPE,
                 "input 1 has 4 instances along dim 1, but 2 of 3 mapped inputs have 3, such as "
                 "input 0 along dim 0");
    EXPECT_FAILS(spmd_vmap(NULL, multiply, NULL, 3, SPMD_BLOCKS(&b, &a, &a), SPMD_AXES(0, 1, 1), 1,
                           &out, SPMD_AXES(0), NULL),
                 SPMD_ERR_SHAPE,
                 "input 0 has 3 instances along dim 0, but 2 of 3 mapped inputs have 4, such as "
                 "input 1 along dim 1");
    EXPECT_FAILS(spmd_vmap(NULL, copy, NULL, 1, SPMD_BLOCKS(&a), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), &(spmd_vmap_options){.axis_size = -1}),
                 SPMD_ERR_ARGUMENT, "axis_size of a vmap is -1");
    EXPECT_FAILS(map(copy, NULL, &a, SPMD_NOT_MAPPED, &out, 0), SPMD_ERR_ARGUMENT, "axis_size");
    EXPECT_FAILS(map(NULL, NULL, &a, 0, &out, 0), SPMD_ERR_ARGUMENT, "function");
    EXPECT_FAILS(spmd_vmap(NULL, copy, NULL, 1, NULL, SPMD_AXES(0), 1, &out, SPMD_AXES(0), NULL),
                 SPMD_ERR_ARGUMENT, "1 inputs");
    EXPECT_FAILS(spmd_vmap(NULL, copy, NULL, 1, SPMD_BLOCKS(&a), SPMD_AXES(0), 1, &out, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "1 outputs");
    EXPECT(out == NULL);
}

/* In the body of a shard_map. */

static spmd_status sum_over_ranks(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    EXPECT(spmd_ctx_mesh(ctx) != NULL && spmd_axis_size(ctx, "x") == test_size);
    return spmd_psum(ctx, in, "x", out);
}

/* Declares its output, maps over dim 1 of its input into it. */
static spmd_status map_columns(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(in));
    return spmd_vmap(ctx, sum_over_ranks, user, 1, &in, SPMD_AXES(1), 1, &out, SPMD_AXES(1), NULL);
}

static void instances_may_use_the_mesh(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = NULL, *out = NULL;
    int64_t n = test_size;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(2 * n, 3), &in));
    EXPECT_OK(spmd_shard_map(mesh, map_columns, NULL, 1, SPMD_ARRAYS(in), SPMD_SPECS("P(x)"), 1,
                             &out, SPMD_SPECS("P()"), NULL));
    EXPECT(has_type(out, "i64[2,3]"));
    for (int64_t i = 0; i < 6; i++)
        EXPECT(elements(spmd_array_block(out))[i] == n * i + 6 * (n * (n - 1) / 2));
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Lets vmap make its block, which is this body's until it returns; all instances gather. */
static spmd_status gather_instances(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_shape shape;
    SPMD_TRY(spmd_all_gather_shape(ctx, in, "x", 0, SPMD_TILED, &shape));
    return spmd_all_gather(ctx, in, "x", 0, SPMD_TILED, spmd_out(ctx, 0, SPMD_I64, shape));
}

static spmd_status map_gather(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *made = NULL;
    SPMD_TRY(
        spmd_vmap(ctx, gather_instances, user, 1, &in, SPMD_AXES(0), 1, &made, SPMD_AXES(0), NULL));
    spmd_block *out = spmd_out(ctx, 0, SPMD_I64, spmd_block_shape(made));
    memcpy(out->data, made->data, sizeof(int64_t) * (size_t)spmd_block_size(made));
    return SPMD_OK;
}

static void blocks_made_in_a_body_are_temporaries(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = NULL, *out = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(-,x)", SPMD_I64, SPMD_SHAPE(3, 7), &in));
    EXPECT_OK(spmd_shard_map(mesh, map_gather, NULL, 1, SPMD_ARRAYS(in), SPMD_SPECS("P(-,x)"), 1,
                             &out, SPMD_SPECS("P()"), NULL));
    EXPECT(has_type(out, "i64[3,7]"));
    for (int64_t i = 0; i < 21; i++)
        EXPECT(elements(spmd_array_block(out))[i] == i);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* A failing instance fails the call on all ranks. */
static spmd_status map_failing(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = NULL;
    return spmd_vmap(ctx, fail_in_instance_3, user, 1, &in, SPMD_AXES(0), 1, &out, SPMD_AXES(0),
                     NULL);
}

static void a_failing_instance_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = NULL;
    EXPECT_OK(spmd_array_arange(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(5 * test_size), &in));
    EXPECT_FAILS(spmd_shard_map(mesh, map_failing, NULL, 1, SPMD_ARRAYS(in), SPMD_SPECS("P(x)"), 0,
                                NULL, NULL, NULL),
                 SPMD_ERR_BODY, from_rank(0, "instance 3: no luck"));
    expect_same_message();
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static spmd_status copy_scalar(spmd_ctx *ctx, void *user)
{
    (void)user;
    const int64_t *in = spmd_in(ctx, 0)->data;
    int64_t *out = spmd_out(ctx, 0, SPMD_I64, SPMD_SCALAR)->data;
    *out = *in;
    return SPMD_OK;
}

static void an_output_has_memory_of_its_own(void)
{
    int64_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    spmd_block in = spmd_block_borrow(data, SPMD_I64, SPMD_SHAPE(4));
    spmd_block shifted = spmd_block_borrow(data + 3, SPMD_I64, SPMD_SHAPE(4)), *out = &shifted;
    EXPECT_FAILS(spmd_vmap(NULL, copy_scalar, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(0), 1, &out,
                           SPMD_AXES(0), NULL),
                 SPMD_ERR_ARGUMENT, "output 0 of a vmap lies in the memory of input 0");
    EXPECT(data[3] == 4);
    shifted.data = data + 4;
    EXPECT_OK(spmd_vmap(NULL, copy_scalar, NULL, 1, SPMD_BLOCKS(&in), SPMD_AXES(0), 1, &out,
                        SPMD_AXES(0), NULL));
    EXPECT(data[4] == 1 && data[7] == 4);
}

HARNESS_MAIN("vmap", CASE(an_output_has_memory_of_its_own), CASE(any_dimension_maps_to_any_other),
             CASE(given_blocks_are_written), CASE(slices_that_are_dense_are_used_in_place),
             CASE(slices_keep_their_place), CASE(blocks_may_have_gaps),
             CASE(inputs_that_are_not_mapped_are_seen_whole),
             CASE(axis_size_counts_where_nothing_is_mapped),
             CASE(outputs_are_zeroed_wherever_they_lie), CASE(shared_outputs_must_be_equal),
             CASE(maps_nest), CASE(instances_have_scratch_memory),
             CASE(no_instances_leave_given_blocks_alone), CASE(instances_may_be_empty),
             CASE(a_batch_dimension_needs_room), CASE(failures_name_the_instance),
             CASE(given_blocks_must_fit), CASE(wrong_axes_are_refused),
             CASE(instances_may_use_the_mesh), CASE(blocks_made_in_a_body_are_temporaries),
             CASE(a_failing_instance_is_everybodys))
