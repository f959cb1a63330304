/* array/put.c - host arrays, placed under a sharding. */
#include "array/array.h"
#include "array/exchange.h"
#include "array/host_values.h"
#include "core/absent.h"
#include "core/block.h"
#include "core/hash.h"
#include "core/overlap.h"

/* The window of the whole host array that `box` holds; it is only read. */
static struct view host_view(const void *host, const spmd_array *array, const spmd_box *box)
{
    spmd_box whole = spmd_box_whole(array->shape);
    return spmd__view_box((void *)host, spmd_dtype_size(array->dtype), &whole, box);
}

static spmd_status fill(spmd_array *array, const void *host, int64_t count)
{
    TRY(spmd__array_check_host(array, "device_put", host, count));
    TRY(spmd__array_check_values(array->sharding));
    spmd_box box = spmd__block_box(&array->block);
    struct view from = host_view(host, array, &box), to = spmd__view_block(&array->block);
    spmd__view_copy(&to, &from, spmd_dtype_size(array->dtype));
    spmd__array_count_once(array);
    return SPMD_OK;
}

spmd_status spmd_device_put(const void *host, int64_t count, spmd_dtype dtype, spmd_shape shape,
                            const spmd_sharding *sharding, spmd_array **array)
{
    if (!sharding)
        return spmd_fail(SPMD_ERR_ARGUMENT, "device_put: the sharding is NULL");
    spmd_array *made = NULL;
    const spmd_mesh *mesh = sharding->mesh;
    spmd_status status = spmd__array_check_place(array);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, shape, &made);
    if (status == SPMD_OK && spmd__mesh_is_member(mesh))
        status = fill(made, host, count);
    TRY(spmd__array_settle(sharding, status, spmd__hash_text(0, __func__), made, &made));
    if (spmd__mesh_is_member(mesh) && spmd__watch_checks(mesh->watch))
        status = spmd__host_values_compare(made, host);
    if (status == SPMD_OK)
        *array = made;
    else
        spmd_array_free(&made);
    return status;
}

/* Placing from one rank takes two steps: the root sends each part once, to the ranks that stand
 * where it stands along the axes of replicas; then these spread their parts along them. */

struct scatter {
    const void *host;
    const spmd_array *array;
    struct exchange *exchange;
};

static spmd_status send_part(int64_t position, const spmd_box *common, void *user)
{
    const struct scatter *scatter = user;
    return spmd__exchange_send(scatter->exchange, (int)position,
                               host_view(scatter->host, scatter->array, common));
}

static spmd_status plan_scatter(const spmd_array *array, int64_t root, const void *host,
                                struct exchange *exchange)
{
    const spmd_sharding *sharding = array->sharding;
    const struct axes *axes = &sharding->mesh->axes;
    if (spmd__layout_replica(axes, &sharding->spec, root) == array->block.replica)
        TRY(spmd__exchange_receive(exchange, (int)root, spmd__view_block(&array->block)));
    if (root == sharding->mesh->position) {
        struct scatter scatter = {host, array, exchange};
        spmd_box whole = spmd_box_whole(array->shape);
        TRY(spmd__overlap_each(axes, &sharding->spec, array->shape, &whole, root,
                               spmd__layout_replicated(axes, &sharding->spec), send_part,
                               &scatter));
    }
    return spmd__exchange_prepare(exchange);
}

static spmd_status spread_replicas(const spmd_array *array, int64_t root)
{
    spmd_mesh *mesh = array->sharding->mesh;
    struct axis_list replicated =
        spmd__axis_list_of_mask(spmd__layout_replicated(&mesh->axes, &array->sharding->spec));
    if (spmd__axis_list_size(&mesh->axes, &replicated) == 1)
        return SPMD_OK;
    struct group *group;
    TRY(spmd__mesh_group(mesh, &replicated, &group));
    int64_t bytes = (int64_t)spmd__block_bytes(&array->block);
    return spmd__broadcast(group->comm, (int)spmd__axis_list_index(&mesh->axes, &replicated, root),
                           array->block.data, bytes);
}

static spmd_status check_root(const spmd_mesh *mesh, int64_t root)
{
    int64_t size = spmd_mesh_size(mesh);
    if (root < 0 || root >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "device_put: %s",
                         spmd__absent("root", root, 0, size).text);
    return SPMD_OK;
}

/* All that can fail on this rank, before data moves. */
static spmd_status prepare_root(spmd_array *array, int64_t root, const void *host, int64_t count,
                                struct exchange *exchange)
{
    spmd_mesh *mesh = array->sharding->mesh;
    TRY(check_root(mesh, root));
    TRY(spmd__array_check_values(array->sharding));
    if (root == mesh->position)
        TRY(spmd__array_check_host(array, "device_put", host, count));
    return plan_scatter(array, root, host, exchange);
}

spmd_status spmd_device_put_root(int64_t root, const void *host, int64_t count, spmd_dtype dtype,
                                 spmd_shape shape, const spmd_sharding *sharding,
                                 spmd_array **array)
{
    if (!sharding)
        return spmd_fail(SPMD_ERR_ARGUMENT, "device_put: the sharding is NULL");
    spmd_mesh *mesh = sharding->mesh;
    struct exchange exchange = {
        .comm = mesh->comm, .costs = &mesh->costs, .element = spmd_dtype_size(dtype)};
    spmd_array *made = NULL;
    bool member = spmd__mesh_is_member(mesh);
    spmd_status status = spmd__array_check_place(array);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, shape, &made);
    if (status == SPMD_OK && member)
        status = prepare_root(made, root, host, count, &exchange);
    uint64_t digest = spmd__hash(spmd__hash_text(0, __func__), &root, sizeof root);
    status = spmd__array_settle(sharding, status, digest, made, &made);
    if (status == SPMD_OK && member) {
        status = spmd__exchange_run(&exchange);
        if (status == SPMD_OK)
            status = spread_replicas(made, root);
        if (status == SPMD_OK)
            spmd__array_count_once(made);
        else
            spmd_array_free(&made);
    }
    spmd__exchange_free(&exchange);
    if (status == SPMD_OK)
        *array = made;
    return status;
}
