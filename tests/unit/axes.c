/* axes.c - unit tests of meshes without ranks: their text, positions, groups. */
#include "core/axes.h"
#include "unit.h"

START_TEST(mesh_text_round_trips)
{
    static const char *const texts[][2] = {
        {"x=4", "x=4"},
        {"x=4,y=2", "x=4,y=2"},
        {" x = 4 , y\t=2 ", "x=4,y=2"},
        {"data=1,model_2=1", "data=1,model_2=1"},
        {"x=*", "x=8"},
        {"x=*,y=2", "x=4,y=2"},
        {"x=2,y=*,z=2", "x=2,y=2,z=2"},
        {"x=8,y=*", "x=8,y=1"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct axes axes;
        ASSERT_OK(spmd__axes_parse(texts[i][0], 8, &axes));
        struct axes_text text = spmd__axes_text(&axes);
        ck_assert_str_eq(text.text, texts[i][1]);
    }
}
END_TEST

START_TEST(an_open_size_is_a_star)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse_open("x=4, y = *", &axes));
    ck_assert_int_eq(axes.size[1], SPMD_INFER);
    struct axes_text text = spmd__axes_text(&axes);
    ck_assert_str_eq(text.text, "x=4,y=*");
}
END_TEST

START_TEST(mesh_syntax_errors_show_the_text)
{
    static const char *const wrong[] = {"",         "x",     "x=",    "=4",      "x=4,",
                                        "x=4 y=2",  "4=x",   "x=4;y", "x=-4",    "x==4",
                                        "x=4,,y=2", "x=4.0", "x=**",  "x=4,y=?", "x-1=2"};
    struct axes axes = {.count = 1, .size = {7}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_FAILS(spmd__axes_parse(wrong[i], 8, &axes), SPMD_ERR_SYNTAX, wrong[i]);
    ck_assert_int_ne(spmd__axes_parse(NULL, 8, &axes), SPMD_OK);
    ASSERT_FAILS(spmd__axes_parse("x=4,None=2", 8, &axes), SPMD_ERR_SYNTAX, "None is no name");
    ck_assert(axes.count == 1 && axes.size[0] == 7);
}
END_TEST

START_TEST(mesh_errors_name_the_axis)
{
    struct axes axes;
    ASSERT_FAILS(spmd__axes_parse("x=4,x=2", 8, &axes), SPMD_ERR_MESH, "two axes named x");
    ASSERT_FAILS(spmd__axes_parse("x=4,y=0", 8, &axes), SPMD_ERR_MESH, "y");
    ASSERT_FAILS(spmd__axes_parse("x=*,y=*", 8, &axes), SPMD_ERR_MESH, "x=*,y=*");
    ASSERT_FAILS(spmd__axes_parse("x=3,y=*", 8, &axes), SPMD_ERR_MESH,
                 "mesh x=3,y=* needs a multiple of 3 ranks, this job has 8: mpirun -n 9 ");
    ASSERT_FAILS(spmd__axes_parse("x=16,y=*", 8, &axes), SPMD_ERR_MESH,
                 "mesh x=16,y=* needs a multiple of 16 ranks, this job has 8: mpirun -n 16 ");
    ASSERT_FAILS(spmd__axes_parse("x=*", 0, &axes), SPMD_ERR_MESH, "x");
    ASSERT_FAILS(spmd__axes_parse("x=4294967296,y=4294967296", 8, &axes), SPMD_ERR_MESH,
                 "x=4294967296");
    ck_assert_int_ne(spmd__axes_parse("x=9223372036854775808", 8, &axes), SPMD_OK);
}
END_TEST

START_TEST(mesh_limits)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=2", 2,
                               &axes));
    ck_assert_int_eq(axes.count, SPMD_MAX_AXES);
    ASSERT_FAILS(spmd__axes_parse("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,"
                                  "p=1,q=1",
                                  2, &axes),
                 SPMD_ERR_MESH, "16");
    ASSERT_OK(spmd__axes_parse("a234567890123456789012345678901=2", 2, &axes));
    ck_assert_uint_eq(strlen(axes.name[0]), SPMD_MAX_NAME - 1);
    ck_assert_int_ne(spmd__axes_parse("a2345678901234567890123456789012=2", 2, &axes), SPMD_OK);
    ASSERT_OK(spmd__axes_parse("x=1000000,y=1000000", 0, &axes));
    ck_assert_int_eq(spmd__axes_total(&axes), INT64_C(1000000000000));
}
END_TEST

