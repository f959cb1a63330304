/* shard_map_wrong.c - MPI tests of what shard_map refuses: bodies that fail, blocks that do not
 * fit, wrong arguments. */
#include "counting.h"

/* Failures of a body. */

static spmd_status fail_on(spmd_ctx *ctx, void *user)
{
    int failing = *(int *)user; /* a rank, or -1 for all, or -2 for none */
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(2));
    if (failing == test_rank || failing == -1)
        return spmd_fail(SPMD_ERR_BODY, "no luck");
    return SPMD_OK;
}

static void a_failing_body_is_everybodys(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    for (int failing = -1; failing < test_size; failing++) {
        EXPECT_FAILS(spmd_shard_map(mesh, fail_on, &failing, 0, NULL, NULL, 1, &out,
                                    SPMD_SPECS("P(x)"), NULL),
                     SPMD_ERR_BODY, failing < 0 ? "no luck" : from_rank(failing, "no luck"));
        EXPECT(failing >= 0 || strcmp(spmd_error_message(), "no luck") == 0);
        expect_same_message();
        EXPECT(out == NULL);
    }
    spmd_mesh_free(&mesh);
}

static void agreed_plans_outlive_a_failing_body(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_shard_map_call *plan = NULL;
    int none = -2, last = test_size - 1;
    EXPECT_OK(spmd_shard_map_plan(mesh, fail_on, 0, NULL, 1, SPMD_SPECS("P(x)"),
                                  &(spmd_shard_map_options){.agree = true}, &plan));
    EXPECT_FAILS(spmd_shard_map_run(plan, &last, NULL, &out), SPMD_ERR_BODY,
                 from_rank(last, "no luck"));
    EXPECT(out == NULL);
    EXPECT_OK(spmd_shard_map_run(plan, &none, NULL, &out));
    spmd_array *first = out;
    EXPECT_FAILS(spmd_shard_map_run(plan, &last, NULL, &out), SPMD_ERR_BODY,
                 from_rank(last, "no luck"));
    EXPECT(out == first);
    EXPECT_OK(spmd_shard_map_run(plan, &none, NULL, &out));
    EXPECT(out == first);
    expect_line(out, 0, 0);
    spmd_array_free(&out);
    spmd_shard_map_free(&plan);
    spmd_mesh_free(&mesh);
}

/* A body that uses its ctx wrongly, and goes on as if nothing were. */
struct misuse {
    spmd_body *body;
    spmd_status status;
    const char *message;
};

static spmd_status input_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, 1) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status negative_input(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_in(ctx, -1) == NULL);
    return spmd_fail(SPMD_ERR_BODY, "because of that");
}

static spmd_status output_out_of_range(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 1, SPMD_F32, SPMD_SCALAR) == NULL);
    EXPECT(spmd_out(ctx, -1, SPMD_F32, SPMD_SCALAR) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static spmd_status no_output(spmd_ctx *ctx, void *user)
{
    (void)ctx;
    (void)user;
    return SPMD_OK;
}

static spmd_status output_twice(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3));
    EXPECT(out && spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3)) == out);
    EXPECT(spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(3)) == NULL);
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(4)) == NULL);
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3)) == out);
    return SPMD_OK;
}

static spmd_status output_of_no_type(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_DTYPE_NONE, SPMD_SHAPE(3)) == NULL);
    return SPMD_OK;
}

static spmd_status negative_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(3, -2)) == NULL);
    return SPMD_OK;
}

static spmd_status output_too_large(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40)) == NULL);
    return SPMD_OK;
}

static spmd_status scratch_without_memory(spmd_ctx *ctx, void *user)
{
    (void)user;
    EXPECT(spmd_temp(ctx, SPMD_I8, SPMD_SHAPE(INT64_C(1) << 48)) == NULL);
    spmd_out(ctx, 0, SPMD_F32, SPMD_SCALAR);
    return SPMD_OK;
}

