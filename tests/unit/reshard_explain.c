/* reshard_explain.c - unit tests of plans between abstract meshes: what they count and tell. */
#include <stdio.h>

#include "abstract.h"
#include "heap.h"

static const char *const specs[] = {"P()",
                                    "P(x)",
                                    "P(-,y)",
                                    "P(z,x)",
                                    "P((x,y),z)",
                                    "P(y,x)",
                                    "P((z,y,x))",
                                    "P(x, unreduced={y})",
                                    "P(y,z, unreduced={x})",
                                    "P(-,(y,x), unreduced={z})",
                                    "P(unreduced={x,y,z})"};
enum { NSPECS = sizeof specs / sizeof specs[0], VALUES = 7 };

static spmd_reshard_call *plan_between(const char *from_mesh, const char *from, const char *to_mesh,
                                       const char *to, spmd_shape shape)
{
    spmd_reshard_call *plan = NULL;
    spmd_sharding *source = lay(from_mesh, from), *target = lay(to_mesh, to);
    ASSERT_OK(spmd_reshard_plan(source, target, SPMD_F64, shape, &plan));
    spmd_sharding_free(&source);
    spmd_sharding_free(&target);
    return plan;
}

/* The text, or the JSON; to be freed. */
static char *explanation(const spmd_reshard_call *plan, int64_t position, bool json)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    ASSERT_OK(json ? spmd_reshard_explain_json(plan, position, stream)
                   : spmd_reshard_explain(plan, position, stream));
    fclose(stream);
    return text;
}

static spmd_reshard_bytes count_of(const spmd_reshard_call *plan, int64_t position)
{
    spmd_reshard_bytes bytes;
    ASSERT_OK(spmd_reshard_count(plan, position, &bytes));
    return bytes;
}

/* What is told of all ranks, over all steps. */
static spmd_reshard_bytes told_of_all(const spmd_reshard_call *plan)
{
    char *text = explanation(plan, 0, true);
    spmd_reshard_bytes sum = {0};
    for (const char *at = text; (at = strstr(at, "\"all\": {")); at++) {
        long long kept, received, sent;
        ck_assert_int_eq(sscanf(at, "\"all\": {\"kept\": %lld, \"received\": %lld, \"sent\": %lld}",
                                &kept, &received, &sent),
                         3);
        sum.kept = kept;
        sum.received += received;
        sum.sent += sent;
    }
    free(text);
    return sum;
}

static void check_sums(const spmd_reshard_call *plan, int64_t ranks, bool values)
{
    spmd_reshard_bytes sum = {0}, told = told_of_all(plan);
    for (int64_t p = 0; p < ranks; p++) {
        spmd_reshard_bytes one = count_of(plan, p);
        sum.kept += one.kept;
        sum.received += one.received;
        sum.sent += one.sent;
    }
    ck_assert_int_eq(sum.received, sum.sent);
    ck_assert_int_eq(sum.received, told.received);
    ck_assert_int_eq(sum.sent, told.sent);
    if (values) /* then there is one step */
        ck_assert_int_eq(sum.kept, told.kept);
}

START_TEST(sums_of_all_ranks)
{
    static const spmd_shape shapes[] = {{2, {7, 5}}, {2, {24, 36}}, {2, {1, 3}}, {2, {0, 4}}};
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < NSPECS; j++)
            for (int k = 0; k < 4; k++) {
                static const char mesh[] = "x=2,y=3,z=2";
                spmd_reshard_call *plan = plan_between(mesh, specs[i], mesh, specs[j], shapes[k]);
                check_sums(plan, 12, i < VALUES && j < VALUES);
                spmd_reshard_free(&plan);
            }
}
END_TEST

START_TEST(sums_over_two_meshes)
{
    static const char *const targets[] = {"P()", "P(a)", "P(b,a)", "P(-,(b,a))",
                                          "P(a, unreduced={b})"};
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < 5; j++)
            for (int more = 0; more < 2; more++) {
                spmd_reshard_call *plan =
                    plan_between("x=2,y=3,z=2", specs[i], more ? "a=3,b=5" : "a=2,b=3", targets[j],
                                 SPMD_SHAPE(7, 11));
                check_sums(plan, more ? 15 : 12, i < VALUES && j < 4);
                spmd_reshard_free(&plan);
            }
}
END_TEST

/* The object that begins behind `name`, up to its brace; false if there is none. */
static bool find_object(const char *text, const char *name, char object[256])
{
    const char *begin = strstr(text, name);
    const char *end = begin ? strchr(begin, '}') : NULL;
    if (!end)
        return false;
    snprintf(object, 256, "%.*s", (int)(end - begin - (int)strlen(name)), begin + strlen(name));
    return true;
}

