/* layout.c - unit tests of who holds what. */
#include <stdio.h>

#include "core/layout.h"
#include "unit.h"

/* A mesh and a spec on it. */
struct layout {
    struct axes axes;
    struct spec spec;
};

static struct layout make(const char *mesh, const char *spec)
{
    struct layout made;
    ASSERT_OK(spmd__axes_parse(mesh, 0, &made.axes));
    ASSERT_OK(spmd__spec_parse(spec, &made.axes, &made.spec));
    return made;
}

static spmd_status check(const char *mesh, const char *spec, spmd_shape shape, bool strict)
{
    struct layout layout = make(mesh, spec);
    return spmd__layout_check(&layout.axes, &layout.spec, shape, strict);
}

static spmd_box box_of(const struct layout *layout, spmd_shape shape, int64_t position)
{
    return spmd__layout_box(&layout->axes, &layout->spec, shape, position);
}

START_TEST(parts_tile_and_differ_by_one)
{
    for (int64_t n = 0; n <= 17; n++)
        for (int64_t parts = 1; parts <= 8; parts++) {
            int64_t end = 0;
            for (int64_t i = 0; i < parts; i++) {
                int64_t lo = 0, hi = n, rest = n % parts;
                spmd__layout_split(parts, i, &lo, &hi);
                ck_assert_int_eq(lo, end);
                ck_assert_int_eq(lo, i * (n / parts) + (i < rest ? i : rest));
                ck_assert_int_eq(hi - lo, n / parts + (i < rest ? 1 : 0));
                end = hi;
            }
            ck_assert_int_eq(end, n);
        }
}
END_TEST

/* The part that has an index is the part whose range has it. */
START_TEST(parts_are_found_by_index)
{
    static const int64_t sizes[] = {1, 2, 7, 12, 1000, INT64_C(1) << 62, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t parts = 1; parts <= 1000; parts += 1 + parts / 2)
            for (int64_t part = 0; part < parts; part++) {
                int64_t lo = 0, hi = sizes[i];
                spmd__layout_split(parts, part, &lo, &hi);
                if (lo == hi)
                    continue;
                ck_assert_int_eq(spmd__layout_part(parts, 0, sizes[i], lo), part);
                ck_assert_int_eq(spmd__layout_part(parts, 0, sizes[i], hi - 1), part);
            }
    ck_assert_int_eq(spmd__layout_part(3, 10, 17, 12), 0);
    ck_assert_int_eq(spmd__layout_part(3, 10, 17, 13), 1);
}
END_TEST

START_TEST(parts_of_huge_dimensions)
{
    int64_t lo = 0, hi = INT64_MAX;
    spmd__layout_split(2, 1, &lo, &hi);
    ck_assert_int_eq(lo, INT64_MAX / 2 + 1);
    ck_assert_int_eq(hi, INT64_MAX);
    lo = 0, hi = 1000000007;
    spmd__layout_split(1000000, 999999, &lo, &hi);
    ck_assert_int_eq(hi, 1000000007);
    ck_assert_int_eq(hi - lo, 1000);
}
END_TEST

START_TEST(several_axes_split_one_after_the_other)
{
    static const int64_t sizes[] = {2, 1, 2, 1}; /* of 6 rows over (2,2), not 2, 2, 1, 1 */
    struct layout layout = make("x=2,y=2", "P((x,y))");
    int64_t end = 0;
    for (int64_t position = 0; position < 4; position++) {
        spmd_box box = box_of(&layout, SPMD_SHAPE(6), position);
        ck_assert_int_eq(box.lo[0], end);
        ck_assert_int_eq(box.hi[0] - box.lo[0], sizes[position]);
        end = box.hi[0];
    }
    layout = make("x=2,y=2", "P((y,x))");
    spmd_box box = box_of(&layout, SPMD_SHAPE(6), 1);
    ck_assert(box.lo[0] == 3 && box.hi[0] == 5);
}
END_TEST