static void misuse_of_a_ctx_fails_the_call(void)
{
    const struct misuse misuses[] = {
        {input_out_of_range, SPMD_ERR_ARGUMENT,
         "spmd_in(ctx, 1): in this shard_map there is no input 1, only 0"},
        {negative_input, SPMD_ERR_ARGUMENT,
         "spmd_in(ctx, -1): in this shard_map there is no input -1, only 0"},
        {output_out_of_range, SPMD_ERR_ARGUMENT,
         "spmd_out(ctx, 1, ...): in this shard_map there is no output 1, only 0"},
        {no_output, SPMD_ERR_BODY, "the body never declared output 0 of 1 by spmd_out"},
        {output_twice, SPMD_ERR_SHAPE, "spmd_out(ctx, 0, ...): declared a second time"},
        {output_of_no_type, SPMD_ERR_DTYPE, "0 is no element type"},
        {negative_output, SPMD_ERR_SHAPE, "negative size -2"},
        {output_too_large, SPMD_ERR_SHAPE, "2^63"},
        {scratch_without_memory, SPMD_ERR_MEMORY, "no memory"},
    };
    spmd_mesh *mesh = make_line();
    for (size_t m = 0; m < sizeof misuses / sizeof *misuses; m++) {
        spmd_array *out = NULL;
        EXPECT_FAILS(map(mesh, misuses[m].body, NULL, NULL, "P()", &out, "P()"), misuses[m].status,
                     misuses[m].message);
        EXPECT(out == NULL);
    }
    spmd_mesh_free(&mesh);
}

/* Blocks that do not fit each other: the last of many ranks declares another one. */
struct odd_one {
    spmd_block usual, odd;
};

static spmd_status declare_odd(spmd_ctx *ctx, void *user)
{
    const struct odd_one *told = user;
    const spmd_block *mine = is_last_of_many() ? &told->odd : &told->usual;
    spmd_out(ctx, 0, mine->dtype, spmd_block_shape(mine));
    spmd_out(ctx, 1, mine->dtype, spmd_block_shape(mine));
    return SPMD_OK;
}

static spmd_status map_odd(spmd_mesh *mesh, const char *spec, struct odd_one *told)
{
    spmd_array *out[2] = {NULL};
    spmd_status status = spmd_shard_map(mesh, declare_odd, told, 0, NULL, NULL, 2, out,
                                        SPMD_SPECS(spec, spec), NULL);
    EXPECT((out[0] != NULL) == (status == SPMD_OK) && (out[1] != NULL) == (status == SPMD_OK));
    spmd_array_free(&out[0]);
    spmd_array_free(&out[1]);
    return status;
}

static void blocks_must_add_up(void)
{
    spmd_mesh *mesh = make_line();
    struct odd_one longer = {spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 3)),
                             spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(3, 3))};
    struct odd_one shorter = {longer.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(1, 3))};
    struct odd_one wider = {longer.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 4))};
    EXPECT_OK(map_odd(mesh, "P(x)", &shorter));
    spmd_status split = map_odd(mesh, "P(x)", &longer);
    if (test_size > 1)
        EXPECT_FAILS(split, SPMD_ERR_SHAPE, "output 0: P(x): the blocks add up to");
    if (test_size > 1)
        EXPECT_FAILS(split, SPMD_ERR_SHAPE,
                     "its block has 2 there; should it have 3, or the spec name other axes?");
    spmd_status whole = map_odd(mesh, "P(x)", &wider);
    if (test_size > 1)
        EXPECT_FAILS(whole, SPMD_ERR_SHAPE,
                     from_rank(test_size - 1, "output 0: P(x) does not split dim 1 of 2"));
    spmd_status copies = map_odd(mesh, "P()", &longer);
    if (test_size > 1)
        EXPECT_FAILS(copies, SPMD_ERR_SHAPE,
                     from_rank(test_size - 1, "output 0: P() does not split dim 0 of 2"));
    spmd_mesh_free(&mesh);
}

static void blocks_of_different_types_disagree(void)
{
    spmd_mesh *mesh = make_line();
    struct odd_one types = {spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2)),
                            spmd_block_borrow(NULL, SPMD_I32, SPMD_SHAPE(2))};
    struct odd_one ranks = {types.usual, spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(2, 1))};
    expect_disagreement(map_odd(mesh, "P(x)", &types));
    expect_disagreement(map_odd(mesh, "P(x)", &ranks));
    spmd_mesh_free(&mesh);
}

