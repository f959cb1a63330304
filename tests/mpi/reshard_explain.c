/* reshard_explain.c - what plans tell: that what is told moves, and that forecasts say the same. */
#include <stdlib.h>

#include "meshes.h"

/* On the axes x and y. */
static const char *const specs[] = {"P()",
                                    "P(x,-)",
                                    "P(-,x)",
                                    "P(x,y)",
                                    "P(y,x)",
                                    "P((x,y),-)",
                                    "P(-,(y,x))",
                                    "P(x, unreduced={y})",
                                    "P(unreduced={x})",
                                    "P(-,y, unreduced={x})",
                                    "P(unreduced={x,y}:max)"};
enum { NSPECS = sizeof specs / sizeof specs[0] };

static spmd_sharding *lay(spmd_mesh *mesh, const char *spec)
{
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, spec, &sharding));
    return sharding;
}

static spmd_reshard_call *plan_between(spmd_mesh *from_mesh, const char *from, spmd_mesh *to_mesh,
                                       const char *to, spmd_shape shape)
{
    spmd_reshard_call *plan = NULL;
    spmd_sharding *source = lay(from_mesh, from), *target = lay(to_mesh, to);
    EXPECT_OK(spmd_reshard_plan(source, target, SPMD_F32, shape, &plan));
    spmd_sharding_free(&source);
    spmd_sharding_free(&target);
    return plan;
}

static spmd_mesh *abstract_like(const spmd_mesh *mesh)
{
    char text[256];
    spmd_mesh *abstract = NULL;
    spmd_mesh_format(text, sizeof text, mesh);
    EXPECT_OK(spmd_mesh_create_abstract(text, &abstract));
    return abstract;
}

static spmd_reshard_bytes count_of(const spmd_reshard_call *plan, int64_t position)
{
    spmd_reshard_bytes bytes = {-1, -1, -1, -1};
    EXPECT_OK(spmd_reshard_count(plan, position, &bytes));
    return bytes;
}

/* A collective of MPI packs parts where messages have slots; nobody foresees that it is chosen. */
static bool is_memory_known(void)
{
    const char *way = getenv("SPMD_MOVE");
    return !way || strcmp(way, "collective") != 0;
}

static bool are_equal(spmd_reshard_bytes a, spmd_reshard_bytes b)
{
    return a.kept == b.kept && a.received == b.received && a.sent == b.sent &&
           (a.peak == b.peak || !is_memory_known());
}

/* The same text, or the same JSON; to be freed. */
static char *explanation(const spmd_reshard_call *plan, int64_t position, bool json)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(json ? spmd_reshard_explain_json(plan, position, stream)
                   : spmd_reshard_explain(plan, position, stream));
    fclose(stream);
    return text;
}

/* What all ranks count of themselves: nobody receives what nobody sends. */
static void expect_balance(spmd_reshard_bytes mine)
{
    int64_t balance = mine.received - mine.sent;
    MPI_Allreduce(MPI_IN_PLACE, &balance, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(balance == 0);
}

/* Forecasts for all ranks, and what this rank finds in its own lists. */
static void expect_foretold(const spmd_reshard_call *plan, const spmd_reshard_call *forecast,
                            int64_t ranks, int64_t self)
{
    spmd_reshard_bytes mine = count_of(plan, SPMD_SELF);
    for (int64_t p = 0; p < ranks; p++)
        EXPECT(are_equal(count_of(plan, p), count_of(forecast, p)));
    if (self >= 0)
        EXPECT(are_equal(mine, count_of(forecast, self)));
    else
        EXPECT(are_equal(mine, (spmd_reshard_bytes){0}));
    expect_balance(mine);
}

static void pairs_on(spmd_mesh *mesh)
{
    static const spmd_shape shapes[] = {{2, {7, 5}}, {2, {48, 24}}, {2, {1, 3}}, {2, {0, 4}}};
    spmd_mesh *abstract = abstract_like(mesh);
    for (int i = 0; i < NSPECS; i++)
        for (int j = 0; j < NSPECS; j++) {
            spmd_shape shape = shapes[(i + j) % 4];
            if (strstr(specs[j], "max") && i != j)
                continue; /* values do not become contributions to a max */
            spmd_reshard_call *plan = plan_between(mesh, specs[i], mesh, specs[j], shape);
            spmd_reshard_call *forecast =
                plan_between(abstract, specs[i], abstract, specs[j], shape);
            if (plan && forecast)
                expect_foretold(plan, forecast, spmd_mesh_size(mesh), spmd_mesh_position(mesh));
            spmd_reshard_free(&plan);
            spmd_reshard_free(&forecast);
        }
    spmd_mesh_free(&abstract);
}

static void forecasts_come_true(void)
{
    spmd_mesh *mesh = make_grid();
    pairs_on(mesh);
    spmd_mesh_free(&mesh);
}

static void forecasts_come_true_in_another_order(void)
{
    spmd_mesh *mesh = make_rotated(test_size % 2 == 0 ? "y=2,x=*" : "x=*,y=1");
    pairs_on(mesh);
    spmd_mesh_free(&mesh);
}

/* Of a mesh whose ranks are in order, no word differs. */
static void texts_are_alike(void)
{
    spmd_mesh *mesh = make_grid(), *abstract = abstract_like(mesh);
    spmd_reshard_call *plan = plan_between(mesh, "P(x,y)", mesh, "P(y)", SPMD_SHAPE(9, 4));
    spmd_reshard_call *forecast =
        plan_between(abstract, "P(x,y)", abstract, "P(y)", SPMD_SHAPE(9, 4));
    for (int json = 0; json < 2; json++)
        for (int64_t p = 0; p < test_size; p++) {
            char *told = explanation(plan, p, json), *foretold = explanation(forecast, p, json);
            EXPECT(strcmp(told, foretold) == 0);
            free(told);
            free(foretold);
        }
    spmd_reshard_free(&plan);
    spmd_reshard_free(&forecast);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&mesh);
}

