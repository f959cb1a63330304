/* shard_map_plan.c - MPI tests of planned shard_maps, and of outputs whose memory is used again. */
#include "counting.h"

/* Reductions that anybody starts: the calls come by here (PMPI). A body without collectives in a
 * run that is not agreed on makes none. */
static int reductions;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    reductions++;
    return PMPI_Iallreduce(in, out, count, type, op, comm, request);
}

/* Outputs that are given back. */

static void a_given_output_is_used_again(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    EXPECT_OK(map(mesh, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
    spmd_array *first = out;
    void *data = spmd_array_block(out)->data;
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(out == first && spmd_array_block(out)->data == data);
    expect_line(out, 1, 0);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static void a_given_output_that_is_held_is_left_alone(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    EXPECT_OK(map(mesh, twice_and_one, NULL, in, "P(x)", &out, "P(x)"));
    spmd_array *held = spmd_array_hold(out);
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    EXPECT(out != held && spmd_array_block(out)->data != spmd_array_block(held)->data);
    expect_line(held, 2, 1);
    expect_line(out, 1, 0);
    spmd_array_free(&held);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

/* Reverses its block, which would go wrong in place. */
static spmd_status reverse(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    int64_t size = spmd_block_size(in);
    for (int64_t i = 0; i < size; i++)
        elements(out)[i] = elements(in)[size - 1 - i];
    return SPMD_OK;
}

static void a_given_output_that_is_an_input_is_replaced(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = count_up(mesh, "P()", SPMD_SHAPE(7));
    EXPECT_OK(map(mesh, reverse, NULL, array, "P()", &array, "P()"));
    expect_line(array, -1, 6);
    EXPECT_OK(map(mesh, twice_and_one, NULL, array, "P(x)", &array, "P(x)"));
    EXPECT(has_type(array, "i64[7@x]"));
    expect_line(array, -2, 13);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static void a_given_output_of_another_type_is_replaced(void)
{
    spmd_mesh *mesh = make_line(), *other = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out[4] = {NULL};
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(7), &out[0]));
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_I64, SPMD_SHAPE(7, 1), &out[1]));
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_I64, SPMD_SHAPE(40), &out[2]));
    EXPECT_OK(spmd_array_zeros(other, "P(x)", SPMD_I64, SPMD_SHAPE(7), &out[3]));
    for (int k = 0; k < 4; k++) {
        EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out[k], "P(x)"));
        EXPECT(has_type(out[k], "i64[7@x]"));
        EXPECT(spmd_sharding_mesh(spmd_array_sharding(out[k])) == mesh);
        expect_line(out[k], 1, 0);
        spmd_array_free(&out[k]);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&other);
    spmd_mesh_free(&mesh);
}

/* The block of a given array may fit though it was another array: one that lay otherwise. */
static void a_given_block_that_fits_gets_its_new_place(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(3 * test_size)), *out = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P()", SPMD_I64, SPMD_SHAPE(3), &out));
    EXPECT_OK(map(mesh, copy, NULL, in, "P(x)", &out, "P(x)"));
    const spmd_block *block = spmd_array_block(out);
    EXPECT(block->offset[0] == 3 * test_rank && block->global[0] == 3 * test_size);
    EXPECT(block->replica == 0);
    expect_line(out, 1, 0);
    spmd_array_free(&out);
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static spmd_status add_user(spmd_ctx *ctx, void *user)
{
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = elements(in)[i] + *(int64_t *)user;
    return SPMD_OK;
}

static void a_plan_runs_many_times(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL, *first = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    spmd_mesh_free(&mesh);
    void *data = NULL;
    int before = 0;
    for (int64_t i = 0; i < 100; i++) {
        EXPECT_OK(spmd_shard_map_run(plan, &i, SPMD_ARRAYS(in), &out));
        int64_t *block = block_of(out);
        for (int64_t k = 0; k < spmd_block_size(spmd_array_block(out)); k++)
            EXPECT(block[k] == spmd_array_block(out)->offset[0] + k + i);
        if (i == 0) {
            first = out;
            data = block;
            before = reductions;
        }
        EXPECT(out == first && (void *)block == data);
    }
    EXPECT(reductions == before || test_checks);
    spmd_shard_map_free(&plan);
    EXPECT(plan == NULL);
    spmd_shard_map_free(&plan);
    expect_line(out, 1, 99);
    spmd_array_free(&in);
    spmd_array_free(&out);
}

static void a_plan_moves_inputs_that_lie_elsewhere(void)
{
    spmd_mesh *mesh = make_line(), *same = make_line();
    spmd_array *in[] = {count_up(mesh, "P(x)", SPMD_SHAPE(7)), count_up(mesh, "P()", SPMD_SHAPE(7)),
                        count_up(same, "P()", SPMD_SHAPE(7)),
                        count_up(same, "P(x)", SPMD_SHAPE(7))};
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    for (int64_t i = 0; i < 12; i++) {
        EXPECT_OK(spmd_shard_map_run(plan, &i, &in[i % 4], &out));
        expect_line(out, 1, i);
    }
    for (int k = 0; k < 4; k++)
        spmd_array_free(&in[k]);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&same);
}

