/* array/reshard.c - from one sharding to another: planned by cutting boxes, then moved. */
#include "array/reshard.h"

#include "array/exchange.h"
#include "comm/agree.h"
#include "comm/bridge.h"
#include "comm/mpi.h"
#include "core/block.h"
#include "core/hash.h"
#include "core/route.h"

/* What the visits below need to know. */
struct planning {
    const struct bridge *bridge;
    struct exchange *exchange;
    spmd_box box; /* this rank's, and its block as a view */
    struct view block;
};

static struct planning look_at(const struct bridge *bridge, struct exchange *exchange,
                               const spmd_block *block)
{
    return (struct planning){.bridge = bridge,
                             .exchange = exchange,
                             .box = spmd__block_box(block),
                             .block = spmd__view_block(block)};
}

static spmd_status add_receive(int64_t position, const spmd_box *common, void *user)
{
    const struct planning *planning = user;
    return spmd__exchange_receive(planning->exchange,
                                  spmd__bridge_from_rank(planning->bridge, position),
                                  spmd__view_part(&planning->block, &planning->box, common));
}

static spmd_status add_send(int64_t position, const spmd_box *common, void *user)
{
    const struct planning *planning = user;
    return spmd__exchange_send(planning->exchange, spmd__bridge_to_rank(planning->bridge, position),
                               spmd__view_part(&planning->block, &planning->box, common));
}

static int64_t home_over_bridge(const void *bridge, int64_t position)
{
    return spmd__bridge_home(bridge, position);
}

/* Adds to `exchange` what this rank sends of `from` and receives into `to`: the same array on the
 * meshes of `bridge`. */
static spmd_status plan(const struct bridge *bridge, const spmd_array *from, const spmd_array *to,
                        struct exchange *exchange)
{
    const spmd_mesh *source = from->sharding->mesh, *target = to->sharding->mesh;
    struct route route = {.from_axes = &source->axes,
                          .to_axes = &target->axes,
                          .from = &from->sharding->spec,
                          .to = &to->sharding->spec,
                          .shape = to->shape,
                          .one_mesh = spmd_mesh_equal(source, target),
                          .home = home_over_bridge,
                          .map = bridge};
    if (spmd__mesh_is_member(bridge->to)) {
        struct planning planning = look_at(bridge, exchange, &to->block);
        TRY(spmd__route_receives(&route, target->position, add_receive, &planning));
    }
    if (spmd__mesh_is_member(bridge->from)) {
        struct planning planning = look_at(bridge, exchange, &from->block);
        TRY(spmd__route_sends(&route, source->position, add_send, &planning));
    }
    return SPMD_OK;
}

/* Whether the array already lies as `sharding` says. */
static bool lies_so(const spmd_array *array, const spmd_sharding *sharding)
{
    return sharding->spec.ndim <= array->shape.ndim &&
           spmd_mesh_equal(array->sharding->mesh, sharding->mesh) &&
           spmd_sharding_is_equivalent(array->sharding, sharding, array->shape.ndim);
}

/* What ranks that only the target mesh has may not know of an array. */
struct type {
    spmd_dtype dtype;
    spmd_shape shape;
};

static spmd_status learn_type(const struct bridge *bridge, struct type *type)
{
    if (!bridge->newcomers || bridge->comm == MPI_COMM_NULL)
        return SPMD_OK;
    return spmd__mpi_status(
        MPI_Bcast(type, sizeof *type, MPI_BYTE, bridge->origin, bridge->control), "MPI_Bcast");
}

static spmd_status prepare(struct bridge *bridge, const spmd_array *from, const spmd_array *to,
                           struct exchange *exchange)
{
    TRY(spmd__bridge_map(bridge));
    if (bridge->comm == MPI_COMM_NULL)
        return SPMD_OK;
    TRY(plan(bridge, from, to, exchange));
    return spmd__exchange_prepare(exchange);
}