START_TEST(dropping_a_minor_axis_joins_neighbours)
{
    struct layout fine = make("x=3,y=4,z=2", "P((x,y,z))");
    struct layout middle = make("x=3,y=4,z=2", "P((x,y))");
    struct layout coarse = make("x=3,y=4,z=2", "P(x)");
    for (int64_t n = 0; n <= 50; n++)
        for (int64_t position = 0; position < 24; position += 2) {
            spmd_box first = box_of(&fine, SPMD_SHAPE(n), position);
            spmd_box second = box_of(&fine, SPMD_SHAPE(n), position + 1);
            spmd_box both = box_of(&middle, SPMD_SHAPE(n), position);
            spmd_box parent = box_of(&coarse, SPMD_SHAPE(n), position);
            ck_assert_int_eq(first.lo[0], both.lo[0]);
            ck_assert_int_eq(first.hi[0], second.lo[0]);
            ck_assert_int_eq(second.hi[0], both.hi[0]);
            ck_assert(parent.lo[0] <= both.lo[0] && both.hi[0] <= parent.hi[0]);
            if (position % 8 == 0)
                ck_assert_int_eq(parent.lo[0], both.lo[0]);
            if (position % 8 == 6)
                ck_assert_int_eq(parent.hi[0], both.hi[0]);
        }
}
END_TEST

START_TEST(boxes_in_two_dimensions)
{
    struct layout layout = make("x=4,y=2", "P(x, y)");
    spmd_box box = box_of(&layout, SPMD_SHAPE(8, 2), 7);
    ck_assert(box.ndim == 2 && box.lo[0] == 6 && box.hi[0] == 8 && box.lo[1] == 1 &&
              box.hi[1] == 2);
    layout = make("x=4,y=2", "P(y, x)");
    box = box_of(&layout, SPMD_SHAPE(8, 4), 2);
    ck_assert(box.lo[0] == 0 && box.hi[0] == 4 && box.lo[1] == 1 && box.hi[1] == 2);
    layout = make("x=4,y=2", "P(x)");
    box = box_of(&layout, SPMD_SHAPE(3, 5), 7);
    ck_assert(box.lo[0] == 3 && box.hi[0] == 3 && box.lo[1] == 0 && box.hi[1] == 5);
    box = box_of(&layout, SPMD_SHAPE(0, 5), 0);
    ck_assert_int_eq(spmd_box_size(&box), 0);
    layout = make("x=4,y=2", "P()");
    box = box_of(&layout, SPMD_SCALAR, 5);
    ck_assert_int_eq(box.ndim, 0);
}
END_TEST