START_TEST(mesh_of_names_and_sizes)
{
    struct axes axes, parsed;
    const char *names[] = {"x", "y"};
    ASSERT_OK(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes));
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 8, &parsed));
    ck_assert(spmd__axes_equal(&axes, &parsed));
    ASSERT_OK(spmd__axes_make(2, names, (int64_t[]){-1, 2}, 8, &axes));
    ck_assert(spmd__axes_equal(&axes, &parsed));
    ck_assert_int_ne(spmd__axes_make(2, names, (int64_t[]){-1, -1}, 8, &axes), SPMD_OK);
    ck_assert_int_ne(spmd__axes_make(2, names, (int64_t[]){-2, 2}, 8, &axes), SPMD_OK);
    ck_assert_int_ne(spmd__axes_make(2, names, (int64_t[]){0, 2}, 8, &axes), SPMD_OK);
    ck_assert_int_ne(spmd__axes_make(17, names, (int64_t[]){1, 1}, 8, &axes), SPMD_OK);
    ck_assert_int_ne(spmd__axes_make(2, NULL, (int64_t[]){1, 1}, 8, &axes), SPMD_OK);
    names[1] = "x";
    ASSERT_FAILS(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes), SPMD_ERR_MESH, "x");
    names[1] = "no name";
    ASSERT_FAILS(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes), SPMD_ERR_SYNTAX,
                 "no name");
    names[1] = "None";
    ASSERT_FAILS(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes), SPMD_ERR_SYNTAX,
                 "None is no name");
    names[1] = "";
    ck_assert_int_ne(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes), SPMD_OK);
    names[1] = NULL;
    ck_assert_int_ne(spmd__axes_make(2, names, (int64_t[]){4, 2}, 8, &axes), SPMD_OK);
}
END_TEST

START_TEST(meshes_compare)
{
    struct axes a, b;
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 0, &a));
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 0, &b));
    ck_assert(spmd__axes_equal(&a, &b));
    ASSERT_OK(spmd__axes_parse("x=2,y=4", 0, &b));
    ck_assert(!spmd__axes_equal(&a, &b));
    ASSERT_OK(spmd__axes_parse("y=4,x=2", 0, &b));
    ck_assert(!spmd__axes_equal(&a, &b));
    ASSERT_OK(spmd__axes_parse("x=4", 0, &b));
    ck_assert(!spmd__axes_equal(&a, &b));
}
END_TEST

START_TEST(axes_are_found_by_whole_name)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("data=2,d=3", 0, &axes));
    ck_assert_int_eq(spmd__axes_find(&axes, "data", 4), 0);
    ck_assert_int_eq(spmd__axes_find(&axes, "data", 1), 1);
    ck_assert_int_eq(spmd__axes_find(&axes, "dat", 3), -1);
    ck_assert_int_eq(spmd__axes_find(&axes, "", 0), -1);
}
END_TEST

START_TEST(positions_are_row_major)
{
    struct axes axes;
    int64_t coordinates[SPMD_MAX_AXES];
    ASSERT_OK(spmd__axes_parse("x=4,y=2,z=3", 0, &axes));
    ck_assert_int_eq(spmd__axes_total(&axes), 24);
    for (int64_t position = 0; position < 24; position++) {
        spmd__axes_coordinates(&axes, position, coordinates);
        ck_assert_int_eq(coordinates[0], position / 6);
        ck_assert_int_eq(coordinates[1], position / 3 % 2);
        ck_assert_int_eq(coordinates[2], position % 3);
        ck_assert_int_eq(spmd__axes_position(&axes, coordinates), position);
    }
}
END_TEST

static struct axis_list list_of(const struct axes *axes, const char *text)
{
    struct axis_list list = {0};
    ASSERT_OK(spmd__axis_list_parse(text, axes, &list));
    return list;
}

START_TEST(axis_lists_parse)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 0, &axes));
    ck_assert_int_eq(list_of(&axes, "").count, 0);
    ck_assert_int_eq(list_of(&axes, "()").count, 0);
    ck_assert_int_eq(list_of(&axes, "x").count, 1);
    struct axis_list xy = list_of(&axes, " x , y "), yx = list_of(&axes, "(y,x)");
    ck_assert(xy.count == 2 && xy.axis[0] == 0 && xy.axis[1] == 1);
    ck_assert(yx.count == 2 && yx.axis[0] == 1 && yx.axis[1] == 0);
    struct axis_list again = list_of(&axes, "(x,y)");
    ck_assert(spmd__axis_list_equal(&xy, &again));
    ck_assert(!spmd__axis_list_equal(&xy, &yx));
}
END_TEST