/* An output whose spec has more entries than the output has dimensions. */
static void outputs_must_fit_their_spec(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *out = NULL;
    spmd_block scalar = spmd_block_borrow(NULL, SPMD_F32, SPMD_SCALAR);
    EXPECT_FAILS(spmd_shard_map(mesh, declare_as_told, &scalar, 0, NULL, NULL, 1, &out,
                                SPMD_SPECS("P(x)"), NULL),
                 SPMD_ERR_SPEC, "output 0: ");
    EXPECT(strstr(spmd_error_message(), "use P() for a scalar") != NULL);
    spmd_mesh_set_strict(mesh, true);
    spmd_block uneven = spmd_block_borrow(NULL, SPMD_F32, SPMD_SHAPE(test_rank == 0 ? 2 : 1));
    spmd_status status = spmd_shard_map(mesh, declare_as_told, &uneven, 0, NULL, NULL, 1, &out,
                                        SPMD_SPECS("P(x)"), NULL);
    if (test_size > 1)
        EXPECT_FAILS(status, SPMD_ERR_SPEC, "strict");
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

/* Wrong arguments. */

/* Two inputs, of which the array is the second, and an output. */
static spmd_status map_second(spmd_mesh *mesh, spmd_array *array, const char *in_spec,
                              const char *out_spec)
{
    spmd_array *out = NULL;
    spmd_status status =
        spmd_shard_map(mesh, no_output, NULL, 2, SPMD_ARRAYS(NULL, array),
                       SPMD_SPECS("P()", in_spec), 1, &out, SPMD_SPECS(out_spec), NULL);
    EXPECT(out == NULL);
    return status;
}

static void wrong_specs_are_refused(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = count_up(mesh, "P(x)", SPMD_SHAPE(7));
    spmd_array *scalar = count_up(mesh, "P()", SPMD_SCALAR);
    bool odd = is_last_of_many();
    EXPECT_FAILS(map_second(mesh, array, "P(q)", "P()"), SPMD_ERR_SPEC, "in_specs[1]: ");
    EXPECT(strstr(spmd_error_message(), "no axis q; name one of its own") != NULL);
    EXPECT_FAILS(map_second(mesh, array, "P(x", "P()"), SPMD_ERR_SYNTAX, "in_specs[1]: ");
    EXPECT_FAILS(map_second(mesh, array, NULL, "P()"), SPMD_ERR_ARGUMENT, "in_specs[1]: ");
    EXPECT_FAILS(map_second(mesh, array, "P()", "P(x,x)"), SPMD_ERR_SPEC, "out_specs[0]: ");
    EXPECT_FAILS(map_second(mesh, array, "P()", "P(-"), SPMD_ERR_SYNTAX, "out_specs[0]: ");
    EXPECT_FAILS(map_second(mesh, array, "P(x,-)", "P()"), SPMD_ERR_SPEC, "input 1: ");
    EXPECT(strstr(spmd_error_message(), "the spec has 2 entries, the array 1 dimension") != NULL);
    EXPECT_FAILS(map_second(mesh, scalar, "P(x)", "P()"), SPMD_ERR_SPEC, "use P() for a scalar");
    EXPECT_FAILS(map_second(mesh, scalar, "P(-)", "P()"), SPMD_ERR_SPEC, "use P() for a scalar");
    EXPECT_FAILS(map_second(mesh, array, odd || test_size == 1 ? "P(q)" : "P(x)", "P()"),
                 SPMD_ERR_SPEC, from_rank(test_size - 1, "in_specs[1]: "));
    if (test_size > 1) {
        EXPECT_FAILS(map_second(mesh, array, odd ? "P()" : "P(x)", "P()"), SPMD_ERR_DISAGREE, "");
        EXPECT_FAILS(map_second(mesh, array, "P(x)", odd ? "P()" : "P(x)"), SPMD_ERR_DISAGREE, "");
    }
    spmd_array_free(&scalar);
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

/* The option strict: nothing is moved for an input. */
static void strict_calls_move_nothing(void)
{
    const spmd_shard_map_options strict = {.strict = true, .agree = true};
    spmd_mesh *mesh = make_line();
    spmd_array *in = count_up(mesh, "P(x)", SPMD_SHAPE(7, 3)), *out = NULL;
    spmd_array *other = count_up(mesh, "P(-, x)", SPMD_SHAPE(7, 3));
    spmd_shard_map_call *plan = plan_one(mesh, copy, "P(x, -)", "P(x)", &strict);
    for (int run = 0; run < 3; run++) {
        EXPECT_OK(spmd_shard_map_run(plan, NULL, &in, &out));
        spmd_status status = spmd_shard_map_run(plan, NULL, &other, &out);
        if (test_size > 1)
            EXPECT_FAILS(status, SPMD_ERR_SPEC,
                         "input 0 lies as P(-, x), the in_spec says P(x, -): reshard it first, or "
                         "leave the option strict out");
        else
            EXPECT_OK(status);
        expect_same_message();
        expect_line(out, 1, 0);
    }
    spmd_shard_map_free(&plan);
    const spmd_shard_map_options over_x = {.strict = true, .axes = "x"};
    EXPECT_OK(spmd_shard_map(mesh, copy, NULL, 1, SPMD_ARRAYS(other), SPMD_SPECS("P(-, x)"), 1,
                             &out, SPMD_SPECS("P(-, x)"), &over_x));
    expect_disagreement(
        spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P(x)"), 1, SPMD_SPECS("P(x)"),
                            &(spmd_shard_map_options){.strict = is_last_of_many()}, &plan));
    spmd_shard_map_free(&plan);
    spmd_array_free(&in);
    spmd_array_free(&other);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static void collectives_need_a_body(void)
{
    int64_t value = 1;
    spmd_block block = spmd_block_borrow(&value, SPMD_I64, SPMD_SCALAR);
    EXPECT_FAILS(spmd_psum(NULL, &block, "x", &block), SPMD_ERR_MESH,
                 "collectives over mesh axes need the body of a shard_map");
    EXPECT(value == 1 && spmd_axis_index(NULL, "x") == -1);
}

static void wrong_arrays_are_refused(void)
{
    spmd_shard_map_call *plan = NULL;
    spmd_mesh *mesh = make_line(), *grid = make_grid(), *abstract = NULL;
    spmd_array *array = count_up(mesh, "P(x)", SPMD_SHAPE(7)), *out = NULL;
    spmd_array *elsewhere = count_up(grid, "P(x)", SPMD_SHAPE(7));
    spmd_array *longer = count_up(mesh, "P(x)", SPMD_SHAPE(8));
    EXPECT_FAILS(map_second(mesh, elsewhere, "P()", "P()"), SPMD_ERR_MESH,
                 "input 1 lies on another mesh");
    EXPECT_OK(spmd_mesh_create_abstract("x=4", &abstract));
    EXPECT_FAILS(map_second(abstract, array, "P()", "P()"), SPMD_ERR_MESH, "abstract");
    EXPECT_FAILS(map_second(NULL, array, "P()", "P()"), SPMD_ERR_ARGUMENT, "mesh");
    EXPECT_FAILS(map(mesh, NULL, NULL, array, "P()", &out, "P()"), SPMD_ERR_ARGUMENT, "body");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, NULL, SPMD_SPECS("P()"), 1, &out,
                                SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, "1 inputs and 1 outputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, SPMD_ARRAYS(array), NULL, 1, &out,
                                SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, "1 inputs and 1 outputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, -1, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_ARGUMENT, "-1 inputs");
    EXPECT_FAILS(spmd_shard_map(mesh, copy, NULL, 1, SPMD_ARRAYS(array), SPMD_SPECS("P()"), 1,
                                test_rank == test_size - 1 ? NULL : &out, SPMD_SPECS("P()"), NULL),
                 SPMD_ERR_ARGUMENT, from_rank(test_size - 1, "a shard_map of 1 inputs and 1 out"));
    EXPECT_FAILS(spmd_shard_map_run(NULL, NULL, NULL, NULL), SPMD_ERR_ARGUMENT, "plan");
    EXPECT_FAILS(spmd_shard_map_plan(NULL, copy, 0, NULL, 0, NULL, NULL, &plan), SPMD_ERR_ARGUMENT,
                 "needs a mesh");
    EXPECT_FAILS(spmd_shard_map_plan(mesh, copy, 0, NULL, 0, NULL, NULL, NULL), SPMD_ERR_ARGUMENT,
                 "no place for the plan");
    expect_disagreement(
        map(mesh, copy, NULL, is_last_of_many() ? longer : array, "P(x)", &out, "P(x)"));
    spmd_array_free(&out);
    EXPECT_OK(spmd_agree(mesh, SPMD_OK));
    spmd_array_free(&array);
    spmd_array_free(&elsewhere);
    spmd_array_free(&longer);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&mesh);
}

static void counts_and_options_are_agreed_on(void)
{
    spmd_mesh *mesh = make_line();
    spmd_shard_map_call *plan = NULL;
    bool odd = is_last_of_many();
    expect_disagreement(spmd_shard_map_plan(mesh, copy, odd ? 2 : 1, SPMD_SPECS("P()", "P()"),
                                            odd ? 0 : 1, SPMD_SPECS("P()"), NULL, &plan));
    spmd_shard_map_free(&plan);
    expect_disagreement(spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"),
                                            &(spmd_shard_map_options){.agree = odd}, &plan));
    spmd_shard_map_free(&plan);
    spmd_replication mine = odd ? SPMD_REPLICATION_NEVER : SPMD_REPLICATION_ALWAYS;
    expect_disagreement(spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"),
                                            &(spmd_shard_map_options){.replication = mine}, &plan));
    spmd_shard_map_free(&plan);
    const spmd_shard_map_options wrong = {.replication = (spmd_replication)7};
    EXPECT_FAILS(
        spmd_shard_map_plan(mesh, copy, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"), &wrong, &plan),
        SPMD_ERR_ARGUMENT, "the option replication of a shard_map is 7");
    spmd_mesh_free(&mesh);
}