/* `spmd layout --to` tells the same sums. */
START_TEST(as_a_layout_tells)
{
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < VALUES; j++) {
            static const char mesh[] = "x=2,y=3,z=2";
            spmd_sharding *from = lay(mesh, specs[i]), *to = lay(mesh, specs[j]);
            spmd_reshard_call *plan =
                plan_between(mesh, specs[i], mesh, specs[j], SPMD_SHAPE(7, 11));
            char *told = explanation(plan, 5, true), *laid = NULL, a[256], b[256];
            size_t size;
            FILE *stream = open_memstream(&laid, &size);
            spmd_layout layout = {from, to, SPMD_SHAPE(7, 11), SPMD_F64, 0};
            ASSERT_OK(spmd_layout_print_json(&layout, stream));
            fclose(stream);
            ck_assert(find_object(told, "\"all\": {", a) &&
                      find_object(strstr(laid, "\"reshard\""), "\"total\": {", b));
            ck_assert_str_eq(a, b);
            ck_assert(find_object(told, "\"bytes\": {", a) &&
                      find_object(strstr(laid, "\"reshard\""), "{\"rank\": 5, ", b));
            ck_assert_str_eq(a, b);
            free(told);
            free(laid);
            spmd_reshard_free(&plan);
            spmd_sharding_free(&from);
            spmd_sharding_free(&to);
        }
}
END_TEST

static void expect_count(const char *mesh, const char *from, const char *to, spmd_shape shape,
                         int64_t position, spmd_reshard_bytes wanted)
{
    spmd_reshard_call *plan = plan_between(mesh, from, mesh, to, shape);
    spmd_reshard_bytes got = count_of(plan, position);
    ck_assert_msg(got.kept == wanted.kept && got.received == wanted.received &&
                      got.sent == wanted.sent && got.peak == wanted.peak,
                  "%s to %s: %d, %d, %d, %d", from, to, (int)got.kept, (int)got.received,
                  (int)got.sent, (int)got.peak);
    spmd_reshard_free(&plan);
}

/* Counted by hand, in bytes of f64. */
START_TEST(by_hand)
{
    /* The array itself. */
    expect_count("x=4", "P(x)", "P(x,-)", SPMD_SHAPE(8, 8), 1,
                 (spmd_reshard_bytes){128, 0, 0, 128});
    expect_count("x=4", "P()", "P(x)", SPMD_SHAPE(8), 1, (spmd_reshard_bytes){16, 0, 0, 80});
    /* Three dense parts come, and the one is sent three times. */
    expect_count("x=4", "P(x)", "P()", SPMD_SHAPE(8), 1, (spmd_reshard_bytes){16, 48, 48, 80});
    /* Columns are not dense: two slots of 64 bytes for each of three sent parts of 32 bytes, as for
     * those received; here of rows into columns. */
    expect_count("x=4", "P(x,-)", "P(-,x)", SPMD_SHAPE(8, 8), 0,
                 (spmd_reshard_bytes){32, 96, 96, 256 + 3 * 2 * 64});
    /* Messages have 256 KiB at most. */
    expect_count("x=2", "P(x,-)", "P(-,x)", SPMD_SHAPE(2048, 2048), 0,
                 (spmd_reshard_bytes){8 << 20, 8 << 20, 8 << 20, (32 << 20) + (2 << 18)});
    /* Each adds up its half of 4 elements. */
    expect_count("x=2", "P(unreduced={x})", "P(x)", SPMD_SHAPE(4), 0,
                 (spmd_reshard_bytes){16, 16, 16, 48});
    expect_count("x=2", "P(unreduced={x})", "P()", SPMD_SHAPE(4), 0,
                 (spmd_reshard_bytes){16, 32, 32, 64});
    /* Halves of rows are packed; 4 x 2 elements. */
    expect_count("x=2", "P(unreduced={x})", "P(-,x)", SPMD_SHAPE(4, 2), 0,
                 (spmd_reshard_bytes){32, 32, 32, 64 + 32 + 64});
    /* Zeros need nobody. */
    expect_count("x=2", "P()", "P(unreduced={x})", SPMD_SHAPE(4), 0,
                 (spmd_reshard_bytes){32, 0, 0, 64});
    expect_count("x=2", "P()", "P(unreduced={x})", SPMD_SHAPE(4), 1,
                 (spmd_reshard_bytes){0, 0, 0, 64});
}
END_TEST

