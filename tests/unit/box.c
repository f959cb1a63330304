/* box.c - unit tests of boxes. */
#include "core/box.h"
#include "unit.h"

static spmd_box make(int64_t lo0, int64_t hi0, int64_t lo1, int64_t hi1)
{
    return (spmd_box){.ndim = 2, .lo = {lo0, lo1}, .hi = {hi0, hi1}};
}

START_TEST(boxes_have_shapes)
{
    spmd_box box = make(2, 5, 7, 7), whole = spmd_box_whole(SPMD_SHAPE(8, 4));
    ck_assert(spmd_shape_equal(spmd_box_shape(&box), SPMD_SHAPE(3, 0)));
    ck_assert_int_eq(spmd_box_size(&box), 0);
    ck_assert(spmd_shape_equal(spmd_box_shape(&whole), SPMD_SHAPE(8, 4)));
    ck_assert_int_eq(whole.lo[0], 0);
    ck_assert_int_eq(spmd_box_size(&whole), 32);
    spmd_box scalar = spmd_box_whole(SPMD_SCALAR);
    ck_assert_int_eq(spmd_box_size(&scalar), 1);
}
END_TEST

START_TEST(big_boxes_have_big_sizes)
{
    int64_t million = 1000000;
    spmd_box box = make(million, 4 * million, -million, million);
    ck_assert_int_eq(spmd_box_size(&box), 6 * million * million);
    box = make(0, INT64_MAX, 0, 2);
    ck_assert_int_eq(spmd_box_size(&box), -1);
}
END_TEST

START_TEST(cuts_are_the_common_part)
{
    spmd_box a = make(0, 4, 0, 4), b = make(2, 6, 1, 3), common;
    ck_assert(spmd__box_intersect(&a, &b, &common));
    ck_assert(common.ndim == 2 && common.lo[0] == 2 && common.hi[0] == 4 && common.lo[1] == 1 &&
              common.hi[1] == 3);
    ck_assert(spmd__box_intersect(&b, &a, &common));
    ck_assert(common.lo[0] == 2 && common.hi[0] == 4);
    ck_assert(spmd__box_intersect(&a, &a, &a));
    ck_assert(a.lo[0] == 0 && a.hi[0] == 4);
}
END_TEST

START_TEST(cuts_may_be_empty)
{
    spmd_box a = make(0, 4, 0, 4), beside = make(4, 6, 0, 4), empty = make(2, 2, 0, 4), common;
    ck_assert(!spmd__box_intersect(&a, &beside, &common));
    ck_assert(!spmd__box_intersect(&a, &empty, &common));
    spmd_box far = make(9, 12, 9, 12);
    ck_assert(!spmd__box_intersect(&a, &far, &common));
    spmd_box scalar = spmd_box_whole(SPMD_SCALAR);
    ck_assert(spmd__box_intersect(&scalar, &scalar, &common));
}
END_TEST

START_TEST(boxes_lie_inside)
{
    spmd_box outer = make(0, 4, 0, 4), inner = make(1, 3, 0, 4), out = make(1, 5, 0, 4);
    spmd_box empty = make(9, 9, 0, 4), row = {.ndim = 1, .hi = {1}};
    ck_assert(spmd__box_is_inside(&inner, &outer));
    ck_assert(spmd__box_is_inside(&outer, &outer));
    ck_assert(!spmd__box_is_inside(&outer, &inner));
    ck_assert(!spmd__box_is_inside(&out, &outer));
    ck_assert(spmd__box_is_inside(&empty, &outer));
    ck_assert(!spmd__box_is_inside(&row, &outer));
}
END_TEST

UNIT_MAIN("box", boxes_have_shapes, big_boxes_have_big_sizes, cuts_are_the_common_part,
          cuts_may_be_empty, boxes_lie_inside)
