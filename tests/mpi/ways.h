/* ways.h - the way of a pair's arrays from one sharding to the other one, be they values or
 * contributions. */
#ifndef WAYS_H
#define WAYS_H

#include "contributions.h"
#include "pairs.h"

struct way {
    const struct pair *pair;
    bool adds_up; /* its arrays are contributions */
    spmd_sharding *from, *to;
    spmd_reshard_call *plan; /* NULL before it is planned */
};

static inline void open_way(const struct pair *pair, bool adds_up, struct way *way)
{
    *way = (struct way){.pair = pair, .adds_up = adds_up};
    EXPECT_OK(spmd_sharding_create(pair->from.mesh, pair->from.spec, &way->from));
    EXPECT_OK(spmd_sharding_create(pair->to.mesh, pair->to.spec, &way->to));
}

static inline bool plan_way(struct way *way)
{
    return EXPECT_OK(
        spmd_reshard_plan(way->from, way->to, way->pair->dtype, way->pair->shape, &way->plan));
}

static inline void close_way(struct way *way)
{
    spmd_reshard_free(&way->plan);
    spmd_sharding_free(&way->from);
    spmd_sharding_free(&way->to);
}

/* One of the arrays, which differ by their numbers. */
static inline spmd_array *make_array(const struct way *way, int64_t number)
{
    const struct pair *pair = way->pair;
    return (way->adds_up ? make_contributions : pattern_slice)(
        number, pair->from.mesh, pair->from.spec, pair->dtype, pair->shape);
}

static inline bool has_arrived(const struct way *way, int64_t number, const spmd_array *array)
{
    const struct pair *pair = way->pair;
    return way->adds_up ? has_outcomes(number, array, pair->shape, pair->dtype, way->from, way->to)
                        : pattern_slice_is_on(number, array, pair->shape, pair->dtype, way->to);
}

/* What a rank holds under one of the two shardings; an empty box if it is idle there. */
static inline spmd_box held_box(const struct way *way, const spmd_sharding *sharding)
{
    int64_t position = spmd_mesh_position(spmd_sharding_mesh(sharding));
    spmd_box box = {.ndim = 1};
    if (position >= 0)
        EXPECT_OK(spmd_sharding_box(sharding, way->pair->shape, position, &box));
    return box;
}

static inline int64_t held_bytes(const struct way *way, const spmd_sharding *sharding)
{
    spmd_box box = held_box(way, sharding);
    return spmd_box_size(&box) * (int64_t)spmd_dtype_size(way->pair->dtype);
}

/* Bytes that this rank holds under both. */
static inline int64_t common_bytes(const struct way *way)
{
    spmd_box from = held_box(way, way->from), to = held_box(way, way->to);
    int64_t bytes = (int64_t)spmd_dtype_size(way->pair->dtype);
    if (spmd_box_size(&from) == 0 || spmd_box_size(&to) == 0)
        return 0;
    for (int d = 0; d < from.ndim; d++) {
        int64_t lo = from.lo[d] > to.lo[d] ? from.lo[d] : to.lo[d];
        int64_t hi = from.hi[d] < to.hi[d] ? from.hi[d] : to.hi[d];
        bytes *= hi > lo ? hi - lo : 0;
    }
    return bytes;
}

#endif