/* A plan of 65,536 devices needs little memory, and numbers of a mesh of 10^18 are told too. */
START_TEST(large_meshes)
{
    size_t before = memory_in_use();
    spmd_reshard_call *plan =
        plan_between("x=256,y=256", "P(x,-)", "x=256,y=256", "P(-,x)", SPMD_SHAPE(65536, 65536));
    ck_assert_uint_lt(memory_in_use() - before, 1 << 20);
    spmd_reshard_bytes bytes = count_of(plan, 65535);
    ck_assert_int_eq(bytes.received, 255 * 256 * 256 * 8);
    ck_assert_int_eq(bytes.sent, bytes.received);
    char *text = explanation(plan, 65535, false);
    ck_assert_ptr_nonnull(strstr(text, "255  255\n"));
    free(text);
    spmd_reshard_free(&plan);

    plan = plan_between("x=1000000000,y=1000000000", "P(x,y)", "x=1000000000,y=1000000000",
                        "P(y,x)", SPMD_SHAPE(1 << 20, 1 << 20));
    text = explanation(plan, 999999999999999999, true);
    ck_assert_ptr_nonnull(strstr(text, "\"all\": null"));
    free(text);
    spmd_reshard_free(&plan);
}
END_TEST

START_TEST(wrong_uses)
{
    spmd_reshard_call *plan = plan_between("x=4", "P(x)", "x=4", "P()", SPMD_SHAPE(4)),
                      *none = NULL;
    spmd_reshard_bytes bytes = {1, 2, 3, 4};
    ASSERT_FAILS(spmd_reshard_count(plan, SPMD_SELF, &bytes), SPMD_ERR_ARGUMENT,
                 "name a position, 0 to 3");
    ASSERT_FAILS(spmd_reshard_count(plan, 4, &bytes), SPMD_ERR_ARGUMENT,
                 "there is no position 4, only 0 to 3");
    ASSERT_FAILS(spmd_reshard_count(plan, 0, NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_reshard_count(NULL, 0, &bytes), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_reshard_explain(plan, 0, NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_reshard_explain_json(NULL, 0, stdout), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_reshard_run(plan, 0, NULL, NULL), SPMD_ERR_MESH,
                 "can be counted and explained, not run");
    ck_assert(bytes.kept == 1 && bytes.peak == 4);

    spmd_sharding *from = lay("x=4", "P(x)"), *to = lay("x=4", "P(x,-)");
    ASSERT_FAILS(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(4), &none), SPMD_ERR_SPEC,
                 "2 entries");
    ASSERT_FAILS(spmd_reshard_plan(from, from, SPMD_DTYPE_NONE, SPMD_SHAPE(4), &none),
                 SPMD_ERR_DTYPE, "");
    ck_assert_ptr_null(none);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    spmd_reshard_free(&plan);
}
END_TEST

/* Each of its blocks has less than 2^63 bytes, but not all that it holds, or gets in two steps. */
START_TEST(too_much_to_tell)
{
    const char *const pairs[][2] = {{"P(x)", "P()"}, {"P(unreduced={x})", "P()"}};
    for (int i = 0; i < 2; i++) {
        spmd_reshard_call *plan =
            plan_between("x=4", pairs[i][0], "x=4", pairs[i][1], SPMD_SHAPE(INT64_MAX / 8));
        spmd_reshard_bytes bytes = {1, 2, 3, 4};
        ASSERT_FAILS(spmd_reshard_count(plan, 0, &bytes), SPMD_ERR_SHAPE, "2^63 - 1 bytes");
        ASSERT_FAILS(spmd_reshard_explain(plan, 0, stdout), SPMD_ERR_SHAPE, "2^63 - 1 bytes");
        ck_assert(bytes.received == 2 && bytes.peak == 4);
        spmd_reshard_free(&plan);
    }
}
END_TEST

START_TEST(a_stream_that_fails)
{
    spmd_reshard_call *plan = plan_between("x=4", "P(x)", "x=4", "P()", SPMD_SHAPE(4));
    FILE *stream = fopen("/dev/full", "w");
    if (stream) {
        ASSERT_FAILS(spmd_reshard_explain(plan, 0, stream), SPMD_ERR_FILE, "cannot print");
        fclose(stream);
    }
    spmd_reshard_free(&plan);
}
END_TEST

UNIT_MAIN("reshard_explain", sums_of_all_ranks, sums_over_two_meshes, as_a_layout_tells, by_hand,
          large_meshes, wrong_uses, too_much_to_tell, a_stream_that_fails)
