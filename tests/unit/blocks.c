/* blocks.c - unit tests of the distinct blocks of a layout, and of who holds them. */
#include <string.h>

#include "core/blocks.h"
#include "unit.h"

struct fixture {
    struct axes axes;
    struct spec spec;
    struct blocks blocks;
};

static void make(struct fixture *fixture, const char *mesh, const char *spec, spmd_shape shape)
{
    ASSERT_OK(spmd__axes_parse(mesh, 0, &fixture->axes));
    ASSERT_OK(spmd__spec_parse(spec, &fixture->axes, &fixture->spec));
    ASSERT_OK(spmd__blocks_find(&fixture->axes, &fixture->spec, shape, &fixture->blocks));
}

static void expect_holders(const struct fixture *fixture, int64_t i, int64_t j, int width,
                           const char *wanted)
{
    char list[128];
    int64_t index[SPMD_MAX_DIMS] = {i, j};
    spmd__blocks_holders(&fixture->blocks, index, width, list, sizeof list);
    ck_assert_str_eq(list, wanted);
}

START_TEST(counts_what_is_not_empty)
{
    struct fixture f;
    make(&f, "x=4,y=2", "P(x,-)", SPMD_SHAPE(3, 5));
    ck_assert_int_eq(f.blocks.count, 3);
    ck_assert_int_eq(f.blocks.replicas, 2);
    ck_assert_int_eq(f.blocks.ranks, 8);
    ck_assert(spmd_shape_equal(spmd__blocks_largest(&f.blocks), SPMD_SHAPE(1, 5)));
    make(&f, "x=2,y=2", "P((x,y))", SPMD_SHAPE(6));
    ck_assert(spmd_shape_equal(spmd__blocks_largest(&f.blocks), SPMD_SHAPE(2)));
    ck_assert(spmd_shape_equal(spmd__blocks_smallest(&f.blocks), SPMD_SHAPE(1)));
    make(&f, "x=2", "P(x)", SPMD_SHAPE(0));
    ck_assert_int_eq(f.blocks.count, 0);
    make(&f, "x=2", "P()", SPMD_SCALAR);
    ck_assert_int_eq(f.blocks.count, 1);
}
END_TEST

START_TEST(too_many_elements)
{
    struct fixture f;
    make(&f, "x=2", "P(x)", SPMD_SHAPE(1));
    ASSERT_FAILS(spmd__blocks_find(&f.axes, &f.spec, SPMD_SHAPE(INT64_C(1) << 32, INT64_C(1) << 32),
                                   &f.blocks),
                 SPMD_ERR_SHAPE, "elements");
}
END_TEST

START_TEST(holders_are_runs)
{
    struct fixture f;
    make(&f, "x=2,y=3", "P(x)", SPMD_SHAPE(4));
    expect_holders(&f, 1, 0, 40, "3-5");
    make(&f, "x=2,y=3", "P(y)", SPMD_SHAPE(4));
    expect_holders(&f, 2, 0, 40, "2,5");
    make(&f, "x=8,y=2,z=4", "P(y)", SPMD_SHAPE(4));
    expect_holders(&f, 1, 0, 80, "4-7,12-15,20-23,28-31,36-39,44-47,52-55,60-63");
    expect_holders(&f, 1, 0, 20, "4-7,12-15,...,60-63");
    expect_holders(&f, 1, 0, 1, "4-7,...,60-63");
}
END_TEST

/* Blocks that are one row each lie at the ranks that are not empty. */
START_TEST(empty_ranks_are_skipped)
{
    struct fixture f;
    make(&f, "x=2,y=3", "P((x,y))", SPMD_SHAPE(4));
    const char *const wanted[] = {"0", "1", "3", "4"};
    for (int i = 0; i < 4; i++)
        expect_holders(&f, i, 0, 40, wanted[i]);
}
END_TEST

START_TEST(tracks_leave_out_the_middle)
{
    struct fixture f;
    struct track track[7];
    make(&f, "x=5", "P(x)", SPMD_SHAPE(7));
    ck_assert_int_eq(spmd__blocks_tracks(&f.blocks, 0, 7, track), 5);
    ck_assert(track[1].lo == 2 && track[1].hi == 4 && !track[1].gap);
    ck_assert(track[4].lo == 6 && track[4].hi == 7);
    make(&f, "x=1000000000", "P(x)", SPMD_SHAPE(2000000000));
    ck_assert_int_eq(spmd__blocks_tracks(&f.blocks, 0, 7, track), 7);
    ck_assert(track[2].index == 2 && track[3].gap && track[4].index == 999999997);
    ck_assert(track[6].lo == 1999999998 && track[6].hi == 2000000000);
    ck_assert_int_eq(spmd__blocks_tracks(&f.blocks, -1, 7, track), 1);
    ck_assert(track[0].lo == 0 && track[0].hi == 1);
}
END_TEST

START_TEST(slices_of_leading_dimensions)
{
    struct fixture f;
    int64_t index[SPMD_MAX_DIMS], seen = 0;
    char place[64];
    make(&f, "x=3,y=4", "P(x,y,-,-)", SPMD_SHAPE(6, 4, 2, 2));
    ck_assert_int_eq(spmd__blocks_slices(&f.blocks), 12);
    spmd__blocks_slice(&f.blocks, 7, index);
    ck_assert(index[0] == 1 && index[1] == 3 && index[2] == 0 && index[3] == 0);
    struct text text = spmd__text_begin(place, sizeof place);
    spmd__blocks_print_slice(&text, &f.blocks, index);
    ck_assert_str_eq(place, "[2:4, 3:4, :, :]");
    for (int64_t i = 0; i < 12; i = spmd__blocks_next_slice(&f.blocks, i, 4))
        seen = seen * 100 + i;
    ck_assert_int_eq(seen, 11011); /* 0, 1, 10, 11 */
}
END_TEST

UNIT_MAIN("blocks", counts_what_is_not_empty, too_many_elements, holders_are_runs,
          empty_ranks_are_skipped, tracks_leave_out_the_middle, slices_of_leading_dimensions)
