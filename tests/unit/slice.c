/* slice.c - unit tests of the parts of a mesh at fixed coordinates. */
#include "core/slice.h"
#include "unit.h"

static struct axes axes_of(const char *text)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse(text, 0, &axes));
    return axes;
}

/* The part has these axes, and its positions are those of the mesh with these coordinates. */
static void check_slice(const struct axes *axes, const char *text, const char *left,
                        const int64_t fixed[])
{
    struct slice slice;
    ASSERT_OK(spmd__slice_parse(text, axes, &slice));
    struct axes_text rest = spmd__axes_text(&slice.axes);
    ck_assert_str_eq(rest.text, left);
    int64_t found = 0;
    for (int64_t p = 0; p < spmd__axes_total(axes); p++) {
        int64_t coordinates[SPMD_MAX_AXES];
        spmd__axes_coordinates(axes, p, coordinates);
        bool inside = true;
        for (int a = 0; a < axes->count; a++)
            inside = inside && (fixed[a] < 0 || coordinates[a] == fixed[a]);
        if (inside)
            ck_assert_int_eq(spmd__slice_position(&slice, axes, found++), p);
    }
    ck_assert_int_eq(found, spmd__axes_total(&slice.axes));
}

START_TEST(other_axes_stay_in_order)
{
    struct axes axes = axes_of("x=4,y=2,z=3");
    check_slice(&axes, "x=3", "y=2,z=3", (int64_t[]){3, -1, -1});
    check_slice(&axes, "y=1", "x=4,z=3", (int64_t[]){-1, 1, -1});
    check_slice(&axes, " z = 0 , x = 2 ", "y=2", (int64_t[]){2, -1, 0});
    check_slice(&axes, "", "x=4,y=2,z=3", (int64_t[]){-1, -1, -1});
}
END_TEST

START_TEST(the_last_one_fixed_stays_where_none_is_left)
{
    struct axes axes = axes_of("x=4,y=2,z=3");
    check_slice(&axes, "x=3,y=1,z=2", "z=1", (int64_t[]){3, 1, 2});
    check_slice(&axes, "z=2,y=1,x=0", "x=1", (int64_t[]){0, 1, 2});
}
END_TEST

START_TEST(a_part_of_many_positions_is_arithmetic)
{
    struct axes axes = axes_of("x=1000000000,y=1000,z=1000");
    struct slice slice;
    ASSERT_OK(spmd__slice_parse("y=7", &axes, &slice));
    ck_assert_int_eq(spmd__slice_position(&slice, &axes, 999999999999),
                     999999999 * INT64_C(1000000) + 7 * 1000 + 999);
}
END_TEST

START_TEST(errors_name_text_and_axis)
{
    struct axes axes = axes_of("x=4,y=2");
    struct slice slice = {.origin = 7};
    static const char *const wrong[] = {"x", "x=", "=1", "x=-1", "x=*", "x=1,", "x=1 y=0", "4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(spmd__slice_parse(wrong[i], &axes, &slice), SPMD_ERR_SYNTAX, wrong[i]);
    ASSERT_FAILS(
        spmd__slice_parse("q=0", &axes, &slice), SPMD_ERR_MESH,
        "coordinates \"q=0\" on mesh x=4,y=2: the mesh has no axis q; name one of its own");
    ASSERT_FAILS(spmd__slice_parse("x=0,x=1", &axes, &slice), SPMD_ERR_MESH,
                 "axis x is given twice");
    ASSERT_FAILS(spmd__slice_parse("y=2", &axes, &slice), SPMD_ERR_MESH,
                 "along axis y there is no coordinate 2, only 0 to 1");
    ASSERT_FAILS(spmd__slice_parse(NULL, &axes, &slice), SPMD_ERR_ARGUMENT, "no text");
    ck_assert_int_eq(slice.origin, 7);
}
END_TEST

UNIT_MAIN("slice", other_axes_stay_in_order, the_last_one_fixed_stays_where_none_is_left,
          a_part_of_many_positions_is_arithmetic, errors_name_text_and_axis)