/* A message calls a rank by its number in the communicator of the mesh. */
static spmd_status fail_at_position_0(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_I64, SPMD_SHAPE(1));
    return spmd_axis_index(ctx, "x") == 0 ? spmd_fail(SPMD_ERR_BODY, "I stand first") : SPMD_OK;
}

static void failures_name_ranks_of_the_communicator(void)
{
    spmd_mesh *mesh = make_reversed_rest();
    spmd_array *out = NULL;
    char message[60] = "I stand first"; /* alone: so say all */
    if (test_size > 2)
        snprintf(message, sizeof message, "rank %d: I stand first", test_size - 1);
    if (is_idle(mesh))
        EXPECT_OK(spmd_shard_map(mesh, fail_at_position_0, NULL, 0, NULL, NULL, 1, &out,
                                 SPMD_SPECS("P(x)"), NULL));
    else
        EXPECT_FAILS(spmd_shard_map(mesh, fail_at_position_0, NULL, 0, NULL, NULL, 1, &out,
                                    SPMD_SPECS("P(x)"), NULL),
                     SPMD_ERR_BODY, message);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static spmd_status two_outputs(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(1));
    spmd_out(ctx, 1, SPMD_I32, SPMD_SHAPE(1));
    return SPMD_OK;
}

static void outputs_need_arrays_of_their_own(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_I32, SPMD_SHAPE(test_size), &array));
    spmd_array *out[2] = {array, array};
    EXPECT_FAILS(spmd_shard_map(mesh, two_outputs, NULL, 0, NULL, NULL, 2, out,
                                SPMD_SPECS("P(x)", "P(x)"), NULL),
                 SPMD_ERR_ARGUMENT, "outputs 0 and 1 were given the same array");
    spmd_array_free(&array);
    spmd_mesh_free(&mesh);
}

