/* array/reshard_plan.c - a reshard's plan: boxes are cut, and become the parts of an exchange. */
#include <stdlib.h>

#include "array/reshard.h"
#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/hash.h"
#include "core/mem.h"
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

/* What this rank sends and receives. */
static spmd_status cut_boxes(spmd_reshard_call *plan)
{
    const spmd_mesh *source = plan->from->mesh, *target = plan->to->mesh;
    struct route route = {.from_axes = &source->axes,
                          .to_axes = &target->axes,
                          .from = &plan->from->spec,
                          .to = &plan->to->spec,
                          .shape = plan->shape,
                          .one_mesh = spmd_mesh_equal(source, target),
                          .home = home_over_bridge,
                          .map = &plan->bridge};
    struct planning planning = {plan, &route, .box = {0}};
    if (spmd__mesh_is_member(target)) {
        planning.box = spmd__sharding_box_of(plan->to, plan->shape, target->position);
        TRY(spmd__route_receives(&route, target->position, add_receive, &planning));
    }
    if (spmd__mesh_is_member(source)) {
        planning.box = spmd__sharding_box_of(plan->from, plan->shape, source->position);
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
                                .nothing = is_nothing(from, to, shape)};
    if (plan->nothing)
        return SPMD_OK;
    TRY(spmd__bridge_open(from->mesh, to->mesh, &plan->bridge));
    plan->exchange.comm = plan->bridge.comm;
    plan->exchange.costs = &to->mesh->costs;
    if (plan->bridge.comm == MPI_COMM_NULL)
        return SPMD_OK;
    TRY(learn_type(plan));
    if (plan->bridge.lender)
        TRY(spmd__mesh_node(plan->bridge.lender, &plan->exchange.node));
    return SPMD_OK;
}

spmd_status spmd__reshard_draft(spmd_reshard_call *plan)
{
    if (plan->nothing || plan->bridge.comm == MPI_COMM_NULL)
        return SPMD_OK;
    plan->exchange.element = spmd_dtype_size(plan->dtype);
    plan->exchange.offered = true;
    TRY(spmd__bridge_map(&plan->bridge));
    TRY(cut_boxes(plan));
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
    plan->exchange.from = from->data;
    plan->exchange.to = to->data;
    return spmd__exchange_run(&plan->exchange);
}

void spmd__reshard_end(spmd_reshard_call *plan)
{
    if (!plan->nothing) {
        spmd__exchange_free(&plan->exchange);
        spmd__bridge_close(&plan->bridge);
    }
    spmd_sharding_free(&plan->from);
    spmd_sharding_free(&plan->to);
}
