/* overlap.c - unit tests of the search for boxes that meet a box. */
#include "core/box.h"
#include "core/overlap.h"
#include "unit.h"

/* What a search is to find, and has found. */
struct found {
    struct axes axes;
    struct spec spec;
    spmd_shape shape;
    spmd_box box;
    int64_t count;
    bool seen[512];
};

static spmd_status check_visit(int64_t position, const spmd_box *common, void *user)
{
    struct found *found = user;
    spmd_box box = spmd__layout_box(&found->axes, &found->spec, found->shape, position), wanted;
    ck_assert(spmd__box_intersect(&box, &found->box, &wanted));
    for (int d = 0; d < found->shape.ndim; d++)
        ck_assert(wanted.lo[d] == common->lo[d] && wanted.hi[d] == common->hi[d]);
    ck_assert(!found->seen[position]);
    found->seen[position] = true;
    found->count++;
    return SPMD_OK;
}

static void make(struct found *found, const char *mesh, const char *spec, spmd_shape shape,
                 spmd_box box)
{
    *found = (struct found){.shape = shape, .box = box};
    ASSERT_OK(spmd__axes_parse(mesh, 0, &found->axes));
    ASSERT_OK(spmd__spec_parse(spec, &found->axes, &found->spec));
}

static bool same_along(const struct axes *axes, uint32_t mask, int64_t a, int64_t b)
{
    struct axis_list list = spmd__axis_list_of_mask(mask);
    return spmd__axis_list_index(axes, &list, a) == spmd__axis_list_index(axes, &list, b);
}

/* Compares with asking every position. */
static void check(struct found *found, int64_t home, uint32_t fixed)
{
    int64_t count = 0;
    ASSERT_OK(spmd__overlap_each(&found->axes, &found->spec, found->shape, &found->box, home, fixed,
                                 check_visit, found));
    for (int64_t p = 0; p < spmd__axes_total(&found->axes); p++) {
        spmd_box box = spmd__layout_box(&found->axes, &found->spec, found->shape, p), common;
        bool meets = spmd__box_intersect(&box, &found->box, &common) &&
                     same_along(&found->axes, fixed, p, home);
        ck_assert_msg(meets == found->seen[p], "position %d", (int)p);
        count += meets;
    }
    ck_assert_int_eq(count, found->count);
}

START_TEST(finds_what_every_position_says)
{
    static const char *const specs[] = {"P()",      "P(x)",       "P(-,y)",       "P(z,x)",
                                        "P((x,y))", "P((z,x),y)", "P(-,(y,z,x))", "P(y,-)"};
    unsigned seed = 3;
    for (int i = 0; i < 2000; i++) {
        struct found found;
        spmd_box box = {.ndim = 2};
        spmd_shape shape = SPMD_SHAPE(rand_r(&seed) % 12, 1 + rand_r(&seed) % 12);
        for (int d = 0; d < 2; d++) {
            box.lo[d] = rand_r(&seed) % (shape.dim[d] + 1);
            box.hi[d] = box.lo[d] + rand_r(&seed) % (shape.dim[d] - box.lo[d] + 1);
        }
        make(&found, "x=2,y=3,z=2", specs[i % 8], shape, box);
        uint32_t replicated = spmd__layout_replicated(&found.axes, &found.spec);
        check(&found, rand_r(&seed) % 12, rand_r(&seed) % 2 ? replicated : 0);
    }
}
END_TEST

START_TEST(scalars_are_everywhere)
{
    struct found found;
    make(&found, "x=4", "P()", SPMD_SCALAR, spmd_box_whole(SPMD_SCALAR));
    check(&found, 0, 0);
    ck_assert_int_eq(found.count, 4);
}
END_TEST

START_TEST(replicas_are_along_the_unused_axes)
{
    struct found found;
    make(&found, "x=2,y=3,z=2", "P(z)", SPMD_SHAPE(4), spmd_box_whole(SPMD_SHAPE(4)));
    ck_assert_uint_eq(spmd__layout_replicated(&found.axes, &found.spec), 3);
}
END_TEST

/* Contributions are found along unreduced axes, whatever replicas are asked for. */
START_TEST(unreduced_axes_are_walked)
{
    struct found found;
    make(&found, "x=2,y=3,z=2", "P(z, unreduced={y})", SPMD_SHAPE(4),
         spmd_box_whole(SPMD_SHAPE(2)));
    check(&found, 0, 0);
    ck_assert_int_eq(found.count, 6);
    make(&found, "x=2,y=3,z=2", "P(z, unreduced={y})", SPMD_SHAPE(4),
         spmd_box_whole(SPMD_SHAPE(2)));
    check(&found, 7, spmd__layout_replicated(&found.axes, &found.spec));
    ck_assert_int_eq(found.count, 3);
}
END_TEST

static spmd_status count_visit(int64_t position, const spmd_box *common, void *user)
{
    (void)position;
    (void)common;
    return ++*(int *)user == 3 ? spmd_fail(SPMD_ERR_BODY, "enough") : SPMD_OK;
}

START_TEST(a_failing_visit_ends_it)
{
    struct found found;
    int count = 0;
    make(&found, "x=2,y=3,z=2", "P(z)", SPMD_SHAPE(4), spmd_box_whole(SPMD_SHAPE(4)));
    ASSERT_FAILS(spmd__overlap_each(&found.axes, &found.spec, found.shape, &found.box, 0, 0,
                                    count_visit, &count),
                 SPMD_ERR_BODY, "enough");
    ck_assert_int_eq(count, 3);
}
END_TEST

static spmd_status note_visit(int64_t position, const spmd_box *common, void *user)
{
    (void)common;
    *(int64_t *)user = position;
    return SPMD_OK;
}

/* It costs the hits, not the ranks: a billion are searched at once. */
START_TEST(a_billion_ranks)
{
    struct found found;
    int64_t position = -1, n = 1000000007;
    spmd_box box = {.ndim = 1, .lo = {n - 1}, .hi = {n}};
    make(&found, "x=1000,y=1000,z=1000", "P((x,y,z))", SPMD_SHAPE(n), box);
    ASSERT_OK(spmd__overlap_each(&found.axes, &found.spec, found.shape, &found.box, 0, 0,
                                 note_visit, &position));
    ck_assert_int_eq(position, 999999999);
    make(&found, "x=1000000000", "P(x)", SPMD_SHAPE(n), box);
    ASSERT_OK(spmd__overlap_each(&found.axes, &found.spec, found.shape, &found.box, 0, 0,
                                 note_visit, &position));
    ck_assert_int_eq(position, 999999999);
}
END_TEST

UNIT_MAIN("overlap", finds_what_every_position_says, scalars_are_everywhere,
          replicas_are_along_the_unused_axes, unreduced_axes_are_walked, a_failing_visit_ends_it,
          a_billion_ranks)
