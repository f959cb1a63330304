/* cover.c - unit tests of the check that parts cover a block exactly once. */
#include "core/cover.h"
#include "unit.h"

/* Marks `count` elements, `stride` apart, from `first` on. */
static void mark(struct cover *cover, int64_t first, int64_t count, int64_t stride)
{
    struct view part = {.ndim = 1, .extent = {count}, .stride = {stride}};
    spmd__cover_mark(cover, first, &part);
}

static struct cover begin(int64_t size)
{
    struct cover cover;
    ASSERT_OK(spmd__cover_begin(size, &cover));
    return cover;
}

START_TEST(whole_runs_cover)
{
    static const int64_t sizes[] = {1, 63, 64, 65, 128, 1000};
    for (int i = 0; i < 6; i++)
        for (int64_t cut = 0; cut <= sizes[i]; cut += 1 + sizes[i] / 9) {
            struct cover cover = begin(sizes[i]);
            mark(&cover, 0, cut, 1);
            ck_assert_int_eq(spmd__cover_first_wrong(&cover), cut);
            mark(&cover, cut, sizes[i] - cut, 1);
            ck_assert_int_eq(spmd__cover_first_wrong(&cover), sizes[i]);
            spmd__cover_end(&cover);
        }
}
END_TEST

START_TEST(the_first_gap_is_found)
{
    struct cover cover = begin(200);
    mark(&cover, 0, 130, 1);
    mark(&cover, 131, 69, 1);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 130);
    mark(&cover, 140, 5, 1); /* twice, but after the gap */
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 130);
    mark(&cover, 130, 1, 1);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 140);
    mark(&cover, 7, 1, 1);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 7);
    spmd__cover_end(&cover);
}
END_TEST

START_TEST(strided_parts_interleave)
{
    struct cover cover = begin(100);
    mark(&cover, 0, 34, 3);
    mark(&cover, 2, 33, 3);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 1);
    mark(&cover, 1, 33, 3);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 100);
    spmd__cover_end(&cover);
}
END_TEST

START_TEST(parts_have_dimensions)
{
    struct cover cover = begin(6 * 20);
    struct view left = {.ndim = 2, .extent = {6, 7}, .stride = {20, 1}};
    struct view right = {.ndim = 2, .extent = {6, 13}, .stride = {20, 1}};
    spmd__cover_mark(&cover, 0, &left);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 7);
    spmd__cover_mark(&cover, 7, &right);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 120);
    spmd__cover_end(&cover);
}
END_TEST

START_TEST(scalars_and_nothing)
{
    struct cover cover = begin(1);
    struct view scalar = {.ndim = 0};
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 0);
    spmd__cover_mark(&cover, 0, &scalar);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 1);
    spmd__cover_mark(&cover, 0, &scalar);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 0);
    spmd__cover_end(&cover);
    cover = begin(0);
    ck_assert_int_eq(spmd__cover_first_wrong(&cover), 0);
    spmd__cover_end(&cover);
}
END_TEST

UNIT_MAIN("cover", whole_runs_cover, the_first_gap_is_found, strided_parts_interleave,
          parts_have_dimensions, scalars_and_nothing)