/* Ends a call in the agreement of all ranks of both meshes; else frees `made`. */
static spmd_status settle(const struct bridge *bridge, const spmd_sharding *sharding,
                          spmd_status status, spmd_array *made, spmd_array **out)
{
    if (bridge->control != MPI_COMM_NULL && bridge->control != sharding->mesh->control) {
        uint64_t digest = made ? spmd__array_digest(sharding, made->dtype, made->shape) : 0;
        status = spmd__agree(bridge->control, bridge->from->rank, status, digest);
        if (status != SPMD_OK) {
            spmd_array_free(&made);
            return status;
        }
    }
    return spmd__array_settle(sharding, status, 0, made, out);
}

static spmd_status move(struct bridge *bridge, spmd_array *array, const spmd_sharding *sharding,
                        spmd_array **out)
{
    struct type type = {array->dtype, array->shape};
    struct exchange exchange = {.comm = bridge->comm};
    spmd_array *made = NULL;
    TRY(learn_type(bridge, &type));
    exchange.element = spmd_dtype_size(type.dtype);
    spmd_status status = spmd__array_check_place(out);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, type.dtype, type.shape, &made);
    if (status == SPMD_OK)
        status = prepare(bridge, array, made, &exchange);
    status = settle(bridge, sharding, status, made, &made);
    if (status == SPMD_OK && bridge->comm != MPI_COMM_NULL) {
        status = spmd__exchange_run(&exchange);
        if (status != SPMD_OK)
            spmd_array_free(&made);
    }
    spmd__exchange_free(&exchange);
    if (status == SPMD_OK)
        *out = made;
    return status;
}

spmd_status spmd__reshard(spmd_array *array, const spmd_sharding *sharding, spmd_array **out)
{
    if (lies_so(array, sharding)) {
        TRY(spmd__array_check_place(out));
        *out = spmd_array_hold(array);
        return SPMD_OK;
    }
    struct bridge bridge;
    TRY(spmd__bridge_open(array->sharding->mesh, sharding->mesh, &bridge));
    spmd_status status = move(&bridge, array, sharding, out);
    spmd__bridge_close(&bridge);
    return status;
}

/* Collective over the array's mesh, before ranks go their ways: those where nothing moves do not
 * wait for those that want something else. */
static spmd_status agree_on_call(const spmd_array *array, const spmd_sharding *sharding,
                                 spmd_status status)
{
    spmd_mesh *mesh = array->sharding->mesh;
    uint64_t words[3] = {0};
    if (status == SPMD_OK && spmd__mesh_is_member(mesh)) {
        words[0] = spmd__array_digest(array->sharding, array->dtype, array->shape);
        words[1] = spmd__array_digest(sharding, array->dtype, array->shape);
        words[2] = spmd__axes_digest(&sharding->mesh->axes);
    }
    return spmd__mesh_agree(mesh, status, spmd__hash(0, words, sizeof words));
}

spmd_status spmd_reshard_to(spmd_array *array, const spmd_sharding *sharding, spmd_array **out)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the array is NULL");
    if (!sharding)
        return agree_on_call(array, NULL,
                             spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the sharding is NULL"));
    /* Ranks that only the target mesh has are asked in the move. */
    bool member = spmd__mesh_is_member(array->sharding->mesh);
    TRY(agree_on_call(array, sharding, member ? spmd__array_check_place(out) : SPMD_OK));
    return spmd__reshard(array, sharding, out);
}

spmd_status spmd_reshard(spmd_array *array, const char *spec, spmd_array **out)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the array is NULL");
    spmd_sharding *sharding = NULL;
    spmd_status status = spmd_sharding_create(array->sharding->mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd__array_check_place(out);
    status = agree_on_call(array, sharding, status);
    if (status == SPMD_OK)
        status = spmd__reshard(array, sharding, out);
    spmd_sharding_free(&sharding);
    return status;
}
