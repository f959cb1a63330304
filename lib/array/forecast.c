/* array/forecast.c - what a reshard does at any rank, and in all, by arithmetic. */
#include "array/forecast.h"

#include <stdlib.h>

#include "array/contributions.h"
#include "array/lane.h"
#include "comm/bridge.h"
#include "core/box.h"
#include "core/traffic.h"

static int64_t home_of(const void *map, int64_t position)
{
    const struct forecast *forecast = map;
    int64_t size = spmd_mesh_size(forecast->from->mesh);
    int64_t home = forecast->homes ? forecast->homes[position] : position;
    return home >= 0 && home < size ? home : spmd__bridge_stand_in(size, position);
}

static void add_step(struct forecast *forecast, struct move move, const struct axes *axes,
                     struct spec spec)
{
    forecast->step[forecast->count++] = (struct step){move, axes, spec};
}

static void list_steps(struct forecast *forecast)
{
    const struct steps *steps = &forecast->steps;
    const struct spec *to = &forecast->to->spec;
    const struct axes *from_axes = &forecast->from->mesh->axes;
    const struct axes *to_axes = &forecast->to->mesh->axes;
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

/* The ranks of both meshes, which must not be one. */
static spmd_status number_ranks(struct forecast *forecast)
{
    const spmd_mesh *from = forecast->from->mesh, *to = forecast->to->mesh;
    int64_t from_size = spmd_mesh_size(from), to_size = spmd_mesh_size(to);
    if (from->abstract) {
        forecast->ranks = from_size > to_size ? from_size : to_size;
        return SPMD_OK;
    }
    TRY(spmd__bridge_homes(from, to, &forecast->homes));
    forecast->ranks = from_size;
    for (int64_t p = 0; p < to_size; p++)
        forecast->ranks += forecast->homes[p] < 0;
    return SPMD_OK;
}

spmd_status spmd__forecast_begin(const spmd_sharding *from, const spmd_sharding *to,
                                 spmd_dtype dtype, spmd_shape shape, bool nothing,
                                 struct forecast *forecast)
{
    const struct axes *from_axes = &from->mesh->axes, *to_axes = &to->mesh->axes;
    bool one_mesh = spmd_mesh_equal(from->mesh, to->mesh);
    *forecast = (struct forecast){.from = from, .to = to, .dtype = dtype, .shape = shape};
    forecast->ranks = spmd__axes_total(from_axes);
    if (nothing) {
        list_steps(forecast);
        return SPMD_OK;
    }
    forecast->steps = spmd__steps_find(from_axes, &from->spec, to_axes, &to->spec, one_mesh, shape);
    forecast->route = (struct route){.from_axes = from_axes,
                                     .to_axes = to_axes,
                                     .from = &forecast->steps.mid,
                                     .to = &to->spec,
                                     .shape = shape,
                                     .one_mesh = one_mesh,
                                     .filled = forecast->steps.filled,
                                     .home = one_mesh ? NULL : home_of,
                                     .map = forecast};
    list_steps(forecast);
    return one_mesh ? SPMD_OK : number_ranks(forecast);
}

void spmd__forecast_end(struct forecast *forecast)
{
    free(forecast->homes);
}

/* The position in the target of the n-th rank that the source does not have; and that of one which
 * stands at `home` in the source. -1: there is none. */
static int64_t find_newcomer(const struct forecast *forecast, int64_t n)
{
    for (int64_t p = 0; p < spmd_mesh_size(forecast->to->mesh); p++)
        if (forecast->homes[p] < 0 && n-- == 0)
            return p;
    return -1;
}

static int64_t find_resident(const struct forecast *forecast, int64_t home)
{
    for (int64_t p = 0; p < spmd_mesh_size(forecast->to->mesh); p++)
        if (forecast->homes[p] == home)
            return p;
    return -1;
}

struct stand spmd__forecast_stand(const struct forecast *forecast, int64_t rank)
{
    int64_t from_size = spmd_mesh_size(forecast->from->mesh);
    int64_t to_size = spmd_mesh_size(forecast->to->mesh);
    struct stand stand = {rank < from_size ? rank : -1, rank < to_size ? rank : -1};
    if (forecast->homes)
        stand.to = stand.from < 0 ? find_newcomer(forecast, rank - from_size)
                                  : find_resident(forecast, rank);
    return stand;
}

struct stand spmd__forecast_self(const struct forecast *forecast)
{
    return (struct stand){forecast->from->mesh->position, forecast->to->mesh->position};
}

int64_t spmd__forecast_number(const struct forecast *forecast, struct stand stand)
{
    int64_t number = spmd_mesh_size(forecast->from->mesh);
    if (stand.from >= 0 || stand.to < 0)
        return stand.from;
    for (int64_t p = 0; p < stand.to; p++)
        number += forecast->homes[p] < 0;
    return number;
}

/* The elements of a position's block; of no position 0. */
static int64_t block_size(const struct forecast *forecast, const struct axes *axes,
                          const struct spec *spec, int64_t position)
{
    if (position < 0)
        return 0;
    spmd_box box = spmd__layout_box(axes, spec, forecast->shape, position);
    return spmd_box_size(&box);
}

static int64_t source_size(const struct forecast *forecast, const struct spec *spec,
                           int64_t position)
{
    return block_size(forecast, &forecast->from->mesh->axes, spec, position);
}

static int64_t target_size(const struct forecast *forecast, int64_t position)
{
    return block_size(forecast, &forecast->to->mesh->axes, &forecast->to->spec, position);
}

/* What the visits below need to know. Amounts are in elements until all are added up. */
struct counting {
    const struct forecast *forecast;
    struct stand stand;
    spmd_box box; /* this rank's */
    struct flow *flow;
};

static spmd_status fail_too_much(void)
{
    return spmd_fail(SPMD_ERR_SHAPE, "a rank would move or hold more than 2^63 - 1 bytes");
}

spmd_status spmd__forecast_add(int64_t *sum, int64_t amount)
{
    if (__builtin_add_overflow(*sum, amount, sum))
        return fail_too_much();
    return SPMD_OK;
}

static spmd_status multiply(int64_t count, int64_t amount, int64_t *product)
{
    if (__builtin_mul_overflow(count, amount, product))
        return fail_too_much();
    return SPMD_OK;
}

/* The memory that messages of a part need at this rank. */
static spmd_status add_slots(const struct counting *counting, const spmd_box *part)
{
    size_t element = spmd_dtype_size(counting->forecast->dtype);
    struct view view = spmd__view_offset(element, &counting->box, part);
    return spmd__forecast_add(&counting->flow->slots, spmd__lane_slots(&view, element));
}

static spmd_status count_receive(int64_t position, const spmd_box *common, void *user)
{
    struct counting *counting = user;
    struct flow *flow = counting->flow;
    if (position == counting->stand.from)
        return spmd__forecast_add(&flow->kept, spmd_box_size(common));
    flow->sources++;
    TRY(add_slots(counting, common));
    return spmd__forecast_add(&flow->received, spmd_box_size(common));
}

static spmd_status count_send(int64_t position, const spmd_box *common, void *user)
{
    struct counting *counting = user;
    struct flow *flow = counting->flow;
    if (position == counting->stand.to)
        return SPMD_OK;
    flow->targets++;
    TRY(add_slots(counting, common));
    return spmd__forecast_add(&flow->sent, spmd_box_size(common));
}

static spmd_status count_move(const struct forecast *forecast, struct stand stand,
                              struct flow *flow)
{
    const struct route *route = &forecast->route;
    struct counting counting = {.forecast = forecast, .stand = stand, .flow = flow};
    if (stand.to >= 0) {
        counting.box = spmd__layout_box(route->to_axes, route->to, route->shape, stand.to);
        TRY(spmd__route_receives(route, stand.to, count_receive, &counting));
    }
    if (stand.from >= 0) {
        counting.box = spmd__layout_box(route->from_axes, route->from, route->shape, stand.from);
        TRY(spmd__route_sends(route, stand.from, count_send, &counting));
    }
    return SPMD_OK;
}

static int64_t group_size(const struct forecast *forecast)
{
    return spmd__axis_list_size(forecast->route.from_axes, &forecast->steps.reduced);
}

/* How many others get a part of the sum. */
static int64_t count_getters(const struct forecast *forecast, int64_t position)
{
    const struct axes *axes = forecast->route.from_axes;
    const struct steps *steps = &forecast->steps;
    int64_t getters = 0, size = group_size(forecast);
    for (int64_t m = 0; m < size; m++) {
        int64_t other = spmd__axis_list_member(axes, &steps->reduced, position, m);
        getters += other != position && source_size(forecast, &steps->mid, other) > 0;
    }
    return getters;
}

/* Of the `whole` that each member of a group has contributions to, this rank adds up its `part`. */
static spmd_status count_sum(int64_t others, int64_t whole, int64_t part, struct flow *flow)
{
    flow->kept = part;
    flow->sent = whole - part;
    flow->sources = part > 0 ? others : 0;
    return multiply(others, part, &flow->received);
}

/* The same, after which all get all parts. */
static spmd_status count_sum_of_all(int64_t others, int64_t whole, int64_t part, struct flow *flow)
{
    TRY(count_sum(others, whole, part, flow));
    int64_t given = flow->received;
    TRY(spmd__forecast_add(&flow->received, whole - part));
    flow->sources = flow->targets = whole > 0 ? others : 0;
    return spmd__forecast_add(&flow->sent, given);
}

static spmd_status count_reduction(const struct forecast *forecast, struct stand stand,
                                   struct flow *flow)
{
    const struct steps *steps = &forecast->steps;
    const struct axes *axes = &forecast->from->mesh->axes;
    if (stand.from < 0)
        return SPMD_OK;
    int64_t size = group_size(forecast);
    int64_t whole = source_size(forecast, &forecast->from->spec, stand.from);
    if (steps->reduce == MOVE_ALL_REDUCE) {
        int64_t lo = 0, hi = whole;
        spmd__layout_split(size, spmd__axis_list_index(axes, &steps->reduced, stand.from), &lo,
                           &hi);
        return count_sum_of_all(size - 1, whole, hi - lo, flow);
    }
    flow->targets = count_getters(forecast, stand.from);
    return count_sum(size - 1, whole, source_size(forecast, &steps->mid, stand.from), flow);
}

/* The values that a rank has already, where nothing moves or the others get zeros. */
static int64_t count_values(const struct forecast *forecast, struct stand stand)
{
    bool first =
        spmd__axes_is_first_along(&forecast->to->mesh->axes, forecast->steps.filled, stand.to);
    return first ? target_size(forecast, stand.to) : 0;
}

static spmd_status count_elements(const struct forecast *forecast, int index, struct stand stand,
                                  struct flow *flow)
{
    switch (forecast->step[index].move.kind) {
    case MOVE_NOTHING:
    case MOVE_FILL:
        flow->kept = count_values(forecast, stand);
        return SPMD_OK;
    case MOVE_ALL_REDUCE:
    case MOVE_REDUCE_SCATTER:
        return count_reduction(forecast, stand, flow);
    default:
        return count_move(forecast, stand, flow);
    }
}

spmd_status spmd__forecast_flow(const struct forecast *forecast, int index, struct stand stand,
                                struct flow *flow)
{
    struct flow counted = {0};
    int64_t element = (int64_t)spmd_dtype_size(forecast->dtype);
    TRY(count_elements(forecast, index, stand, &counted));
    TRY(multiply(counted.kept, element, &counted.kept));
    TRY(multiply(counted.received, element, &counted.received));
    TRY(multiply(counted.sent, element, &counted.sent));
    *flow = counted;
    return SPMD_OK;
}

struct memory spmd__forecast_memory(const struct forecast *forecast, struct stand stand)
{
    const struct steps *steps = &forecast->steps;
    const struct axes *axes = &forecast->from->mesh->axes;
    const struct spec *from = &forecast->from->spec;
    size_t element = spmd_dtype_size(forecast->dtype);
    int64_t bytes = (int64_t)element;
    struct memory memory = {.source = source_size(forecast, from, stand.from) * bytes};
    if (forecast->step[0].move.kind == MOVE_NOTHING)
        return memory; /* the array itself is the result */
    memory.target = target_size(forecast, stand.to) * bytes;
    if (stand.from < 0 || steps->reduce == MOVE_NOTHING)
        return memory;
    if (steps->reduce == MOVE_REDUCE_SCATTER &&
        !spmd__contributions_in_order(axes, from, steps, forecast->shape, element, stand.from))
        memory.packed = memory.source;
    if (steps->move.kind != MOVE_NOTHING)
        memory.values = source_size(forecast, &steps->mid, stand.from) * bytes;
    return memory;
}

/* Elements of all blocks together, of those that stand first along the axes of `filled`. */
static double sum_blocks(const struct forecast *forecast, const struct axes *axes,
                         const struct spec *spec, uint32_t filled)
{
    struct axis_list repeats =
        spmd__axis_list_of_mask(spmd__axes_mask(axes) & ~spmd__spec_used(spec) & ~filled);
    return (double)spmd_shape_size(forecast->shape) * (double)spmd__axis_list_size(axes, &repeats);
}

static struct total sum_reduction(const struct forecast *forecast)
{
    const struct axes *axes = &forecast->from->mesh->axes;
    double size = (double)group_size(forecast);
    double kept = sum_blocks(forecast, axes, &forecast->from->spec, 0) / size;
    bool gathers = forecast->steps.reduce == MOVE_ALL_REDUCE;
    return (struct total){kept, kept * (size - 1) * (gathers ? 2 : 1)};
}

/* Ranks to ask at most, where there are two meshes. */
enum { MOST_RANKS = 1 << 20 };

/* What all ranks of two meshes have already. */
static bool sum_common(const struct forecast *forecast, double *kept)
{
    const struct route *route = &forecast->route;
    int64_t size = spmd__axes_total(route->to_axes);
    *kept = 0;
    for (int64_t p = 0; p < size && size <= MOST_RANKS; p++) {
        spmd_box to = spmd__layout_box(route->to_axes, route->to, route->shape, p), common;
        int64_t home = forecast->homes ? forecast->homes[p] : p;
        if (home < 0 || home >= spmd__axes_total(route->from_axes) ||
            !spmd__axes_is_first_along(route->to_axes, route->filled, p))
            continue;
        spmd_box from = spmd__layout_box(route->from_axes, route->from, route->shape, home);
        if (spmd__box_intersect(&from, &to, &common))
            *kept += (double)spmd_box_size(&common);
    }
    return size <= MOST_RANKS;
}

static bool sum_move(const struct forecast *forecast, struct total *total)
{
    struct traffic traffic;
    double most;
    if (forecast->route.one_mesh) {
        bool told = spmd__traffic_total(&forecast->route, &traffic, &most);
        *total = (struct total){traffic.kept, traffic.received};
        return told;
    }
    bool told = sum_common(forecast, &total->kept);
    total->moved = sum_blocks(forecast, &forecast->to->mesh->axes, &forecast->to->spec,
                              forecast->steps.filled) -
                   total->kept;
    return told;
}

bool spmd__forecast_total(const struct forecast *forecast, int index, struct total *total)
{
    double element = (double)spmd_dtype_size(forecast->dtype);
    bool told = true;
    switch (forecast->step[index].move.kind) {
    case MOVE_NOTHING:
    case MOVE_FILL:
        *total = (struct total){.kept = sum_blocks(forecast, &forecast->to->mesh->axes,
                                                   &forecast->to->spec, forecast->steps.filled)};
        break;
    case MOVE_ALL_REDUCE:
    case MOVE_REDUCE_SCATTER:
        *total = sum_reduction(forecast);
        break;
    default:
        told = sum_move(forecast, total);
    }
    total->kept *= element;
    total->moved *= element;
    return told;
}
