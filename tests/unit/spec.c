/* spec.c - unit tests of partition specs: every form of their text, and what it means. */
#include "core/spec.h"
#include "unit.h"

static struct axes mesh(const char *text)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse(text, 0, &axes));
    return axes;
}

/* Reads a spec on x=2,y=4,z=3 and prints it. */
static const char *canonical(const char *text)
{
    static char buffer[512];
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec spec;
    ASSERT_OK(spmd__spec_parse(text, &axes, &spec));
    struct text out = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&out, &axes, &spec);
    return buffer;
}

static void assert_refused(const char *text, spmd_status status, const char *part)
{
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec spec = {.ndim = 7};
    ASSERT_FAILS(spmd__spec_parse(text, &axes, &spec), status, part);
    ck_assert_int_eq(spec.ndim, 7);
}

START_TEST(specs_in_every_form)
{
    static const char *const forms[][2] = {
        {"P(x, -, (y,z))", "P(x, -, (y,z))"},
        {"P(x,-,(y,z))", "P(x, -, (y,z))"},
        {"  P ( x , - , ( y , z ) ) ", "P(x, -, (y,z))"},
        {"PartitionSpec('x', None, ('y', 'z'))", "P(x, -, (y,z))"},
        {"PartitionSpec(\"x\", None, (\"y\", \"z\"))", "P(x, -, (y,z))"},
        {"P('x', None)", "P(x, -)"},
        {"P(x, None)", "P(x, -)"},
        {"P()", "P()"},
        {"PartitionSpec()", "P()"},
        {"", "P()"},
        {"P(-)", "P(-)"},
        {"P(None,)", "P(-)"},
        {"P('x',)", "P(x)"},
        {"P((x))", "P(x)"},
        {"P(('x',))", "P(x)"},
        {"P((y,x,))", "P((y,x))"},
        {"P(['x','y'])", "P((x,y))"},
        {"P((), x)", "P(-, x)"},
        {"P(x, ())", "P(x, -)"},
        {"x", "P(x)"},
        {"-", "P(-)"},
        {"x, -, (y,z)", "P(x, -, (y,z))"},
        {"'x', None", "P(x, -)"},
        {"-, (x,y)", "P(-, (x,y))"},
        {"(x,y), z", "P((x,y), z)"},
        {"(x,y), (z)", "P((x,y), z)"},
        {"P(?, x, ?)", "P(?, x, ?)"},
        {"PartitionSpec(('x', 'y'), None, unreduced={'z'})", "P((x,y), -, unreduced={z})"},
        {"x, unreduced={y}:min", "P(x, unreduced={y}:min)"},
        {"unreduced={y}", "P(unreduced={y})"},
        {"P([])", "P(-)"},
        {"P(-,-,)", "P(-, -)"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        ck_assert_str_eq(canonical(forms[i][0]), forms[i][1]);
}
END_TEST

START_TEST(canonical_text_reads_back)
{
    static const char *const texts[] = {"P()",
                                        "P(x)",
                                        "P(x, -)",
                                        "P(-, -)",
                                        "P((y,x), z)",
                                        "P(?)",
                                        "P(x, -, (y,z))",
                                        "P(unreduced={y})",
                                        "P(x, unreduced={y,z}:max)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_str_eq(canonical(texts[i]), texts[i]);
}
END_TEST

START_TEST(contributions)
{
    ck_assert_str_eq(canonical("P(x, -, unreduced={y})"), "P(x, -, unreduced={y})");
    ck_assert_str_eq(canonical("P(x, unreduced={y}:max)"), "P(x, unreduced={y}:max)");
    ck_assert_str_eq(canonical("P(x, unreduced={ 'y' } : min)"), "P(x, unreduced={y}:min)");
    ck_assert_str_eq(canonical("P(x, unreduced={y}:sum)"), "P(x, unreduced={y})");
    ck_assert_str_eq(canonical("P(unreduced={z,y})"), "P(unreduced={y,z})");
    ck_assert_str_eq(canonical("P(x, unreduced={})"), "P(x)");
    assert_refused("P(x, unreduced={y}:mean)", SPMD_ERR_SYNTAX, "max");
    assert_refused("P(x, unreduced={}:max)", SPMD_ERR_SPEC,
                   "max without unreduced axes: name them, as in unreduced={x}:max");
    ck_assert_str_eq(canonical("P(x, unreduced={}:sum)"), "P(x)");
    assert_refused("P(x, unreduced={y)", SPMD_ERR_SYNTAX, "unreduced={y");
    assert_refused("P(x, unreduced=y)", SPMD_ERR_SYNTAX,
                   "expected { at column 16, as in P(x, unreduced={y})");
    assert_refused("P(unreduced={y}, x)", SPMD_ERR_SYNTAX, "unreduced");
    assert_refused("P(x, unreduced={x})", SPMD_ERR_SPEC, "axis x");
    assert_refused("P(x, unreduced={y,y})", SPMD_ERR_SPEC, "axis y");
    assert_refused("P(x, unreduced={q})", SPMD_ERR_SPEC, "no axis q; name one of its own");
}
END_TEST

START_TEST(bare_tuples_are_ambiguous)
{
    assert_refused("(x,y)", SPMD_ERR_SYNTAX, "ambiguous");
    assert_refused(" ( 'x', 'y' ) ", SPMD_ERR_SYNTAX, "ambiguous");
    assert_refused("(x,y,)", SPMD_ERR_SYNTAX, "P((x,y,))");
    assert_refused("[x,y]", SPMD_ERR_SYNTAX, "P(x,y) for one axis a dimension, or P((x,y))");
    assert_refused("()", SPMD_ERR_SYNTAX, "ambiguous");
    ck_assert_str_eq(canonical("(x,y),"), "P((x,y))");
}
END_TEST

START_TEST(syntax_errors_show_text_and_column)
{
    static const char *const wrong[] = {
        "P(x",      "P(x))", "P(x y)",        "P(x,,y)", "P(,x)",   "P(x,(y)",   "P((y,z)",
        "P('x)",    "P(x')", "P(x, 'y\")",    "P(x;y)",  "P(1)",    "P(x=y)",    "P(x)(y)",
        "P(x) y",   "P",     "Q(x)",          "x y",     "P((,x))", "P((x,,y))", "P(None None)",
        "P(x, [y)", "P(x]",  "PartitionSpec", "P(xy z)", "P(--)",   "P(? ?)",    "x)"};
    struct axes axes = mesh("x=2,y=4,z=3");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct spec spec;
        spmd_status status = spmd__spec_parse(wrong[i], &axes, &spec);
        ck_assert_msg(status == SPMD_ERR_SYNTAX || status == SPMD_ERR_SPEC, "%s is taken",
                      wrong[i]);
        ck_assert_msg(strstr(spmd_error_message(), wrong[i]), "%s: %s", wrong[i],
                      spmd_error_message());
    }
    assert_refused("P(x, ;)", SPMD_ERR_SYNTAX, "column 6");
    struct spec spec;
    ck_assert_int_ne(spmd__spec_parse(NULL, &axes, &spec), SPMD_OK);
}
END_TEST

START_TEST(nested_tuples_are_refused)
{
    assert_refused("P(((x,y),z))", SPMD_ERR_SYNTAX, "P(((x,y),z))");
    assert_refused("P((x,(y,z)))", SPMD_ERR_SYNTAX, "tuple");
    assert_refused("P((x,[y]))", SPMD_ERR_SYNTAX, "tuple");
    assert_refused("P((x,None))", SPMD_ERR_SPEC, "None");
}
END_TEST

START_TEST(errors_name_spec_mesh_axis_and_dims)
{
    struct axes axes = mesh("x=2,y=4");
    struct spec spec;
    ck_assert_int_eq(spmd__spec_parse("P(x,x)", &axes, &spec), SPMD_ERR_SPEC);
    ck_assert_str_eq(spmd_error_message(),
                     "P(x,x) on mesh x=2,y=4: axis x lies along dims 0 and 1; leave it out of one");
    ASSERT_FAILS(spmd__spec_parse("P(y, -, (x,y))", &axes, &spec), SPMD_ERR_SPEC,
                 "P(y, -, (x,y)) on mesh x=2,y=4: axis y lies along dims 0 and 2");
    ASSERT_FAILS(spmd__spec_parse("P(-, (y,y))", &axes, &spec), SPMD_ERR_SPEC, "axis y");
    ASSERT_FAILS(spmd__spec_parse("P(-, (y,y))", &axes, &spec), SPMD_ERR_SPEC,
                 "dim 1; leave one out");
    ASSERT_FAILS(spmd__spec_parse("P(q)", &axes, &spec), SPMD_ERR_SPEC,
                 "no axis q; name one of its own");
    ASSERT_FAILS(spmd__spec_parse("P(q)", &axes, &spec), SPMD_ERR_SPEC, "mesh x=2,y=4");
}
END_TEST

START_TEST(axes_may_have_the_grammars_names)
{
    struct axes axes = mesh("P=2,None_=2,unreduced=3,max=2");
    struct spec spec;
    ASSERT_OK(spmd__spec_parse("P(P, unreduced, None_, max)", &axes, &spec));
    ck_assert_int_eq(spec.ndim, 4);
    ASSERT_OK(spmd__spec_parse("P, max", &axes, &spec));
    ck_assert_int_eq(spec.ndim, 2);
    ck_assert_uint_eq(spec.unreduced, 0);
}
END_TEST

START_TEST(specs_have_limits)
{
    struct axes axes = mesh("x=2");
    struct spec spec;
    ASSERT_OK(spmd__spec_parse("P(-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,x)", &axes, &spec));
    ck_assert_int_eq(spec.ndim, SPMD_MAX_DIMS);
    ck_assert_int_eq(spmd__spec_entry(&spec, SPMD_MAX_DIMS - 1).count, 1);
    ck_assert_int_ne(spmd__spec_parse("P(-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,-,x)", &axes, &spec),
                     SPMD_OK);
    axes = mesh("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=2");
    ASSERT_OK(spmd__spec_parse("P((a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p))", &axes, &spec));
    ck_assert_int_eq(spmd__spec_entry(&spec, 0).count, SPMD_MAX_AXES);
    ck_assert_uint_eq(spmd__spec_used(&spec), 0xffff);
}
END_TEST

START_TEST(entries_keep_their_order)
{
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec spec;
    ASSERT_OK(spmd__spec_parse("P(-, (z,x), ?)", &axes, &spec));
    ck_assert_int_eq(spec.ndim, 3);
    ck_assert_int_eq(spmd__spec_entry(&spec, 0).count, 0);
    struct axis_list entry = spmd__spec_entry(&spec, 1);
    ck_assert(entry.count == 2 && entry.axis[0] == 2 && entry.axis[1] == 0);
    ck_assert_int_eq(spmd__spec_entry(&spec, 2).count, 0);
    ck_assert_int_eq(spmd__spec_entry(&spec, 9).count, 0);
    ck_assert_uint_eq(spec.open, 4);
    ck_assert_uint_eq(spmd__spec_used(&spec), 5);
}
END_TEST

START_TEST(equal_specs)
{
    static const char *const texts[] = {"P()",         "P(-)",
                                        "P(x)",        "P(x, -)",
                                        "P(?)",        "P((x,y))",
                                        "P((y,x))",    "P(x, y)",
                                        "P(-, x)",     "P(unreduced={x})",
                                        "P(x, (y,z))", "P(unreduced={x}:max)",
                                        "P((x,y), z)", "P(unreduced={x,y})"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec a, b;
    for (int i = 0; i < TEXTS; i++)
        for (int j = 0; j < TEXTS; j++) {
            ASSERT_OK(spmd__spec_parse(texts[i], &axes, &a));
            ASSERT_OK(spmd__spec_parse(texts[j], &axes, &b));
            ck_assert_msg(spmd__spec_equal(&a, &b) == (i == j), "%s, %s", texts[i], texts[j]);
        }
}
END_TEST

/* Entries make what their text says. */
START_TEST(specs_of_entries)
{
    const char *const entries[] = {NULL, "z,x", "?", "", "(y)"};
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec made, read;
    ASSERT_OK(spmd__spec_make(5, entries, NULL, SPMD_SUM, &axes, &made));
    ASSERT_OK(spmd__spec_parse("P(-, (z,x), ?, -, y)", &axes, &read));
    ck_assert(spmd__spec_equal(&made, &read));
    ASSERT_OK(spmd__spec_make(2, entries, "y", SPMD_MIN, &axes, &made));
    ASSERT_OK(spmd__spec_parse("P(-, (z,x), unreduced={y}:min)", &axes, &read));
    ck_assert(spmd__spec_equal(&made, &read));
    ASSERT_FAILS(spmd__spec_make(2, entries, "x", SPMD_SUM, &axes, &made), SPMD_ERR_SPEC,
                 "P(-, (z,x), unreduced={x}) on mesh x=2,y=4,z=3: axis x is unreduced and lies "
                 "along dim 1");
}
END_TEST

/* Reads two specs on x=2,y=4,z=3, renames the second one, joins them and prints the result. */
static const char *joined(const char *major, const char *minor, const int to[SPMD_MAX_AXES])
{
    static char buffer[512];
    struct axes axes = mesh("x=2,y=4,z=3");
    struct spec specs[2];
    ASSERT_OK(spmd__spec_parse(major, &axes, &specs[0]));
    ASSERT_OK(spmd__spec_parse(minor, &axes, &specs[1]));
    specs[1] = spmd__spec_rename(&specs[1], to);
    struct spec spec = spmd__spec_join(&specs[0], &specs[1]);
    struct text out = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&out, &axes, &spec);
    return buffer;
}

START_TEST(axes_of_two_specs_follow_each_other)
{
    const int same[SPMD_MAX_AXES] = {0, 1, 2}, without_x[SPMD_MAX_AXES] = {-1, 1, 2};
    const int turned[SPMD_MAX_AXES] = {1, 2, 0};
    ck_assert_str_eq(joined("P(x)", "P((y,z))", same), "P((x,y,z))");
    ck_assert_str_eq(joined("P(x)", "P((z,y))", same), "P((x,z,y))");
    ck_assert_str_eq(joined("P(-, x)", "P(z, y, -)", same), "P(z, (x,y), -)");
    ck_assert_str_eq(joined("P(-, -)", "P(y)", same), "P(y, -)");
    ck_assert_str_eq(joined("P()", "P()", same), "P()");
    ck_assert_str_eq(joined("P()", "P((y,x), z)", without_x), "P(y, z)");
    ck_assert_str_eq(joined("P(-, x)", "P(x, -)", without_x), "P(-, x)");
    ck_assert_str_eq(joined("P()", "P((x,z), y)", turned), "P((y,x), z)");
    ck_assert_str_eq(joined("P(x, unreduced={z})", "P(y)", same), "P((x,y), unreduced={z})");
}
END_TEST

UNIT_MAIN("spec", equal_specs, specs_of_entries, axes_of_two_specs_follow_each_other,
          specs_in_every_form, canonical_text_reads_back, contributions, bare_tuples_are_ambiguous,
          syntax_errors_show_text_and_column, nested_tuples_are_refused,
          errors_name_spec_mesh_axis_and_dims, axes_may_have_the_grammars_names, specs_have_limits,
          entries_keep_their_order)
