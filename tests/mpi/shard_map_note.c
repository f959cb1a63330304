/* shard_map_note.c - MPI tests of the note on an input that is resharded at each call. */
#include "caught.h"
#include "counting.h"

/* Where the last call that is expected to be noted stands. */
static int line;
#define HERE(...) (line = __LINE__, (__VA_ARGS__))

enum { TEXT_BYTES = 4096 };

/* The note on an input, "input 0", of shape [2n, n] on n ranks, from rows to columns: each rank
 * gets 2n elements, of which it has two. */
static const char *note_on(const char *call, const char *input)
{
    static char text[512];
    int n = test_size;
    snprintf(text, sizeof text,
             "spmd: note: %s (shard_map_note.c:%d): %s, i64[%d@x,%d], is resharded from P(x) to "
             "P(-, x) again, %d B over all ranks each time: place it so once, by spmd_reshard "
             "before the loop\n",
             call, line, input, 2 * n, n, n * (2 * n - 2) * 8);
    return text;
}

/* What position 0 alone has said, and only where there is something to move. */
static void expect_said(const char *said, const char *wanted)
{
    bool quiet = test_rank != 0 || test_size == 1;
    if (!EXPECT(strcmp(said, quiet ? "" : wanted) == 0))
        fprintf(stderr, "# said:\n%s# wanted:\n%s", said, quiet ? "" : wanted);
}

static spmd_array *make_rows(spmd_mesh *mesh)
{
    return count_up(mesh, "P(x)", SPMD_SHAPE(2 * test_size, test_size));
}

static spmd_status do_nothing(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return SPMD_OK;
}

/* One input, as columns. */
static spmd_status on_columns(spmd_mesh *mesh, spmd_array *in)
{
    return spmd_shard_map(mesh, do_nothing, NULL, 1, &in, SPMD_SPECS("P(-,x)"), 0, NULL, NULL,
                          NULL);
}

static void an_input_of_a_loop_is_noted_once(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh);
    char text[TEXT_BYTES];
    for (int times = 1; times <= 5; times++) {
        struct caught caught = catch_stderr();
        spmd_status status = HERE(spmd_shard_map(mesh, do_nothing, NULL, 1, &a,
                                                 SPMD_SPECS("P(-,x)"), 0, NULL, NULL, NULL));
        release_stderr(&caught, text, sizeof text);
        EXPECT_OK(status);
        expect_said(text, times == 2 ? note_on("spmd_shard_map", "input 0") : "");
    }
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

static void other_places_inputs_and_types_are_others(void)
{
    spmd_mesh *mesh = make_line(), *other = make_line();
    spmd_array *a = make_rows(mesh), *b = make_rows(other);
    spmd_array *c = count_up(mesh, "P(x)", SPMD_SHAPE(3 * test_size, test_size));
    char text[TEXT_BYTES];
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    status +=
        spmd_shard_map(mesh, do_nothing, NULL, 1, &a, SPMD_SPECS("P(-,x)"), 0, NULL, NULL, NULL);
    status +=
        spmd_shard_map(mesh, do_nothing, NULL, 1, &a, SPMD_SPECS("P(-,x)"), 0, NULL, NULL, NULL);
    for (int k = 0; k < 4; k++) {
        spmd_array *in[3] = {NULL};
        in[k % 3] = k < 3 ? a : c;
        status += spmd_shard_map(mesh, do_nothing, NULL, 3, in,
                                 SPMD_SPECS("P(-,x)", "P(-,x)", "P(-,x)"), 0, NULL, NULL, NULL);
    }
    for (int k = 0; k < 2; k++) /* another mesh remembers for itself */
        status += on_columns(k == 0 ? mesh : other, k == 0 ? a : b);
    for (int k = 0; k < 4; k++) /* what lies so already */
        status += spmd_shard_map(mesh, do_nothing, NULL, 1, &a, SPMD_SPECS("P(x,-)"), 0, NULL, NULL,
                                 NULL);
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    expect_said(text, "");
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&c);
    spmd_mesh_free(&mesh);
    spmd_mesh_free(&other);
}

