/* core/traffic.c - what stays and what moves, added up over the route's parts. */
#include "core/traffic.h"

#include "core/box.h"
#include "core/census.h"

/* What a position keeps, and what it receives, need no look at the others: a receiver takes from
 * itself all that it has. */
static struct traffic incoming_of(const struct route *route, int64_t position)
{
    if (!spmd__axes_is_first_along(route->to_axes, route->filled, position))
        return (struct traffic){0};
    spmd_box from = spmd__layout_box(route->from_axes, route->from, route->shape, position);
    spmd_box to = spmd__layout_box(route->to_axes, route->to, route->shape, position), common;
    double kept = spmd__box_intersect(&from, &to, &common) ? (double)spmd_box_size(&common) : 0;
    return (struct traffic){.kept = kept, .received = (double)spmd_box_size(&to) - kept};
}

struct traffic spmd__traffic_of(const struct route *route, int64_t position)
{
    struct traffic traffic = incoming_of(route, position);
    traffic.sent = spmd__route_taken(route, position) - traffic.kept;
    return traffic;
}

bool spmd__traffic_total(const struct route *route, struct traffic *total, double *most_received)
{
    struct census census;
    if (!spmd__census_take(route, &census))
        return false;
    struct axis_list takers = spmd__axis_list_of_mask(spmd__axes_mask(route->to_axes) &
                                                      ~spmd__spec_used(route->to) & ~route->filled);
    double wanted = (double)spmd__axis_list_size(route->to_axes, &takers) *
                    (double)spmd_shape_size(route->shape);
    *total = (struct traffic){census.kept, wanted - census.kept, wanted - census.kept};
    *most_received = census.most_received;
    return true;
}
