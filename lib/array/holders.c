/* array/holders.c - which positions hold a part or a box: the layout, asked the other way round. */
#include "array/array.h"
#include "core/overlap.h"

/* The axes along which positions hold replicas. */
static uint32_t replicated_axes(const spmd_sharding *sharding)
{
    return spmd__layout_replicated(&sharding->mesh->axes, &sharding->spec);
}

static bool is_position(const spmd_sharding *sharding, int64_t position)
{
    return position >= 0 && position < spmd_mesh_size(sharding->mesh);
}

int64_t spmd_sharding_replica(const spmd_sharding *sharding, int64_t position)
{
    if (!is_position(sharding, position))
        return -1;
    return spmd__layout_replica(&sharding->mesh->axes, &sharding->spec, position);
}

int64_t spmd_sharding_owner(const spmd_sharding *sharding, int64_t position)
{
    int64_t owner = -1;
    spmd_sharding_replicas(sharding, position, 1, &owner);
    return owner;
}

int64_t spmd_sharding_replicas(const spmd_sharding *sharding, int64_t position, int64_t capacity,
                               int64_t positions[])
{
    if (!is_position(sharding, position))
        return -1;
    const struct axes *axes = &sharding->mesh->axes;
    struct axis_list replicated = spmd__axis_list_of_mask(replicated_axes(sharding));
    int64_t count = spmd__axis_list_size(axes, &replicated);
    for (int64_t i = 0; i < count && i < capacity; i++)
        positions[i] = spmd__axis_list_member(axes, &replicated, position, i);
    return count;
}

static spmd_status check_box(spmd_shape global, const spmd_box *box)
{
    if (!box || box->ndim != global.ndim)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a box of %d dimensions is in no array of %d",
                         box ? box->ndim : -1, global.ndim);
    for (int d = 0; d < box->ndim; d++)
        if (box->lo[d] < 0 || box->hi[d] < box->lo[d] || box->hi[d] > global.dim[d])
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "dim %d of %d: the box %lld:%lld is not inside of the array's 0:%lld",
                             d, box->ndim, (long long)box->lo[d], (long long)box->hi[d],
                             (long long)global.dim[d]);
    return SPMD_OK;
}

/* Visits the holders of `box` that stand at 0 along the axes of `fixed`. */
static spmd_status visit_holders(const spmd_sharding *sharding, spmd_shape global,
                                 const spmd_box *box, uint32_t fixed, spmd_holder_visit *visit,
                                 void *user)
{
    TRY(spmd_sharding_check(sharding, global));
    TRY(check_box(global, box));
    if (!visit)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is nobody to visit the holders, it is NULL");
    return spmd__overlap_each(&sharding->mesh->axes, &sharding->spec, global, box, 0, fixed, visit,
                              user);
}

spmd_status spmd_sharding_holders(const spmd_sharding *sharding, spmd_shape global,
                                  const spmd_box *box, spmd_holder_visit *visit, void *user)
{
    return visit_holders(sharding, global, box, 0, visit, user);
}

spmd_status spmd_sharding_owners(const spmd_sharding *sharding, spmd_shape global,
                                 const spmd_box *box, spmd_holder_visit *visit, void *user)
{
    return visit_holders(sharding, global, box, replicated_axes(sharding), visit, user);
}