static void a_plan_makes_outputs_that_are_not_given_back(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P()", SPMD_SHAPE(7)), *out[5] = {NULL};
    spmd_shard_map_call *plan = plan_one(mesh, add_user, "P(x)", "P(x)", NULL);
    for (int64_t i = 0; i < 5; i++)
        EXPECT_OK(spmd_shard_map_run(plan, &i, SPMD_ARRAYS(in), &out[i]));
    spmd_shard_map_free(&plan);
    for (int64_t i = 0; i < 5; i++) {
        expect_line(out[i], 1, i);
        spmd_array_free(&out[i]);
    }
    spmd_array_free(&in);
    spmd_mesh_free(&mesh);
}

static void a_plan_keeps_its_output_types(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = NULL;
    spmd_block as_first = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 3));
    spmd_block other_type = spmd_block_borrow(NULL, SPMD_F64, SPMD_SHAPE(2, 3));
    spmd_block other_rank = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2));
    spmd_block other_shape = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 4));
    EXPECT_OK(spmd_shard_map_plan(mesh, declare_as_told, 0, NULL, 1, SPMD_SPECS("P(x)"),
                                  &(spmd_shard_map_options){.agree = true}, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, &as_first, NULL, &out));
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_type, NULL, &out), SPMD_ERR_DTYPE,
                 "output 0: f64 now, but f32 at the plan's first run");
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_rank, NULL, &out), SPMD_ERR_SHAPE,
                 "output 0: 1 dimensions now, but 2");
    EXPECT_FAILS(spmd_shard_map_run(plan, &other_shape, NULL, &out), SPMD_ERR_SHAPE, "output 0: ");
    EXPECT_OK(spmd_shard_map_run(plan, &as_first, NULL, &out));
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

/* Adds 1 to each element of an output, in memory that is zero, or that has what it had. */
static spmd_status add_one(spmd_ctx *ctx, void *user)
{
    bool unset = *(bool *)user;
    spmd_block *out = (unset ? spmd_out_unset : spmd_out)(ctx, 0, SPMD_F64, SPMD_SHAPE(3));
    for (int i = 0; i < 3; i++)
        ((double *)out->data)[i] += 1;
    return SPMD_OK;
}

static void memory_that_is_given_back_is_zeroed_unless_asked(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, add_one, 0, NULL, 1, SPMD_SPECS("P(x)"), NULL, &plan));
    for (int run = 0; run < 3; run++) {
        EXPECT_OK(spmd_shard_map_run(plan, &(bool){false}, NULL, &out));
        EXPECT(((const double *)spmd_array_block(out)->data)[2] == 1);
    }
    EXPECT_OK(spmd_shard_map_run(plan, &(bool){true}, NULL, &out));
    EXPECT(((const double *)spmd_array_block(out)->data)[2] == 2);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

static spmd_status run_again(spmd_ctx *ctx, void *user)
{
    spmd_array *out = NULL;
    (void)ctx;
    return spmd_shard_map_run(*(spmd_shard_map_call **)user, user, NULL, &out);
}

static void plans_are_not_run_by_their_own_bodies(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    spmd_array *out = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, run_again, 0, NULL, 1, SPMD_SPECS("P(x)"), NULL, &plan));
    EXPECT_FAILS(spmd_shard_map_run(plan, &plan, NULL, &out), SPMD_ERR_ARGUMENT,
                 "cannot run the plan");
    EXPECT(out == NULL);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

static spmd_status free_own_plan(spmd_ctx *ctx, void *user)
{
    spmd_shard_map_free((spmd_shard_map_call **)user);
    return spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(2)) ? SPMD_OK : SPMD_ERR_BODY;
}

static void plans_may_be_freed_by_their_own_bodies(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    spmd_array *out = NULL;
    EXPECT_OK(
        spmd_shard_map_plan(mesh, free_own_plan, 0, NULL, 1, SPMD_SPECS("P(x)"), NULL, &plan));
    EXPECT_OK(spmd_shard_map_run(plan, &plan, NULL, &out));
    EXPECT(plan == NULL && spmd_array_shape(out).dim[0] == 2 * test_size);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map_plan", CASE(plans_may_be_freed_by_their_own_bodies),
             CASE(plans_are_not_run_by_their_own_bodies), CASE(a_given_output_is_used_again),
             CASE(a_given_output_that_is_held_is_left_alone),
             CASE(a_given_output_that_is_an_input_is_replaced),
             CASE(a_given_output_of_another_type_is_replaced),
             CASE(a_given_block_that_fits_gets_its_new_place), CASE(a_plan_runs_many_times),
             CASE(a_plan_moves_inputs_that_lie_elsewhere),
             CASE(a_plan_makes_outputs_that_are_not_given_back),
             CASE(memory_that_is_given_back_is_zeroed_unless_asked),
             CASE(a_plan_keeps_its_output_types))
