/* array/forecast.c - a plan made ready to be forecast: its steps, ranks, and route. */
#include "array/forecast.h"

#include "comm/bridge.h"

static void add_step(struct forecast *forecast, struct move move, const struct axes *axes,
                     struct spec spec)
{
    forecast->step[forecast->count++] = (struct step){move, axes, spec};
}

static void list_steps(struct forecast *forecast)
{
    const spmd_reshard_call *plan = forecast->plan;
    const struct steps *steps = &plan->steps;
    const struct spec *to = &plan->to->spec;
    const struct axes *from_axes = &plan->from->mesh->axes, *to_axes = &plan->to->mesh->axes;
    if (steps->reduce != MOVE_NOTHING)
        add_step(forecast, (struct move){.kind = steps->reduce, .axes = steps->reduced}, from_axes,
                 steps->mid);
    if (steps->move.kind != MOVE_NOTHING)
        add_step(forecast, steps->move, to_axes,
                 spmd__spec_with_unreduced(to, to->unreduced & ~steps->filled));
    if (steps->filled)
        add_step(forecast,
                 (struct move){.kind = MOVE_FILL, .axes = spmd__axis_list_of_mask(steps->filled)},
                 to_axes, *to);
    if (forecast->count == 0)
        add_step(forecast, (struct move){.kind = MOVE_NOTHING}, to_axes, *to);
}

spmd_status spmd__forecast_begin(const spmd_reshard_call *plan, struct forecast *forecast)
{
    *forecast = (struct forecast){.plan = plan};
    list_steps(forecast);
    return spmd__stands_open(plan->from->mesh, plan->to->mesh, &forecast->stands);
}

void spmd__forecast_end(struct forecast *forecast)
{
    spmd__stands_close(&forecast->stands);
}

/* As spmd__bridge_home; but there may be no bridge. */
static int64_t home_or_stand_in(const void *map, int64_t position)
{
    const struct stands *stands = map;
    int64_t home = spmd__stands_home(stands, position);
    return home >= 0 ? home : spmd__bridge_stand_in(spmd_mesh_size(stands->from), position);
}

struct route spmd__forecast_route(const struct forecast *forecast)
{
    return spmd__reshard_route(forecast->plan, home_or_stand_in, &forecast->stands);
}