START_TEST(axis_list_errors_name_axis_and_mesh)
{
    struct axes axes;
    struct axis_list list = {.count = 1, .axis = {1}};
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 0, &axes));
    ASSERT_FAILS(spmd__axis_list_parse("q", &axes, &list), SPMD_ERR_MESH,
                 "axes \"q\" on mesh x=4,y=2: the mesh has no axis q; name one of its own");
    ASSERT_FAILS(spmd__axis_list_parse("x,x", &axes, &list), SPMD_ERR_MESH, "twice");
    ASSERT_FAILS(spmd__axis_list_parse("x,", &axes, &list), SPMD_ERR_SYNTAX, "x,");
    ASSERT_FAILS(spmd__axis_list_parse("(x", &axes, &list), SPMD_ERR_SYNTAX, "(x");
    ASSERT_FAILS(spmd__axis_list_parse("x)", &axes, &list), SPMD_ERR_SYNTAX, "x)");
    ASSERT_FAILS(spmd__axis_list_parse("x y", &axes, &list), SPMD_ERR_SYNTAX, "x y");
    ck_assert_int_ne(spmd__axis_list_parse(NULL, &axes, &list), SPMD_OK);
    ck_assert(list.count == 1 && list.axis[0] == 1);
}
END_TEST

START_TEST(axis_lists_print)
{
    static const char *const texts[][2] = {{"x", "x"}, {"x,y", "(x,y)"}, {"y,x", "(y,x)"}};
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("x=4,y=2", 0, &axes));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char buffer[32];
        struct text text = spmd__text_begin(buffer, sizeof buffer);
        struct axis_list list = list_of(&axes, texts[i][0]);
        spmd__axis_list_print(&text, &axes, &list);
        ck_assert_str_eq(buffer, texts[i][1]);
    }
}
END_TEST

START_TEST(masks_list_axes_in_mesh_order)
{
    struct axis_list list = spmd__axis_list_of_mask(UINT32_C(1) << 15 | 5);
    ck_assert(list.count == 3 && list.axis[0] == 0 && list.axis[1] == 2 && list.axis[2] == 15);
    ck_assert_int_eq(spmd__axis_list_of_mask(0).count, 0);
}
END_TEST

START_TEST(groups_follow_the_order_of_their_axes)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("x=4,y=2,z=3", 0, &axes));
    struct axis_list yx = list_of(&axes, "y,x"), none = list_of(&axes, "");
    ck_assert_int_eq(spmd__axis_list_size(&axes, &yx), 8);
    ck_assert_int_eq(spmd__axis_list_size(&axes, &none), 1);
    for (int64_t position = 0; position < 24; position++) {
        int64_t x = position / 6, y = position / 3 % 2, z = position % 3;
        ck_assert_int_eq(spmd__axis_list_index(&axes, &yx, position), y * 4 + x);
        ck_assert_int_eq(spmd__axis_list_index(&axes, &none, position), 0);
        ck_assert_int_eq(spmd__axis_list_member(&axes, &none, position, 0), position);
        for (int64_t index = 0; index < 8; index++)
            ck_assert_int_eq(spmd__axis_list_member(&axes, &yx, position, index),
                             (index % 4) * 6 + (index / 4) * 3 + z);
    }
}
END_TEST

START_TEST(coordinates_along_some_axes)
{
    struct axes axes;
    ASSERT_OK(spmd__axes_parse("a=2,b=3,c=1,d=4,e=5", 0, &axes));
    for (int64_t position = 0; position < 120; position++) {
        int64_t all[SPMD_MAX_AXES];
        spmd__axes_coordinates(&axes, position, all);
        for (uint32_t mask = 0; mask < 32; mask++) {
            int64_t some[SPMD_MAX_AXES] = {-7, -7, -7, -7, -7};
            spmd__axes_coordinates_along(&axes, mask, position, some);
            for (int a = 0; a < 5; a++)
                ck_assert_int_eq(some[a], mask >> a & 1 ? all[a] : -7);
        }
    }
}
END_TEST

UNIT_MAIN("axes", coordinates_along_some_axes, mesh_text_round_trips, an_open_size_is_a_star,
          mesh_syntax_errors_show_the_text, mesh_errors_name_the_axis, mesh_limits,
          mesh_of_names_and_sizes, meshes_compare, axes_are_found_by_whole_name,
          positions_are_row_major, axis_lists_parse, axis_list_errors_name_axis_and_mesh,
          axis_lists_print, masks_list_axes_in_mesh_order, groups_follow_the_order_of_their_axes)