/* Between meshes, ranks that only the target has are numbered behind those of the source. */
static void between_meshes(void)
{
    static const char *const targets[] = {"P()", "P(x)", "P(-,x)", "P(x, unreduced={y})"};
    spmd_mesh *line = make_shorter_line(), *grid = make_grid();
    spmd_mesh *abstract_line = abstract_like(line), *abstract_grid = abstract_like(grid);
    for (int i = 0; i < 4; i++)
        for (int back = 0; back < 2; back++) {
            const char *from = back ? targets[i] : "P(x)", *to = back ? "P(x)" : targets[i];
            spmd_shape shape = SPMD_SHAPE(7, 6);
            spmd_reshard_call *plan =
                plan_between(back ? grid : line, from, back ? line : grid, to, shape);
            spmd_reshard_call *forecast =
                plan_between(back ? abstract_grid : abstract_line, from,
                             back ? abstract_line : abstract_grid, to, shape);
            if (plan && forecast)
                expect_foretold(plan, forecast, test_size, test_rank);
            spmd_reshard_free(&plan);
            spmd_reshard_free(&forecast);
        }
    spmd_mesh_free(&line);
    spmd_mesh_free(&grid);
    spmd_mesh_free(&abstract_line);
    spmd_mesh_free(&abstract_grid);
}

/* An idle rank does nothing, and can tell what the others do. */
static void idle_ranks(void)
{
    spmd_mesh *line = make_shorter_line(), *abstract = abstract_like(line);
    spmd_reshard_call *plan = plan_between(line, "P(x)", line, "P(-,x)", SPMD_SHAPE(5, 8));
    spmd_reshard_call *forecast =
        plan_between(abstract, "P(x)", abstract, "P(-,x)", SPMD_SHAPE(5, 8));
    expect_foretold(plan, forecast, spmd_mesh_size(line), spmd_mesh_position(line));
    if (is_idle(line)) {
        char *text = explanation(plan, SPMD_SELF, true);
        EXPECT(strstr(text, "\"rank\": null") != NULL);
        free(text);
    }
    spmd_reshard_free(&plan);
    spmd_reshard_free(&forecast);
    spmd_mesh_free(&line);
    spmd_mesh_free(&abstract);
}

/* The number that stands behind a name. */
static long long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? atoll(at + strlen(name)) : -1;
}

/* What came by each way is all that the plan tells. */
static void ways_of_the_last_run(void)
{
    spmd_mesh *mesh = make_line();
    spmd_reshard_call *plan = plan_between(mesh, "P(x)", mesh, "P(-,x)", SPMD_SHAPE(33, 40));
    spmd_array *in = NULL, *out = NULL;
    EXPECT_OK(spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(33, 40), &in));
    char *text = explanation(plan, SPMD_SELF, true);
    EXPECT(strstr(text, "\"last_run\": null") != NULL);
    free(text);
    EXPECT_OK(spmd_reshard_run(plan, 1, &in, &out));
    text = explanation(plan, SPMD_SELF, true);
    if (test_size > 1) {
        long long pool = number_after(text, "\"pool\": ");
        long long readv = number_after(text, "\"readv\": ");
        long long messages = number_after(strstr(text, "last_run"), "\"messages\": ");
        long long collective = number_after(text, "\"collective\": ");
        EXPECT(pool + readv + messages + collective == count_of(plan, SPMD_SELF).received);
    }
    free(text);
    text = explanation(plan, SPMD_SELF, false);
    EXPECT((strstr(text, "The last run brought") != NULL) == (test_size > 1));
    free(text);
    text = explanation(plan, 0, false);
    EXPECT(strstr(text, "The last run brought") == NULL);
    free(text);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_reshard_free(&plan);
    spmd_mesh_free(&mesh);
}

static void wrong_uses(void)
{
    spmd_mesh *mesh = make_line(), *abstract = abstract_like(mesh);
    spmd_sharding *real = lay(mesh, "P(x)"), *unreal = lay(abstract, "P(x)");
    spmd_reshard_call *plan = plan_between(mesh, "P(x)", mesh, "P()", SPMD_SHAPE(4)), *none = NULL;
    spmd_reshard_bytes bytes;
    EXPECT_FAILS(spmd_reshard_plan(real, unreal, SPMD_F32, SPMD_SHAPE(4), &none), SPMD_ERR_MESH,
                 "the mesh to reach is abstract");
    EXPECT_FAILS(spmd_reshard_plan(unreal, real, SPMD_F32, SPMD_SHAPE(4), &none), SPMD_ERR_MESH,
                 "the mesh to come from is abstract");
    EXPECT(none == NULL);
    EXPECT_FAILS(spmd_reshard_count(plan, test_size, &bytes), SPMD_ERR_ARGUMENT, "no position");
    EXPECT_FAILS(spmd_reshard_count(plan, -2, &bytes), SPMD_ERR_ARGUMENT, "no position -2");
    spmd_reshard_free(&plan);
    spmd_sharding_free(&real);
    spmd_sharding_free(&unreal);
    spmd_mesh_free(&abstract);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("reshard_explain", CASE(forecasts_come_true),
             CASE(forecasts_come_true_in_another_order), CASE(texts_are_alike),
             CASE(between_meshes), CASE(idle_ranks), CASE(ways_of_the_last_run), CASE(wrong_uses))