static void each_input_has_its_note(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *in[2] = {make_rows(mesh), make_rows(mesh)};
    char text[TEXT_BYTES], wanted[TEXT_BYTES];
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    for (int times = 0; times < 3; times++)
        status += HERE(spmd_shard_map(mesh, do_nothing, NULL, 2, in, SPMD_SPECS("P(-,x)", "P(-,x)"),
                                      0, NULL, NULL, NULL));
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    int length = snprintf(wanted, sizeof wanted, "%s", note_on("spmd_shard_map", "input 0"));
    snprintf(wanted + length, sizeof wanted - (size_t)length, "%s",
             note_on("spmd_shard_map", "input 1"));
    expect_said(text, wanted);
    spmd_array_free(&in[0]);
    spmd_array_free(&in[1]);
    spmd_mesh_free(&mesh);
}

static void runs_of_a_plan_are_noted_as_well(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh);
    spmd_shard_map_call *plan = plan_one(mesh, copy, "P(-,x)", "P(-,x)", NULL);
    spmd_array *out = NULL;
    char text[TEXT_BYTES];
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    for (int times = 0; times < 4; times++)
        status += HERE(spmd_shard_map_run(plan, NULL, &a, &out));
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    expect_said(text, note_on("spmd_shard_map_run", "input 0"));
    spmd_shard_map_free(&plan);
    spmd_array_free(&out);
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

static void leaves_of_trees_have_their_names(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh);
    spmd_tree *in = NULL, *out = NULL;
    char text[TEXT_BYTES];
    EXPECT_OK(spmd_tree_create(&in));
    EXPECT_OK(spmd_tree_set_array(in, "layer/w", a));
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    for (int times = 0; times < 3; times++) {
        status += HERE(spmd_shard_map_tree(mesh, do_nothing, NULL, in, "P(-,x)", &out, "[]", NULL));
        spmd_tree_free(&out);
    }
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    expect_said(text, note_on("spmd_shard_map_tree", "in['layer']['w']"));
    spmd_tree_free(&in);
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

static void a_pmap_is_noted(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh);
    char text[TEXT_BYTES];
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    for (int times = 0; times < 3; times++)
        status +=
            HERE(spmd_pmap(mesh, "x", do_nothing, NULL, 1, &a, SPMD_AXES(1), 0, NULL, NULL, NULL));
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    expect_said(text, note_on("spmd_pmap", "input 0"));
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

/* Without places the body stands for them. */
static void calls_without_a_place_are_noted(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh), *out = NULL;
    char text[TEXT_BYTES];
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    spmd_place_set(NULL, 0, NULL);
    status += (spmd_shard_map)(mesh, copy, NULL, 1, &a, SPMD_SPECS("P(-,x)"), 1, &out,
                               SPMD_SPECS("P(-,x)"), NULL);
    for (int times = 0; times < 2; times++)
        status += (spmd_shard_map)(mesh, do_nothing, NULL, 1, &a, SPMD_SPECS("P(-,x)"), 0, NULL,
                                   NULL, NULL);
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    static const char said[] = "spmd: note: a shard_map: input 0, i64[";
    bool quiet = test_rank != 0 || test_size == 1;
    EXPECT(quiet ? text[0] == '\0' : strncmp(text, said, strlen(said)) == 0);
    EXPECT(quiet || strchr(text, '\n') == text + strlen(text) - 1);
    spmd_array_free(&a);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

static void quiet_meshes_note_nothing(void)
{
    spmd_mesh *mesh = make_line();
    spmd_array *a = make_rows(mesh);
    char text[TEXT_BYTES];
    spmd_mesh_set_quiet(mesh, true);
    struct caught caught = catch_stderr();
    spmd_status status = SPMD_OK;
    for (int times = 0; times < 3; times++)
        status += on_columns(mesh, a);
    release_stderr(&caught, text, sizeof text);
    EXPECT_OK(status);
    EXPECT(text[0] == '\0');
    spmd_array_free(&a);
    spmd_mesh_free(&mesh);
}

HARNESS_MAIN("shard_map_note", CASE(an_input_of_a_loop_is_noted_once),
             CASE(other_places_inputs_and_types_are_others), CASE(each_input_has_its_note),
             CASE(runs_of_a_plan_are_noted_as_well), CASE(leaves_of_trees_have_their_names),
             CASE(a_pmap_is_noted), CASE(calls_without_a_place_are_noted),
             CASE(quiet_meshes_note_nothing))
