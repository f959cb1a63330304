/* core/route.h - who takes what from whom, when an array goes from one layout to another.
 *
 * Each element comes from exactly one of its replicas: the receiver itself if it has one, else the
 * replica that stands where the receiver stands along the axes of replicas; so the pulls spread
 * over all of them. Along unreduced axes of the source, contributions go to those that stand where
 * they stand. */
#ifndef CORE_ROUTE_H
#define CORE_ROUTE_H

#include "core/overlap.h"

/* Where a position of the target stands on the source's mesh. */
typedef int64_t route_home(const void *map, int64_t position);

struct route {
    const struct axes *from_axes, *to_axes; /* borrowed */
    const struct spec *from, *to;
    spmd_shape shape;
    bool one_mesh; /* they are equal: the same axes, and at each position the same process */
    /* Axes of the target, as bits, along which the first position alone takes anything. */
    uint32_t filled;
    route_home *home; /* NULL: at the same position */
    const void *map;
};

/* From one layout on a mesh to another. */
struct route spmd__route_within(const struct axes *axes, const struct spec *from,
                                const struct spec *to, spmd_shape shape);

/* Visits each position of the source that `position` of the target takes a part from, with the
 * part; and each position of the target that takes a part from `position` of the source. */
spmd_status spmd__route_receives(const struct route *route, int64_t position, overlap_visit *visit,
                                 void *user);
spmd_status spmd__route_sends(const struct route *route, int64_t position, overlap_visit *visit,
                              void *user);

/* Of a route on one mesh: elements that are taken from `position` by all, itself among them. Found
 * dimension by dimension, at less than the cost of the visits. */
double spmd__route_taken(const struct route *route, int64_t position);

#endif
