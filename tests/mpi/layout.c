/* layout.c - a sharding printed by a program: the same text as the command's, on any rank. */
#include <stdlib.h>

#include "meshes.h"

/* What a form prints; free() it. */
typedef spmd_status layout_form(const spmd_layout *layout, FILE *stream);

static char *print(layout_form *form, const spmd_layout *layout)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(form(layout, stream));
    fclose(stream);
    return text;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void print_is_local(void)
{
    spmd_mesh *mesh = make_line();
    spmd_sharding *sharding = NULL;
    EXPECT_OK(spmd_sharding_create(mesh, "P(x,-)", &sharding));
    if (test_rank == test_size - 1) {
        char *text = NULL, type[64];
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        EXPECT_OK(spmd_sharding_print(sharding, SPMD_SHAPE(7, 5), stream));
        fclose(stream);
        snprintf(type, sizeof type, "[7@x,5] as P(x, -) on mesh x=%d\n", test_size);
        EXPECT(strncmp(text, type, strlen(type)) == 0);
        EXPECT(has(text, "rank  x  dim 0  dim 1  elements  replica\n"));
        EXPECT(has(text, "all ranks 35 elements\n"));
        EXPECT(!has(text, "\033"));
        free(text);
    }
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&mesh);
}

struct pair {
    spmd_mesh *mesh;
    spmd_layout layout;
    spmd_sharding *from, *to;
};

static struct pair make_pair(const char *mesh, const char *from, const char *to, spmd_shape shape)
{
    struct pair pair = {.layout = {.shape = shape, .dtype = SPMD_F64}};
    EXPECT_OK(spmd_mesh_create_abstract(mesh, &pair.mesh));
    EXPECT_OK(spmd_sharding_create(pair.mesh, from, &pair.from));
    if (to)
        EXPECT_OK(spmd_sharding_create(pair.mesh, to, &pair.to));
    pair.layout.sharding = pair.from;
    pair.layout.to = pair.to;
    return pair;
}

static void free_pair(struct pair *pair)
{
    spmd_sharding_free(&pair->from);
    spmd_sharding_free(&pair->to);
    spmd_mesh_free(&pair->mesh);
}

static void two_shardings(void)
{
    struct pair pair = make_pair("x=2,y=2", "P(x,y)", "P(x)", SPMD_SHAPE(4, 6));
    char *text = print(spmd_layout_print, &pair.layout);
    EXPECT(has(text, "f64[4,6] on mesh x=2,y=2, from P(x, y) to P(x)\n"));
    EXPECT(has(text, "reshard: all-gather along y\n"));
    EXPECT(has(text, "moved: 192 B, at most 48 B to a rank; kept in place: 192 B\n"));
    free(text);
    pair.layout.dtype = SPMD_DTYPE_NONE;
    text = print(spmd_layout_print, &pair.layout);
    EXPECT(has(text, "moved: 24 elements, at most 6 elements to a rank"));
    free(text);
    free_pair(&pair);
}

static void forms_of_large_meshes(void)
{
    struct pair pair = make_pair("x=1000000,y=1000000", "P(x,y)", NULL, SPMD_SHAPE(2000000, 3));
    char *json = print(spmd_layout_print_json, &pair.layout);
    EXPECT(count(json, "{\"rank\":") == 64);
    EXPECT(has(json, "\"ranks_left_out\": 999999999936"));
    free(json);
    pair.layout.ranks = 3;
    json = print(spmd_layout_print_json, &pair.layout);
    EXPECT(count(json, "{\"rank\":") == 3);
    free(json);
    char *svg = print(spmd_layout_print_svg, &pair.layout);
    EXPECT(count(svg, "class=\"block\"") == 6 * 3);
    free(svg);
    free_pair(&pair);
}

static void arrays_without_elements(void)
{
    struct pair pair = make_pair("x=2", "P(x)", "P()", SPMD_SHAPE(0, 3));
    char *text = print(spmd_layout_print, &pair.layout);
    EXPECT(has(text, "no blocks: the array has no elements"));
    free(text);
    text = print(spmd_layout_print_json, &pair.layout);
    EXPECT(has(text, "\"balance\": null"));
    free(text);
    text = print(spmd_layout_print_svg, &pair.layout);
    EXPECT(count(text, "class=\"block\"") == 0 && has(text, "no elements"));
    free(text);
    free_pair(&pair);
}

static void wrong_uses(void)
{
    struct pair pair = make_pair("x=2,y=2", "P(x)", "P(y)", SPMD_SHAPE(4));
    struct pair other = make_pair("x=4", "P(x)", NULL, SPMD_SHAPE(4));
    struct pair unreduced = make_pair("x=2,y=2", "P(x, unreduced={y})", NULL, SPMD_SHAPE(4));
    spmd_layout layout = pair.layout;
    EXPECT_FAILS(spmd_layout_print(NULL, stdout), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_layout_print(&layout, NULL), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_sharding_print(NULL, SPMD_SHAPE(4), stdout), SPMD_ERR_ARGUMENT, "NULL");
    EXPECT_FAILS(spmd_sharding_print(pair.from, SPMD_SCALAR, stdout), SPMD_ERR_SPEC, "scalar");
    layout.to = other.from;
    EXPECT_FAILS(spmd_layout_print(&layout, stdout), SPMD_ERR_MESH, "different meshes");
    layout.to = unreduced.from;
    EXPECT_FAILS(spmd_layout_print(&layout, stdout), SPMD_ERR_SPEC, "unreduced");
    layout.to = NULL;
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        EXPECT_FAILS(spmd_layout_print(&layout, full), SPMD_ERR_FILE, "cannot print the layout");
        fclose(full);
    }
    free_pair(&unreduced);
    free_pair(&other);
    free_pair(&pair);
}

/* Positions and ranks differ on a mesh in another order. */
static void other_orders_of_ranks_are_told(void)
{
    spmd_mesh *line = make_line(), *reversed = make_reversed("x=*");
    spmd_sharding *there = NULL, *here = NULL;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    EXPECT_OK(spmd_sharding_create(reversed, "P(x)", &there));
    EXPECT_OK(spmd_sharding_create(line, "P(x)", &here));
    EXPECT_OK(spmd_sharding_print(there, SPMD_SHAPE(8), stream));
    fclose(stream);
    EXPECT((strstr(text, "the numbers are positions") != NULL) == (test_size > 1));
    free(text);
    spmd_layout layout = {.sharding = here, .to = there, .shape = SPMD_SHAPE(8)};
    FILE *none = fopen("/dev/null", "w");
    spmd_status status = spmd_layout_print(&layout, none);
    fclose(none);
    EXPECT(status == (test_size > 1 ? SPMD_ERR_MESH : SPMD_OK));
    layout = (spmd_layout){.sharding = here, .shape = SPMD_SHAPE(8), .dtype = (spmd_dtype)99};
    EXPECT_FAILS(spmd_layout_print(&layout, stderr), SPMD_ERR_DTYPE, "no element type");
    spmd_sharding_free(&there);
    spmd_sharding_free(&here);
    spmd_mesh_free(&reversed);
    spmd_mesh_free(&line);
}

HARNESS_MAIN("layout", CASE(print_is_local), CASE(two_shardings), CASE(forms_of_large_meshes),
             CASE(arrays_without_elements), CASE(other_orders_of_ranks_are_told), CASE(wrong_uses))
