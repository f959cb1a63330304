/* core/traffic.c - what stays and what moves, added up over the route's parts. */
#include "core/traffic.h"

#include "core/box.h"

/* What a position keeps, and what it receives, need no look at the others: a receiver takes from
 * itself all that it has. */
static struct traffic incoming_of(const struct route *route, int64_t position)
{
    if (spmd__axes_first_along(route->to_axes, route->filled, position) != position)
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

/* Positions to ask at most. */
enum { MOST_POSITIONS = 1 << 22 };

bool spmd__traffic_total(const struct route *route, struct traffic *total, double *most_received)
{
    /* Positions that differ along axes that split nothing are alike. */
    struct axis_list list = spmd__axis_list_of_mask(spmd__spec_used(route->from) |
                                                    spmd__spec_used(route->to) | route->filled);
    int64_t different = spmd__axis_list_size(route->to_axes, &list);
    double alike = (double)(spmd__axes_total(route->to_axes) / different);
    *total = (struct traffic){0};
    *most_received = 0;
    if (different > MOST_POSITIONS)
        return false;
    for (int64_t i = 0; i < different; i++) {
        int64_t position = spmd__axis_list_member(route->to_axes, &list, 0, i);
        struct traffic one = incoming_of(route, position);
        total->kept += one.kept * alike;
        total->received += one.received * alike;
        *most_received = one.received > *most_received ? one.received : *most_received;
    }
    total->sent = total->received;
    return true;
}
