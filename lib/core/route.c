/* core/route.c - the one rule of who takes what from whom. */
#include "core/route.h"

#include "core/error.h"

static int64_t home_of(const struct route *route, int64_t position)
{
    return route->home ? route->home(route->map, position) : position;
}

spmd_status spmd__route_receives(const struct route *route, int64_t position, overlap_visit *visit,
                                 void *user)
{
    spmd_box box = spmd__layout_box(route->to_axes, route->to, route->shape, position);
    return spmd__overlap_each(route->from_axes, route->from, route->shape, &box,
                              home_of(route, position),
                              spmd__layout_replicated(route->from_axes, route->from), visit, user);
}

/* What the visits of those who might take from one replica need to know. */
struct sending {
    const struct route *route;
    int64_t replica;
    overlap_visit *visit;
    void *user;
};

static spmd_status visit_taker(int64_t position, const spmd_box *common, void *user)
{
    const struct sending *sending = user;
    const struct route *route = sending->route;
    int64_t home = home_of(route, position);
    if (spmd__layout_replica(route->from_axes, route->from, home) != sending->replica)
        return SPMD_OK;
    return sending->visit(position, common, sending->user);
}

spmd_status spmd__route_sends(const struct route *route, int64_t position, overlap_visit *visit,
                              void *user)
{
    spmd_box box = spmd__layout_box(route->from_axes, route->from, route->shape, position);
    /* On one mesh those take from here that stand here along the axes of replicas. */
    if (route->one_mesh)
        return spmd__overlap_each(route->to_axes, route->to, route->shape, &box, position,
                                  spmd__layout_replicated(route->from_axes, route->from), visit,
                                  user);
    struct sending sending = {.route = route, .visit = visit, .user = user};
    sending.replica = spmd__layout_replica(route->from_axes, route->from, position);
    return spmd__overlap_each(route->to_axes, route->to, route->shape, &box, 0, 0, visit_taker,
                              &sending);
}
