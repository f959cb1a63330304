/* array/forecast_total.c - what all ranks together do in a step of a reshard. */
#include "array/forecast.h"

#include "core/box.h"
#include "core/traffic.h"

/* Elements of all blocks together, of those that stand first along the axes of `filled`. */
static double sum_blocks(const spmd_sharding *sharding, spmd_shape shape, uint32_t filled)
{
    const struct axes *axes = &sharding->mesh->axes;
    struct axis_list repeats = spmd__axis_list_of_mask(spmd__axes_mask(axes) &
                                                       ~spmd__spec_used(&sharding->spec) & ~filled);
    return (double)spmd_shape_size(shape) * (double)spmd__axis_list_size(axes, &repeats);
}

/* Elements that the ranks of the target get, with those that they have already. */
static double sum_values(const spmd_reshard_call *plan)
{
    return sum_blocks(plan->to, plan->shape, plan->steps.filled);
}

static struct total sum_reduction(const spmd_reshard_call *plan)
{
    double size = (double)spmd__axis_list_size(&plan->from->mesh->axes, &plan->steps.reduced);
    double kept = sum_blocks(plan->from, plan->shape, 0) / size;
    bool gathers = plan->steps.reduce == MOVE_ALL_REDUCE;
    return (struct total){kept, kept * (size - 1) * (gathers ? 2 : 1)};
}

/* Ranks to ask at most, where there are two meshes. */
enum { MOST_RANKS = 1 << 20 };

/* What all ranks of two meshes have already. */
static bool sum_common(const struct stands *stands, const struct route *route, double *kept)
{
    int64_t size = spmd__axes_total(route->to_axes);
    *kept = 0;
    for (int64_t p = 0; p < size && size <= MOST_RANKS; p++) {
        spmd_box to = spmd__layout_box(route->to_axes, route->to, route->shape, p), common;
        int64_t home = spmd__stands_home(stands, p);
        if (home < 0 || !spmd__axes_is_first_along(route->to_axes, route->filled, p))
            continue;
        spmd_box from = spmd__layout_box(route->from_axes, route->from, route->shape, home);
        if (spmd__box_intersect(&from, &to, &common))
            *kept += (double)spmd_box_size(&common);
    }
    return size <= MOST_RANKS;
}

static bool sum_move(const struct forecast *forecast, struct total *total)
{
    struct route route = spmd__forecast_route(forecast);
    struct traffic traffic;
    double most;
    if (route.one_mesh) {
        bool told = spmd__traffic_total(&route, &traffic, &most);
        *total = (struct total){traffic.kept, traffic.received};
        return told;
    }
    bool told = sum_common(&forecast->stands, &route, &total->kept);
    total->moved = sum_values(forecast->plan) - total->kept;
    return told;
}

bool spmd__forecast_total(const struct forecast *forecast, int index, struct total *total)
{
    double element = (double)spmd_dtype_size(forecast->plan->dtype);
    bool told = true;
    switch (forecast->step[index].move.kind) {
    case MOVE_NOTHING:
    case MOVE_FILL:
        *total = (struct total){.kept = sum_values(forecast->plan)};
        break;
    case MOVE_ALL_REDUCE:
    case MOVE_REDUCE_SCATTER:
        *total = sum_reduction(forecast->plan);
        break;
    default:
        told = sum_move(forecast, total);
    }
    total->kept *= element;
    total->moved *= element;
    return told;
}
