/* reshard_pairs.c - any sharding to any other one: 2,000 random pairs over 1, 2, 3, 4, 6 and 8
 * ranks. */
#include "contributions.h"
#include "pairs.h"

enum { MOST_ARRAYS = 3, RUNS = 2 };

/* Where a pair's arrays lie, and a plan of the way. */
struct way {
    const struct pair *pair;
    spmd_sharding *from, *to;
    spmd_reshard_call *plan;
    bool adds_up; /* its arrays are contributions */
};

static void open_way(const struct pair *pair, bool adds_up, struct way *way)
{
    *way = (struct way){.pair = pair, .adds_up = adds_up};
    EXPECT_OK(spmd_sharding_create(pair->from.mesh, pair->from.spec, &way->from));
    EXPECT_OK(spmd_sharding_create(pair->to.mesh, pair->to.spec, &way->to));
    EXPECT_OK(spmd_reshard_plan(way->from, way->to, pair->dtype, pair->shape, &way->plan));
}

static void close_way(struct way *way)
{
    spmd_reshard_free(&way->plan);
    spmd_sharding_free(&way->from);
    spmd_sharding_free(&way->to);
}

static spmd_array *make_array(const struct way *way, int64_t slice)
{
    const struct place *from = &way->pair->from;
    return (way->adds_up ? make_partial : pattern_slice)(slice, from->mesh, from->spec,
                                                         way->pair->dtype, way->pair->shape);
}

static bool has_arrived(const struct way *way, int64_t slice, const spmd_array *array)
{
    const struct pair *pair = way->pair;
    return way->adds_up ? has_outcomes(slice, array, pair->shape, pair->dtype, way->from, way->to)
                        : pattern_slice_is_on(slice, array, pair->shape, pair->dtype, way->to);
}

static bool goes_at_once(const struct way *way)
{
    spmd_array *a = make_array(way, 0), *there = NULL;
    bool well = way->pair->from.mesh == way->pair->to.mesh
                    ? EXPECT_OK(spmd_reshard(a, way->pair->to.spec, &there))
                    : EXPECT_OK(spmd_reshard_to(a, way->to, &there));
    well &= EXPECT(has_arrived(way, 0, there));
    spmd_array_free(&a);
    spmd_array_free(&there);
    return well;
}

/* And comes back, given up each time. */
static bool goes_and_comes_back(const struct way *way)
{
    const struct pair *pair = way->pair;
    spmd_array *a = make_array(way, 0);
    bool well = EXPECT_OK(spmd_reshard_donate(&a, way->to));
    well &= EXPECT(has_arrived(way, 0, a));
    well &= EXPECT_OK(spmd_reshard_donate(&a, way->from));
    well &= EXPECT(pattern_is_on(a, pair->shape, pair->dtype, way->from));
    spmd_array_free(&a);
    return well;
}

/* One to three arrays together, whose targets are used again. */
static bool goes_by_a_plan(const struct way *way)
{
    int count = 1 + way->pair->shape.ndim % MOST_ARRAYS;
    spmd_array *in[MOST_ARRAYS], *out[MOST_ARRAYS] = {NULL};
    bool well = true;
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < count; i++)
            in[i] = make_array(way, run * count + i);
        well &= EXPECT_OK(spmd_reshard_run(way->plan, count, in, out));
        for (int i = 0; i < count; i++) {
            well &= EXPECT(has_arrived(way, run * count + i, out[i]));
            spmd_array_free(&in[i]);
        }
    }
    for (int i = 0; i < count; i++)
        spmd_array_free(&out[i]);
    return well;
}

static bool arrives(const struct pair *pair)
{
    struct way way;
    open_way(pair, false, &way);
    bool well = goes_at_once(&way) & goes_by_a_plan(&way) & goes_and_comes_back(&way);
    close_way(&way);
    return well;
}

static bool adds_up(const struct pair *pair)
{
    struct way way;
    open_way(pair, true, &way);
    bool well = goes_at_once(&way) & goes_by_a_plan(&way);
    close_way(&way);
    return well;
}

/* So that there are 2,000 in all; more of them where ranks do not wait for cores. */
static int pairs_of_this_run(void)
{
    static const int counts[] = {200, 500, 400, 400, 300, 300, 200, 200};
    return counts[test_size <= 8 ? test_size - 1 : 7];
}

static void every_element_arrives(void)
{
    try_pairs(arrives, pairs_of_this_run());
}

static void contributions_add_up(void)
{
    try_pairs_of(true, adds_up, pairs_of_this_run() / 2);
}

HARNESS_MAIN("reshard_pairs", CASE(every_element_arrives), CASE(contributions_add_up))
