/* array/gather.c - whole arrays, or parts of them, in the memory of one rank or of all. */
#include "array/gather.h"

#include "core/absent.h"
#include "core/block.h"
#include "core/box.h"
#include "core/hash.h"
#include "core/overlap.h"

/* What the visits below need to know. */
struct gathering {
    struct exchange *exchange;
    spmd_box box;     /* which indices ... */
    struct view view; /* ... lie here */
};

static spmd_status receive_from(int64_t position, const spmd_box *common, void *user)
{
    const struct gathering *gathering = user;
    return spmd__exchange_receive(gathering->exchange, (int)position,
                                  spmd__view_part(&gathering->view, &gathering->box, common));
}

static spmd_status send_to(int64_t position, const spmd_box *common, void *user)
{
    const struct gathering *gathering = user;
    return spmd__exchange_send(gathering->exchange, (int)position,
                               spmd__view_part(&gathering->view, &gathering->box, common));
}

static spmd_status plan_receives(const spmd_array *array, const struct wanted *wanted,
                                 struct exchange *exchange)
{
    const spmd_sharding *sharding = array->sharding;
    const struct axes *axes = &sharding->mesh->axes;
    struct gathering gathering = {exchange, wanted->box, wanted->to};
    return spmd__overlap_each(
        axes, &sharding->spec, array->shape, &wanted->box, sharding->mesh->position,
        spmd__layout_replicated(axes, &sharding->spec), receive_from, &gathering);
}

/* Each receiver takes a part from the replica that stands where it stands along the axes of
 * replicas, as in a reshard. */
static spmd_status plan_sends(const spmd_array *array, int64_t root, const struct wanted *wanted,
                              struct exchange *exchange)
{
    const spmd_sharding *sharding = array->sharding;
    const struct axes *axes = &sharding->mesh->axes;
    const struct spec everywhere = {0};
    struct gathering gathering = {exchange, spmd__block_box(&array->block),
                                  spmd__view_block(&array->block)};
    spmd_box common;
    if (!spmd__box_intersect(&gathering.box, &wanted->box, &common))
        return SPMD_OK;
    if (root == SPMD_ALL)
        return spmd__overlap_each(
            axes, &everywhere, array->shape, &common, sharding->mesh->position,
            spmd__layout_replicated(axes, &sharding->spec), send_to, &gathering);
    if (spmd__layout_replica(axes, &sharding->spec, root) == array->block.replica)
        return send_to(root, &common, &gathering);
    return SPMD_OK;
}

static bool receives(const spmd_array *array, int64_t root)
{
    return root == SPMD_ALL || root == array->sharding->mesh->position;
}

spmd_status spmd__gather_prepare(const spmd_array *array, int64_t root, int count,
                                 const struct wanted wanted[], struct exchange *exchange)
{
    const spmd_mesh *mesh = array->sharding->mesh;
    *exchange = (struct exchange){
        .comm = mesh->comm, .costs = &mesh->costs, .element = spmd_dtype_size(array->dtype)};
    for (int i = 0; i < count; i++) {
        TRY(plan_sends(array, root, &wanted[i], exchange));
        if (receives(array, root))
            TRY(plan_receives(array, &wanted[i], exchange));
    }
    return spmd__exchange_prepare(exchange);
}

static spmd_status check(const spmd_array *array, int64_t root, const void *host, int64_t count)
{
    int64_t positions = spmd_mesh_size(array->sharding->mesh);
    if (root != SPMD_ALL && (root < 0 || root >= positions))
        return spmd_fail(SPMD_ERR_ARGUMENT, "gather: %s",
                         spmd__absent("root", root, 0, positions).text);
    return receives(array, root) ? spmd__array_check_host(array, "gather", host, count) : SPMD_OK;
}

/* On members; of an array whose blocks are its values. */
static spmd_status gather(const spmd_array *array, int64_t root, void *host, int64_t count)
{
    struct exchange exchange = {.comm = MPI_COMM_NULL};
    struct wanted whole = {spmd_box_whole(array->shape),
                           spmd__view_dense(host, spmd_dtype_size(array->dtype), array->shape)};
    spmd_status status = check(array, root, host, count);
    if (status == SPMD_OK)
        status = spmd__gather_prepare(array, root, 1, &whole, &exchange);
    uint64_t digest = spmd__array_digest(array->sharding, array->dtype, array->shape);
    digest = spmd__hash(spmd__hash_text(digest, __func__), &root, sizeof root);
    status = spmd__mesh_agree(array->sharding->mesh, status, digest);
    if (status == SPMD_OK)
        status = spmd__exchange_run(&exchange);
    spmd__exchange_free(&exchange);
    return status;
}

spmd_status spmd_array_gather(spmd_array *array, int64_t root, void *host, int64_t count)
{
    spmd_array *values = NULL;
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "gather: the array is NULL");
    if (!spmd__mesh_is_member(array->sharding->mesh))
        return SPMD_OK;
    TRY(spmd__array_values(array, &values));
    spmd_status status = gather(values, root, host, count);
    spmd_array_free(&values);
    return status;
}
