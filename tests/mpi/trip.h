/* trip.h - the trip of a pair's arrays from one sharding to the other one, be they values or
 * contributions. */
#ifndef TRIP_H
#define TRIP_H

#include "contributions.h"
#include "pairs.h"

struct trip {
    const struct pair *pair;
    bool adds_up; /* its arrays are contributions */
    spmd_sharding *from, *to;
    spmd_reshard_call *plan; /* NULL before it is planned */
};

static inline void open_trip(const struct pair *pair, bool adds_up, struct trip *trip)
{
    *trip = (struct trip){.pair = pair, .adds_up = adds_up};
    EXPECT_OK(spmd_sharding_create(pair->from.mesh, pair->from.spec, &trip->from));
    EXPECT_OK(spmd_sharding_create(pair->to.mesh, pair->to.spec, &trip->to));
}

static inline bool plan_trip(struct trip *trip)
{
    return EXPECT_OK(
        spmd_reshard_plan(trip->from, trip->to, trip->pair->dtype, trip->pair->shape, &trip->plan));
}

static inline void close_trip(struct trip *trip)
{
    spmd_reshard_free(&trip->plan);
    spmd_sharding_free(&trip->from);
    spmd_sharding_free(&trip->to);
}

/* One of the arrays, which differ by their numbers. */
static inline spmd_array *make_array(const struct trip *trip, int64_t number)
{
    const struct pair *pair = trip->pair;
    return (trip->adds_up ? make_contributions : pattern_slice)(
        number, pair->from.mesh, pair->from.spec, pair->dtype, pair->shape);
}

static inline bool has_arrived(const struct trip *trip, int64_t number, const spmd_array *array)
{
    const struct pair *pair = trip->pair;
    return trip->adds_up
               ? has_outcomes(number, array, pair->shape, pair->dtype, trip->from, trip->to)
               : pattern_slice_is_on(number, array, pair->shape, pair->dtype, trip->to);
}

/* What a rank holds under one of the two shardings; an empty box if it is idle there. */
static inline spmd_box held_box(const struct trip *trip, const spmd_sharding *sharding)
{
    int64_t position = spmd_mesh_position(spmd_sharding_mesh(sharding));
    spmd_box box = {.ndim = 1};
    if (position >= 0)
        EXPECT_OK(spmd_sharding_box(sharding, trip->pair->shape, position, &box));
    return box;
}

static inline int64_t held_bytes(const struct trip *trip, const spmd_sharding *sharding)
{
    spmd_box box = held_box(trip, sharding);
    return spmd_box_size(&box) * (int64_t)spmd_dtype_size(trip->pair->dtype);
}

/* Bytes that this rank holds under both. */
static inline int64_t common_bytes(const struct trip *trip)
{
    spmd_box from = held_box(trip, trip->from), to = held_box(trip, trip->to);
    int64_t bytes = (int64_t)spmd_dtype_size(trip->pair->dtype);
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
