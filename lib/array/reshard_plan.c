/* array/reshard_plan.c - a reshard's plan: boxes are cut, and become the parts of an exchange. */
#include <stdlib.h>
#include <string.h>

#include "array/reshard.h"
#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/mem.h"
#include "core/pool.h"
#include "core/route.h"

/* What the visits below need to know. */
struct planning {
    spmd_reshard_call *plan;
    const struct route *route;
    spmd_box box; /* this rank's */
};

/* A part of this rank's block, as an offset. */
static struct view own_part(const struct planning *planning, const spmd_box *part)
{
    return spmd__view_offset(planning->plan->exchange.element, &planning->box, part);
}

static spmd_status add_receive(int64_t position, const spmd_box *common, void *user)
{
    const struct planning *planning = user;
    const struct route *route = planning->route;
    spmd_reshard_call *plan = planning->plan;
    spmd_box theirs = spmd__layout_box(route->from_axes, route->from, route->shape, position);
    return spmd__exchange_read(&plan->exchange, spmd__bridge_from_rank(&plan->bridge, position),
                               own_part(planning, common),
                               spmd__view_offset(plan->exchange.element, &theirs, common));
}

static spmd_status add_send(int64_t position, const spmd_box *common, void *user)
{
    const struct planning *planning = user;
    spmd_reshard_call *plan = planning->plan;
    return spmd__exchange_send(&plan->exchange, spmd__bridge_to_rank(&plan->bridge, position),
                               own_part(planning, common));
}

static int64_t home_over_bridge(const void *bridge, int64_t position)
{
    return spmd__bridge_home(bridge, position);
}

struct route spmd__reshard_route(const spmd_reshard_call *plan, route_home *home, const void *map)
{
    const spmd_mesh *source = plan->from->mesh, *target = plan->to->mesh;
    return (struct route){.from_axes = &source->axes,
                          .to_axes = &target->axes,
                          .from = &plan->steps.mid,
                          .to = &plan->to->spec,
                          .shape = plan->shape,
                          .one_mesh = spmd_mesh_equal(source, target),
                          .filled = plan->steps.filled,
                          .home = home,
                          .map = map};
}

/* What this rank sends and receives. */
static spmd_status cut_boxes(spmd_reshard_call *plan)
{
    const spmd_mesh *source = plan->from->mesh, *target = plan->to->mesh;
    struct route route = spmd__reshard_route(plan, home_over_bridge, &plan->bridge);
    struct planning planning = {plan, &route, .box = {0}};
    if (spmd__mesh_is_member(target)) {
        planning.box = spmd__sharding_box_of(plan->to, plan->shape, target->position);
        TRY(spmd__route_receives(&route, target->position, add_receive, &planning));
    }
    if (spmd__mesh_is_member(source)) {
        planning.box =
            spmd__layout_box(&source->axes, &plan->steps.mid, plan->shape, source->position);
        TRY(spmd__route_sends(&route, source->position, add_send, &planning));
    }
    return SPMD_OK;
}

/* What ranks that only the target mesh has may not know of an array. */
struct type {
    spmd_dtype dtype;
    spmd_shape shape;
};

static spmd_status learn_type(spmd_reshard_call *plan)
{
    const struct bridge *bridge = &plan->bridge;
    struct type type = {plan->dtype, plan->shape};
    if (bridge->newcomers)
        TRY_MPI(MPI_Bcast(&type, sizeof type, MPI_BYTE, bridge->origin, bridge->control));
    plan->dtype = type.dtype;
    plan->shape = type.shape;
    return SPMD_OK;
}

/* Steps depend on the shape, but what is filled does not. */
static void find_steps(spmd_reshard_call *plan)
{
    const spmd_mesh *source = plan->from->mesh, *target = plan->to->mesh;
    bool one_mesh = spmd_mesh_equal(source, target);
    plan->steps = spmd__steps_find(&source->axes, &plan->from->spec, &target->axes, &plan->to->spec,
                                   one_mesh, plan->shape);
    plan->moves = plan->steps.reduce == MOVE_NOTHING || plan->steps.move.kind != MOVE_NOTHING;
    plan->first = spmd__mesh_is_member(target) &&
                  spmd__axes_is_first_along(&target->axes, plan->steps.filled, target->position);
}

/* Whether this rank has contributions that are added up. */
static bool adds_up(const spmd_reshard_call *plan)
{
    return plan->steps.reduce != MOVE_NOTHING && spmd__mesh_is_member(plan->from->mesh);
}

/* Whether values move by a collective of MPI. */
static spmd_status open_collective(spmd_reshard_call *plan)
{
    spmd_mesh *mesh = plan->to->mesh;
    const struct reshard_move move = {mesh,
                                      plan->exchange.node,
                                      &plan->steps.move,
                                      &plan->steps.mid,
                                      &plan->to->spec,
                                      plan->shape,
                                      spmd_dtype_size(plan->dtype)};
    if (!plan->moves || plan->steps.filled || !spmd_mesh_equal(plan->from->mesh, mesh))
        return SPMD_OK;
    return spmd__reshard_collective_open(&move, &plan->collective);
}

