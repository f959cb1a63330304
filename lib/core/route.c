/* core/route.c - the one rule of who takes what from whom. */
#include "core/route.h"

#include <string.h>

#include "core/error.h"

struct route spmd__route_within(const struct axes *axes, const struct spec *from,
                                const struct spec *to, spmd_shape shape)
{
    return (struct route){.from_axes = axes,
                          .to_axes = axes,
                          .from = from,
                          .to = to,
                          .shape = shape,
                          .one_mesh = true};
}

static int64_t home_of(const struct route *route, int64_t position)
{
    return route->home ? route->home(route->map, position) : position;
}

/* The axes along which the source holds replicas, or contributions: a taker takes from the one that
 * stands where it stands along these. */
static uint32_t replicated_axes(const struct route *route)
{
    return spmd__layout_replicated(route->from_axes, route->from) | route->from->unreduced;
}

static bool takes(const struct route *route, int64_t position)
{
    return spmd__axes_is_first_along(route->to_axes, route->filled, position);
}

/* Whether nobody takes from `position`: those who would stand where nothing is taken. */
static bool is_idle(const struct route *route, int64_t position)
{
    uint32_t mask = route->filled & replicated_axes(route);
    return route->one_mesh && !spmd__axes_is_first_along(route->to_axes, mask, position);
}

spmd_status spmd__route_receives(const struct route *route, int64_t position, overlap_visit *visit,
                                 void *user)
{
    if (!takes(route, position))
        return SPMD_OK;
    spmd_box box = spmd__layout_box(route->to_axes, route->to, route->shape, position);
    return spmd__overlap_each(route->from_axes, route->from, route->shape, &box,
                              home_of(route, position), replicated_axes(route), visit, user);
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
    if (is_idle(route, position))
        return SPMD_OK;
    spmd_box box = spmd__layout_box(route->from_axes, route->from, route->shape, position);
    if (route->one_mesh)
        return spmd__overlap_each(route->to_axes, route->to, route->shape, &box,
                                  spmd__axes_first_along(route->to_axes, route->filled, position),
                                  replicated_axes(route) | route->filled, visit, user);
    struct sending sending = {.route = route, .visit = visit, .user = user};
    sending.replica = spmd__layout_replica(route->from_axes, route->from, position);
    return spmd__overlap_each(route->to_axes, route->to, route->shape, &box, 0, route->filled,
                              visit_taker, &sending);
}

static spmd_status add_extent(int64_t position, const spmd_box *common, void *user)
{
    (void)position;
    *(double *)user += (double)(common->hi[0] - common->lo[0]);
    return SPMD_OK;
}

/* The sum of what the takers of `box` have of dimension `dim`: one taker for each choice of
 * coordinates along the axes that split it. */
static double taken_along(const struct route *route, int64_t position, const spmd_box *box, int dim)
{
    struct axis_list entry = spmd__spec_entry(route->to, dim);
    uint32_t splits = spmd__axis_list_mask(&entry);
    if (!(splits & replicated_axes(route)))
        return (double)(box->hi[dim] - box->lo[dim]);
    struct spec line = {.ndim = 1, .first = {0, entry.count}};
    memcpy(line.axis, entry.axis, sizeof line.axis);
    spmd_box range = {.ndim = 1, .lo = {box->lo[dim]}, .hi = {box->hi[dim]}};
    double sum = 0;
    spmd__overlap_each(route->to_axes, &line, spmd_shape_make(1, &route->shape.dim[dim]), &range,
                       position, replicated_axes(route) | ~splits, add_extent, &sum);
    return sum;
}

double spmd__route_taken(const struct route *route, int64_t position)
{
    if (is_idle(route, position))
        return 0;
    spmd_box box = spmd__layout_box(route->from_axes, route->from, route->shape, position);
    struct axis_list repeats = spmd__axis_list_of_mask(
        spmd__layout_replicated(route->to_axes, route->to) & ~replicated_axes(route));
    double taken = (double)spmd__axis_list_size(route->to_axes, &repeats);
    for (int d = 0; d < box.ndim; d++)
        taken *= taken_along(route, position, &box, d);
    return taken;
}
