/* array/forecast_rank.c - what one rank does in the steps of a reshard, and the memory it takes. */
#include "array/forecast.h"

#include "array/contributions.h"
#include "array/lane.h"
#include "core/box.h"

/* The elements of a position's block; of no position 0. */
static int64_t block_size(const struct forecast *forecast, const struct axes *axes,
                          const struct spec *spec, int64_t position)
{
    if (position < 0)
        return 0;
    spmd_box box = spmd__layout_box(axes, spec, forecast->plan->shape, position);
    return spmd_box_size(&box);
}

static int64_t source_size(const struct forecast *forecast, const struct spec *spec,
                           int64_t position)
{
    return block_size(forecast, &forecast->plan->from->mesh->axes, spec, position);
}

static int64_t target_size(const struct forecast *forecast, int64_t position)
{
    const spmd_sharding *to = forecast->plan->to;
    return block_size(forecast, &to->mesh->axes, &to->spec, position);
}

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

/* What the visits below need to know. Amounts are in elements until all are added up. */
struct counting {
    size_t element;
    struct stand stand;
    spmd_box box; /* this rank's */
    struct flow *flow;
};

/* The memory that messages of a part need at this rank. */
static spmd_status add_slots(const struct counting *counting, const spmd_box *part)
{
    struct view view = spmd__view_offset(counting->element, &counting->box, part);
    return spmd__forecast_add(&counting->flow->slots, spmd__lane_slots(&view, counting->element));
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
    struct route route = spmd__forecast_route(forecast);
    struct counting counting = {
        .element = spmd_dtype_size(forecast->plan->dtype), .stand = stand, .flow = flow};
    if (stand.to >= 0) {
        counting.box = spmd__layout_box(route.to_axes, route.to, route.shape, stand.to);
        TRY(spmd__route_receives(&route, stand.to, count_receive, &counting));
    }
    if (stand.from >= 0) {
        counting.box = spmd__layout_box(route.from_axes, route.from, route.shape, stand.from);
        TRY(spmd__route_sends(&route, stand.from, count_send, &counting));
    }
    return SPMD_OK;
}

/* How many others get a part of the sum. */
static int64_t count_getters(const struct forecast *forecast, int64_t position)
{
    const struct axes *axes = &forecast->plan->from->mesh->axes;
    const struct steps *steps = &forecast->plan->steps;
    int64_t getters = 0, size = spmd__axis_list_size(axes, &steps->reduced);
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
    const struct steps *steps = &forecast->plan->steps;
    const spmd_sharding *from = forecast->plan->from;
    const struct axes *axes = &from->mesh->axes;
    if (stand.from < 0)
        return SPMD_OK;
    int64_t size = spmd__axis_list_size(axes, &steps->reduced);
    int64_t whole = source_size(forecast, &from->spec, stand.from);
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
    const spmd_reshard_call *plan = forecast->plan;
    bool first = spmd__axes_is_first_along(&plan->to->mesh->axes, plan->steps.filled, stand.to);
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
    int64_t element = (int64_t)spmd_dtype_size(forecast->plan->dtype);
    TRY(count_elements(forecast, index, stand, &counted));
    TRY(multiply(counted.kept, element, &counted.kept));
    TRY(multiply(counted.received, element, &counted.received));
    TRY(multiply(counted.sent, element, &counted.sent));
    *flow = counted;
    return SPMD_OK;
}

struct memory spmd__forecast_memory(const struct forecast *forecast, struct stand stand)
{
    const spmd_reshard_call *plan = forecast->plan;
    const struct steps *steps = &plan->steps;
    const struct axes *axes = &plan->from->mesh->axes;
    const struct spec *from = &plan->from->spec;
    size_t element = spmd_dtype_size(plan->dtype);
    int64_t bytes = (int64_t)element;
    struct memory memory = {.source = source_size(forecast, from, stand.from) * bytes};
    if (forecast->step[0].move.kind == MOVE_NOTHING)
        return memory; /* the array itself is the result */
    memory.target = target_size(forecast, stand.to) * bytes;
    if (stand.from < 0 || steps->reduce == MOVE_NOTHING)
        return memory;
    if (steps->reduce == MOVE_REDUCE_SCATTER &&
        !spmd__contributions_in_order(axes, from, steps, plan->shape, element, stand.from))
        memory.packed = memory.source;
    if (steps->move.kind != MOVE_NOTHING)
        memory.values = source_size(forecast, &steps->mid, stand.from) * bytes;
    return memory;
}
