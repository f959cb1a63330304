/* array/local.c - arrays from the blocks that the ranks have: the global shape follows from them.
 */
#include <string.h>

#include "array/array.h"
#include "comm/mpi.h"
#include "core/hash.h"
#include "core/shape.h"

spmd_shape spmd__array_share(const spmd_sharding *sharding, spmd_shape local)
{
    const spmd_mesh *mesh = sharding->mesh;
    int64_t coordinates[SPMD_MAX_AXES];
    spmd_shape share = {.ndim = local.ndim};
    spmd__axes_coordinates(&mesh->axes, mesh->position, coordinates);
    /* Of each dimension, the ranks along its own axes count, and of those one line only: the one
     * at the origin of all other axes. */
    for (int d = 0; d < local.ndim; d++) {
        uint32_t own = 0;
        struct axis_list entry = spmd__spec_entry(&sharding->spec, d);
        for (int i = 0; i < entry.count; i++)
            own |= UINT32_C(1) << entry.axis[i];
        bool counts = true;
        for (int a = 0; a < mesh->axes.count; a++)
            counts = counts && (own >> a & 1 || coordinates[a] == 0);
        share.dim[d] = counts ? local.dim[d] : 0;
    }
    return share;
}

/* Collective over the members. The global shape that follows from every rank's block extents. Not
 * checked. */
static spmd_status infer_shape(const spmd_sharding *sharding, spmd_shape local, spmd_shape *global)
{
    spmd_shape sum = spmd__array_share(sharding, local);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, sum.dim, sum.ndim, MPI_INT64_T, MPI_SUM,
                          sharding->mesh->control));
    *global = sum;
    return SPMD_OK;
}

/* What is wrong with a block along dimension `dim`, where `box` is what it should hold. */
static spmd_status fail_part(const spmd_sharding *sharding, int dim, spmd_shape local,
                             spmd_shape global, const spmd_box *box)
{
    char spec[256];
    spmd_sharding_format(spec, sizeof spec, sharding);
    if (spmd__spec_entry(&sharding->spec, dim).count == 0)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s does not split dim %d of %d, so all blocks are alike there, but "
                         "position 0 has %lld and position %lld has %lld; should the spec name an "
                         "axis?",
                         spec, dim, local.ndim, (long long)global.dim[dim],
                         (long long)sharding->mesh->position, (long long)local.dim[dim]);
    return spmd_fail(SPMD_ERR_SHAPE,
                     "%s: the blocks add up to %lld along dim %d of %d, of which position %lld "
                     "holds %lld:%lld, but its block has %lld there; should it have %lld, or the "
                     "spec name other axes?",
                     spec, (long long)global.dim[dim], dim, local.ndim,
                     (long long)sharding->mesh->position, (long long)box->lo[dim],
                     (long long)box->hi[dim], (long long)local.dim[dim],
                     (long long)(box->hi[dim] - box->lo[dim]));
}

spmd_status spmd__array_check_parts(const spmd_sharding *sharding, spmd_shape local,
                                    spmd_shape global)
{
    spmd_box box = spmd__sharding_box_of(sharding, global, sharding->mesh->position);
    for (int d = 0; d < local.ndim; d++)
        if (box.hi[d] - box.lo[d] != local.dim[d])
            return fail_part(sharding, d, local, global, &box);
    return SPMD_OK;
}

/* What can be said of a local block before the others are asked. */
static spmd_status check_local(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                               const void *local)
{
    TRY(spmd__array_check_mesh(sharding->mesh));
    int64_t bytes;
    TRY(spmd__type_check(dtype, shape, &bytes));
    TRY(spmd__layout_check(&sharding->mesh->axes, &sharding->spec, shape, false));
    if (!local && spmd_shape_size(shape) != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a block of %lld elements has no data, it is NULL",
                         (long long)spmd_shape_size(shape));
    return SPMD_OK;
}

/* The member's side of from_local, with a sharding that all have agreed on. */
static spmd_status place_local(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                               const void *local, spmd_array **out)
{
    spmd_shape global;
    spmd_array *array = NULL;
    spmd_status status = infer_shape(sharding, shape, &global);
    if (status == SPMD_OK)
        status = spmd__array_check_parts(sharding, shape, global);
    if (status == SPMD_OK)
        status = spmd__array_alloc(sharding, dtype, global, &array);
    if (status == SPMD_OK && spmd_shape_size(shape) > 0)
        memcpy(array->block.data, local, (size_t)spmd_shape_size(shape) * spmd_dtype_size(dtype));
    return spmd__array_settle(sharding, status, 0, array, out);
}

spmd_status spmd__array_unknown(const spmd_sharding *sharding, spmd_dtype dtype, int ndim,
                                spmd_array **array)
{
    spmd_shape shape = {.ndim = ndim};
    for (int d = 0; d < ndim; d++)
        shape.dim[d] = -1;
    return spmd__array_alloc(sharding, dtype, shape, array);
}

spmd_status spmd_array_from_local(spmd_mesh *mesh, const char *spec, spmd_dtype dtype,
                                  spmd_shape shape, const void *local, spmd_array **array)
{
    spmd_sharding *sharding = NULL;
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array needs a mesh, this is NULL");
    spmd_status status = spmd_sharding_create(mesh, spec, &sharding);
    if (status == SPMD_OK)
        status = spmd__array_check_place(array);
    bool idle = !mesh->abstract && !spmd__mesh_is_member(mesh);
    if (status == SPMD_OK && idle) {
        status = spmd__array_unknown(sharding, dtype, sharding->spec.ndim, array);
    } else {
        if (status == SPMD_OK)
            status = check_local(sharding, dtype, shape, local);
        int type[] = {dtype, shape.ndim};
        uint64_t digest = spmd__hash(spmd__hash_text(0, __func__), type, sizeof type);
        status = spmd__mesh_agree(mesh, status, digest);
        if (status == SPMD_OK)
            status = place_local(sharding, dtype, shape, local, array);
    }
    spmd_sharding_free(&sharding);
    return status;
}