START_TEST(replicas_count_earlier_copies)
{
    static const struct {
        const char *spec;
        int64_t replica[8];
    } cases[] = {
        {"P(x, y)", {0, 0, 0, 0, 0, 0, 0, 0}},  {"P(x)", {0, 1, 0, 1, 0, 1, 0, 1}},
        {"P(y)", {0, 0, 1, 1, 2, 2, 3, 3}},     {"P(-, y)", {0, 0, 1, 1, 2, 2, 3, 3}},
        {"P((x,y))", {0, 0, 0, 0, 0, 0, 0, 0}}, {"P()", {0, 1, 2, 3, 4, 5, 6, 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout layout = make("x=4,y=2", cases[i].spec);
        for (int64_t position = 0; position < 8; position++)
            ck_assert_int_eq(spmd__layout_replica(&layout.axes, &layout.spec, position),
                             cases[i].replica[position]);
    }
}
END_TEST

START_TEST(specs_longer_than_the_rank_are_refused)
{
    ASSERT_OK(check("x=4,y=2", "P(x)", SPMD_SHAPE(8, 4), false));
    ASSERT_OK(check("x=4,y=2", "P()", SPMD_SCALAR, false));
    ASSERT_FAILS(check("x=4,y=2", "P(x)", SPMD_SCALAR, false), SPMD_ERR_SPEC, "P()");
    ASSERT_FAILS(check("x=4,y=2", "P(-)", SPMD_SCALAR, false), SPMD_ERR_SPEC, "scalar");
    ASSERT_FAILS(check("x=4,y=2", "P(-, -)", SPMD_SHAPE(8), false), SPMD_ERR_SPEC, "P(-, -)");
    ASSERT_FAILS(check("x=4,y=2", "P(-, x, -, -)", SPMD_SHAPE(8, 2), false), SPMD_ERR_SPEC, "4");
}
END_TEST

START_TEST(strict_means_that_sizes_divide)
{
    ASSERT_OK(check("x=4,y=2", "P(x)", SPMD_SHAPE(6), false));
    ASSERT_FAILS(check("x=4,y=2", "P(x)", SPMD_SHAPE(6), true), SPMD_ERR_SPEC, "dim 0 of 1");
    ASSERT_FAILS(check("x=4,y=2", "P(-, (x,y))", SPMD_SHAPE(3, 12), true), SPMD_ERR_SPEC, "8");
    ASSERT_OK(check("x=4,y=2", "P(-, (x,y))", SPMD_SHAPE(3, 16), true));
    ASSERT_OK(check("x=4,y=2", "P(x, y)", SPMD_SHAPE(0, 0), true));
    ASSERT_OK(check("x=1,y=8", "P(x)", SPMD_SHAPE(7), true));
}
END_TEST

START_TEST(bad_shapes_and_open_specs_are_refused)
{
    struct layout layout = make("x=4", "P()");
    spmd_shape negative = {.ndim = 2, .dim = {4, -1}}, many = {.ndim = SPMD_MAX_DIMS + 1};
    ck_assert_int_ne(spmd__layout_check(&layout.axes, &layout.spec, negative, false), SPMD_OK);
    ck_assert_int_ne(spmd__layout_check(&layout.axes, &layout.spec, many, false), SPMD_OK);
    many.ndim = -1;
    ck_assert_int_ne(spmd__layout_check(&layout.axes, &layout.spec, many, false), SPMD_OK);
    ASSERT_FAILS(check("x=4", "P(?)", SPMD_SHAPE(8), false), SPMD_ERR_SPEC, "?");
}
END_TEST

static bool compare(const char *a_mesh, const char *a_spec, const char *b_mesh, const char *b_spec,
                    int ndim, bool even)
{
    struct layout a = make(a_mesh, a_spec), b = make(b_mesh, b_spec);
    bool there = spmd__layout_equivalent(&a.axes, &a.spec, &b.axes, &b.spec, ndim, even);
    bool back = spmd__layout_equivalent(&b.axes, &b.spec, &a.axes, &a.spec, ndim, even);
    ck_assert_int_eq(there, back);
    return there;
}

static bool equivalent(const char *a_mesh, const char *a_spec, const char *b_mesh,
                       const char *b_spec, int ndim)
{
    return compare(a_mesh, a_spec, b_mesh, b_spec, ndim, false);
}

START_TEST(equivalence_on_one_mesh)
{
    ck_assert(equivalent("x=4,y=2", "P(x)", "x=4,y=2", "P(x, -)", 2));
    ck_assert(equivalent("x=4,y=2", "P()", "x=4,y=2", "P(-, -)", 2));
    ck_assert(!equivalent("x=4,y=2", "P(x)", "x=4,y=2", "P(-, x)", 2));
    ck_assert(!equivalent("x=4", "P(unreduced={x}:max)", "x=4", "P(unreduced={x})", 1));
    ck_assert(
        equivalent("x=4,y=1", "P(x, unreduced={y}:max)", "x=4,y=1", "P(x, unreduced={y})", 2));
    ck_assert(equivalent("x=4,y=1", "P(x, unreduced={y}:max)", "x=4,y=1", "P(x)", 2));
    ck_assert(!equivalent("x=4,y=2", "P(x)", "x=4,y=2", "P(y)", 1));
    ck_assert(!equivalent("x=4,y=2", "P((x,y))", "x=4,y=2", "P((y,x))", 1));
    ck_assert(!equivalent("x=4,y=2", "P((x,y))", "x=4,y=2", "P(x, y)", 2));
    ck_assert(!equivalent("x=2,y=2", "P(x)", "x=2,y=2", "P(y)", 1));
}
END_TEST

START_TEST(axes_of_size_one_do_not_count)
{
    ck_assert(equivalent("x=1,y=4", "P(x)", "x=1,y=4", "P()", 1));
    ck_assert(equivalent("x=1,y=4", "P((x,y))", "x=1,y=4", "P(y)", 1));
    ck_assert(equivalent("x=1,y=4", "P((y,x))", "x=1,y=4", "P((x,y))", 1));
    ck_assert(equivalent("x=1", "P(x)", "x=1", "P(-)", 1));
    ck_assert(equivalent("a=2,b=1,c=2", "P((a,b), c)", "a=2,c=2", "P(a, c)", 2));
}
END_TEST

START_TEST(equivalence_across_meshes)
{
    ck_assert(equivalent("x=4,y=2", "P(x, y)", "a=4,b=2", "P(a, b)", 2));
    ck_assert(equivalent("x=4,y=2", "P()", "z=8", "P()", 2));
    ck_assert(!equivalent("x=4,y=2", "P()", "z=4", "P()", 2));
    ck_assert(!equivalent("x=4,y=2", "P((x,y))", "z=8", "P(z)", 1)); /* (4,2) is not (8) */
    ck_assert(!equivalent("x=2,y=2", "P((x,y))", "z=4", "P(z)", 1));
    ck_assert(!equivalent("x=4,y=2", "P(x)", "x=2,y=4", "P(y)", 1));
    ck_assert(equivalent("x=4,y=2", "P(x)", "a=4,b=2", "P(a)", 1));
    ck_assert(equivalent("x=2,y=2,z=2", "P((x,y))", "a=2,b=2,c=2", "P((a,b))", 1));
    ck_assert(!equivalent("x=2,y=4", "P(x)", "x=4,y=2", "P(y)", 1));
}
END_TEST

/* Where sizes divide, as in JAX, only products count. */
START_TEST(equivalence_of_even_layouts)
{
    ck_assert(compare("x=4,y=2", "P((x,y))", "z=8", "P(z)", 1, true));
    ck_assert(compare("a=2,b=2,c=2", "P((a,b), c)", "x=4,y=2", "P(x, y)", 2, true));
    ck_assert(compare("a=2,b=1,c=3", "P((a,b,c))", "z=6", "P(z)", 1, true));
    ck_assert(!compare("x=4,y=2", "P((y,x))", "z=8", "P(z)", 1, true));
    ck_assert(!compare("a=2,b=2,c=2", "P((a,c))", "x=4,y=2", "P(x)", 1, true));
    ck_assert(!compare("a=2,b=2,c=2", "P((a,b))", "x=2,y=4", "P(y)", 1, true));
}
END_TEST

START_TEST(contributions_are_not_equivalent_to_values)
{
    ck_assert(!equivalent("x=4,y=2", "P(x)", "x=4,y=2", "P(x, unreduced={y})", 1));
    ck_assert(equivalent("x=4,y=2", "P(x, unreduced={y})", "x=4,y=2", "P(x, -, unreduced={y})", 2));
    ck_assert(
        !equivalent("x=4,y=2", "P(x, unreduced={y})", "x=4,y=2", "P(x, unreduced={y}:max)", 1));
}
END_TEST

START_TEST(types_print)
{
    static const struct {
        const char *spec;
        int ndim;
        const char *text;
    } cases[] = {
        {"P(x, (y,z))", 3, "f32[8@x,4@(y,z),3]"},
        {"P()", 3, "f32[8,4,3]"},
        {"P(-, -, y)", 3, "f32[8,4,3@y]"},
        {"P()", 0, "f32[]"},
        {"P((z))", 1, "f32[8@z]"},
    };
    const int64_t extents[] = {8, 4, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[64];
        struct text text = spmd__text_begin(buffer, sizeof buffer);
        struct layout layout = make("x=2,y=2,z=2", cases[i].spec);
        spmd__layout_print(&text, &layout.axes, &layout.spec, SPMD_F32,
                           spmd_shape_make(cases[i].ndim, extents));
        ck_assert_str_eq(buffer, cases[i].text);
    }
}
END_TEST

START_TEST(types_print_without_a_layout)
{
    char buffer[64];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__type_print(&text, SPMD_F32, SPMD_SHAPE(8, 4));
    spmd__text_add(&text, " ");
    spmd__type_print(&text, SPMD_I64, SPMD_SCALAR);
    ck_assert_str_eq(buffer, "f32[8,4] i64[]");
}
END_TEST

START_TEST(a_million_positions)
{
    struct layout layout = make("x=1000,y=1000", "P((x,y))");
    spmd_box box = box_of(&layout, SPMD_SHAPE(INT64_C(1000000000000)), 999999);
    ck_assert_int_eq(box.hi[0], INT64_C(1000000000000));
    ck_assert_int_eq(box.hi[0] - box.lo[0], 1000000);
}
END_TEST

/* Small random numbers from a fixed seed, so that a failure comes back. */
static uint64_t state = 20240229;

static int below(int limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)limit);
}