static spmd_status sum_over_nothing(spmd_ctx *ctx, void *user)
{
    (void)user;
    spmd_block *sum = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(1));
    return spmd_psum(ctx, sum, "nowhere", sum);
}

/* Also where the body returns the failure as it is. */
static void a_failing_collective_tells_its_place(void)
{
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    EXPECT_FAILS(spmd_shard_map(mesh, sum_over_nothing, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL),
                 SPMD_ERR_MESH, "nowhere");
    EXPECT(strstr(spmd_error_place(), "shard_map_wrong.c:") != NULL);
    EXPECT(strstr(spmd_error_place(), "spmd_psum(...)") != NULL);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map_wrong", CASE(a_failing_collective_tells_its_place),
             CASE(outputs_need_arrays_of_their_own), CASE(a_failing_body_is_everybodys),
             CASE(agreed_plans_outlive_a_failing_body), CASE(misuse_of_a_ctx_fails_the_call),
             CASE(blocks_must_add_up), CASE(blocks_of_different_types_disagree),
             CASE(outputs_must_fit_their_spec), CASE(wrong_specs_are_refused),
             CASE(strict_calls_move_nothing), CASE(collectives_need_a_body),
             CASE(wrong_arrays_are_refused), CASE(counts_and_options_are_agreed_on),
             CASE(failures_name_ranks_of_the_communicator))