/* Whether arrays that lie as one says lie as the other one says. */
static bool is_nothing(const spmd_sharding *from, const spmd_sharding *to, spmd_shape shape)
{
    return to->spec.ndim <= shape.ndim && spmd_mesh_equal(from->mesh, to->mesh) &&
           spmd_sharding_is_equivalent(from, to, shape.ndim);
}

spmd_status spmd__reshard_begin(const spmd_sharding *from, const spmd_sharding *to,
                                spmd_dtype dtype, spmd_shape shape, spmd_reshard_call *plan)
{
    *plan = (spmd_reshard_call){.from = spmd__sharding_hold(from),
                                .to = spmd__sharding_hold(to),
                                .dtype = dtype,
                                .shape = shape,
                                .nothing = is_nothing(from, to, shape),
                                .bridge = {.comm = MPI_COMM_NULL, .control = MPI_COMM_NULL}};
    if (plan->nothing)
        return SPMD_OK;
    find_steps(plan);
    TRY(spmd__steps_check_fill(&to->mesh->axes, &to->spec, plan->steps.filled));
    if (from->mesh->abstract && to->mesh->abstract)
        return SPMD_OK; /* such a plan has no ranks to connect */
    TRY(spmd__bridge_open(from->mesh, to->mesh, &plan->bridge));
    plan->exchange.comm = plan->bridge.comm;
    plan->exchange.costs = &to->mesh->costs;
    if (plan->bridge.comm == MPI_COMM_NULL)
        return SPMD_OK;
    TRY(learn_type(plan));
    find_steps(plan);
    if (adds_up(plan))
        TRY(spmd__contributions_open(from, &plan->steps, &plan->contributions));
    if (plan->bridge.lender)
        TRY(spmd__mesh_node(plan->bridge.lender, &plan->exchange.node));
    return open_collective(plan);
}

/* Room for what this rank has after adding up, if that is not where it stays. */
static spmd_status draft_sum(spmd_reshard_call *plan)
{
    const spmd_mesh *source = plan->from->mesh;
    TRY(spmd__contributions_prepare(&plan->contributions, plan->dtype, plan->shape));
    if (!plan->moves)
        return SPMD_OK;
    spmd_box box = spmd__layout_box(&source->axes, &plan->steps.mid, plan->shape, source->position);
    return spmd__pool_take((size_t)spmd_box_size(&box) * spmd_dtype_size(plan->dtype), false,
                           &plan->values);
}

spmd_status spmd__reshard_draft(spmd_reshard_call *plan)
{
    if (plan->nothing || plan->bridge.comm == MPI_COMM_NULL)
        return SPMD_OK;
    plan->exchange.element = spmd_dtype_size(plan->dtype);
    plan->exchange.offered = true;
    if (adds_up(plan))
        TRY(draft_sum(plan));
    if (!plan->moves)
        return SPMD_OK;
    TRY(spmd__bridge_map(&plan->bridge));
    TRY(cut_boxes(plan));
    if (plan->collective.group)
        return spmd__reshard_collective_prepare(&plan->collective, &plan->exchange);
    return spmd__exchange_prepare(&plan->exchange);
}

spmd_status spmd__reshard_agree(const spmd_reshard_call *plan, spmd_status status)
{
    const struct bridge *bridge = &plan->bridge;
    spmd_mesh *target = plan->to->mesh;
    uint64_t digest = 0;
    if (status == SPMD_OK && (plan->nothing || bridge->comm != MPI_COMM_NULL))
        digest = spmd__array_digest(plan->to, plan->dtype, plan->shape);
    if (!plan->nothing && bridge->control != MPI_COMM_NULL && bridge->control != target->control)
        status = spmd__agree(bridge->control, bridge->from->rank, status, digest);
    return spmd__mesh_agree(target, status, digest);
}

spmd_status spmd__reshard_move(spmd_reshard_call *plan, const spmd_block *from,
                               const spmd_block *to)
{
    if (plan->bridge.comm == MPI_COMM_NULL)
        return SPMD_OK;
    if (adds_up(plan))
        TRY(spmd__contributions_add_up(&plan->contributions, from->data,
                                       plan->moves ? plan->values : to->data));
    if (plan->moves) {
        plan->exchange.from = plan->values ? plan->values : from->data;
        plan->exchange.to = to->data;
        TRY(plan->collective.group
                ? spmd__reshard_collective_run(&plan->collective, &plan->exchange)
                : spmd__exchange_run(&plan->exchange));
        plan->ran = true;
    }
    if (!plan->first && spmd__mesh_is_member(plan->to->mesh))
        memset(to->data, 0, spmd__block_bytes(to));
    return SPMD_OK;
}

void spmd__reshard_end(spmd_reshard_call *plan)
{
    if (!plan->nothing) {
        spmd__reshard_collective_free(&plan->collective);
        spmd__exchange_free(&plan->exchange);
        spmd__contributions_free(&plan->contributions);
        spmd__pool_give(plan->values);
        spmd__bridge_close(&plan->bridge);
    }
    spmd_sharding_free(&plan->seen);
    spmd_sharding_free(&plan->from);
    spmd_sharding_free(&plan->to);
}