/* A random mesh, a spec that puts some of its axes on random dimensions, a shape. */
static struct layout random_layout(spmd_shape *shape, char description[400])
{
    static const char names[] = "abcd";
    char mesh[100] = "", spec[200] = "P(", entries[3][40] = {"", "", ""};
    int naxes = 1 + below(4), ndim = 1 + below(3), order[4] = {0, 1, 2, 3};
    for (int i = naxes - 1; i > 0; i--) {
        int j = below(i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < naxes; i++)
        snprintf(mesh + strlen(mesh), 20, "%s%c=%d", i ? "," : "", names[i], 1 + below(4));
    for (int i = 0; i < naxes; i++) {
        int dim = below(ndim + 1);
        if (dim < ndim)
            snprintf(entries[dim] + strlen(entries[dim]), 4, "%s%c", *entries[dim] ? "," : "",
                     names[order[i]]);
    }
    shape->ndim = ndim;
    for (int dim = 0; dim < ndim; dim++) {
        shape->dim[dim] = below(9);
        snprintf(spec + strlen(spec), 50, "%s(%.40s)", dim ? ", " : "", entries[dim]);
    }
    strcat(spec, ")");
    snprintf(description, 400, "%s on mesh %s", spec, mesh);
    return make(mesh, spec);
}

/* How many earlier positions have the same coordinates along all axes that the spec names; their
 * boxes are the same. */
static int64_t count_copies(const struct layout *layout, spmd_shape shape, int64_t position,
                            const char *description)
{
    struct axis_list used = spmd__axis_list_of_mask(spmd__spec_used(&layout->spec));
    int64_t part = spmd__axis_list_index(&layout->axes, &used, position), copies = 0;
    spmd_box box = box_of(layout, shape, position);
    for (int64_t earlier = 0; earlier < position; earlier++) {
        if (spmd__axis_list_index(&layout->axes, &used, earlier) != part)
            continue;
        copies++;
        spmd_box other = box_of(layout, shape, earlier);
        ck_assert_msg(memcmp(&box, &other, sizeof box) == 0, "%s", description);
    }
    return copies;
}

/* Whether a box of one to three dimensions has the element i, j, k. */
static bool has(const spmd_box *box, int64_t i, int64_t j, int64_t k)
{
    const int64_t index[] = {i, j, k};
    for (int dim = 0; dim < box->ndim; dim++)
        if (index[dim] < box->lo[dim] || index[dim] >= box->hi[dim])
            return false;
    return true;
}

/* Each element has one owner. */
static void assert_tiles(const struct layout *layout, spmd_shape shape, const char *description)
{
    spmd_shape all = {.ndim = 3, .dim = {1, 1, 1}};
    memcpy(all.dim, shape.dim, sizeof(int64_t) * (size_t)shape.ndim);
    for (int64_t element = 0; element < spmd_shape_size(all); element++) {
        int64_t k = element % all.dim[2], ij = element / all.dim[2];
        int owners = 0;
        for (int64_t position = 0; position < spmd__axes_total(&layout->axes); position++) {
            spmd_box box = box_of(layout, shape, position);
            owners += spmd__layout_replica(&layout->axes, &layout->spec, position) == 0 &&
                      has(&box, ij / all.dim[1], ij % all.dim[1], k);
        }
        ck_assert_msg(owners == 1, "%s: element %d has %d owners", description, (int)element,
                      owners);
    }
}

START_TEST(random_layouts_tile)
{
    printf("# random layouts from seed %llu\n", (unsigned long long)state);
    for (int i = 0; i < 300; i++) {
        spmd_shape shape = {0};
        char description[400];
        struct layout layout = random_layout(&shape, description);
        assert_tiles(&layout, shape, description);
        for (int64_t position = 0; position < spmd__axes_total(&layout.axes); position++)
            ck_assert_msg(spmd__layout_replica(&layout.axes, &layout.spec, position) ==
                              count_copies(&layout, shape, position, description),
                          "%s: replica of position %d", description, (int)position);
    }
}
END_TEST

UNIT_MAIN("layout", parts_tile_and_differ_by_one, parts_are_found_by_index,
          parts_of_huge_dimensions, several_axes_split_one_after_the_other,
          dropping_a_minor_axis_joins_neighbours, boxes_in_two_dimensions,
          replicas_count_earlier_copies, specs_longer_than_the_rank_are_refused,
          strict_means_that_sizes_divide, bad_shapes_and_open_specs_are_refused,
          types_print_without_a_layout, equivalence_on_one_mesh, axes_of_size_one_do_not_count,
          equivalence_across_meshes, equivalence_of_even_layouts,
          contributions_are_not_equivalent_to_values, types_print, a_million_positions,
          random_layouts_tile)
