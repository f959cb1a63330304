/* map/all_gather.c - all members' blocks in everybody's. */
#include <stdlib.h>

#include "comm/mpi.h"
#include "core/block.h"
#include "core/mem.h"
#include "core/view.h"
#include "map/collective.h"

/* Extents along dimension `dim` of all members' blocks. */
struct extents {
    int64_t *of; /* [size of the group] */
    int64_t total;
    bool equal;
};

static void compute_extents(const spmd_sharding *sharding, const struct group *group,
                            const spmd_block *in, int dim, int64_t extents[])
{
    const spmd_mesh *mesh = sharding->mesh;
    for (int64_t m = 0; m < group->size; m++) {
        int64_t lo, hi;
        int64_t position = spmd__axis_list_member(&mesh->axes, &group->axes, mesh->position, m);
        spmd__layout_range(&mesh->axes, &sharding->spec, dim, in->global[dim], position, &lo, &hi);
        extents[m] = hi - lo;
    }
}

/* Computed for inputs of the body; asked of the members where the block lies in a known array;
 * else equal, as the contract demands. */
static spmd_status find_extents(const spmd_ctx *ctx, const struct group *group,
                                const spmd_block *in, int dim, struct extents *extents)
{
    const spmd_sharding *sharding = spmd__collective_sharding(ctx, in);
    int64_t *of;
    TRY(spmd__alloc((size_t)group->size, sizeof *of, &of));
    for (int64_t m = 0; m < group->size; m++)
        of[m] = in->shape[dim];
    spmd_status status = SPMD_OK;
    if (sharding)
        compute_extents(sharding, group, in, dim, of);
    else if (in->global[dim] >= 0)
        status = spmd__mpi_status(
            MPI_Allgather(&in->shape[dim], 1, MPI_INT64_T, of, 1, MPI_INT64_T, group->comm),
            "MPI_Allgather");
    if (status != SPMD_OK) {
        free(of);
        return status;
    }
    *extents = (struct extents){.of = of, .equal = true};
    for (int64_t m = 0; m < group->size; m++) {
        extents->total += of[m];
        extents->equal = extents->equal && of[m] == of[0];
    }
    return SPMD_OK;
}

static spmd_status resolve_dim(const spmd_block *in, int dim, spmd_tiling tiling, int *resolved)
{
    int ndim = in->ndim + (tiling == SPMD_UNTILED);
    *resolved = dim < 0 ? dim + ndim : dim;
    if (*resolved < 0 || *resolved >= ndim || ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "all_gather along dim %d: the result would have %d dimension%s", dim, ndim,
                         ndim == 1 ? "" : "s");
    return SPMD_OK;
}

/* The result's shape; `extents` are those along `dim`, of untiled gathers along any. */
static spmd_shape gathered_shape(const spmd_block *in, int dim, spmd_tiling tiling,
                                 const struct group *group, const struct extents *extents)
{
    spmd_shape shape = spmd_block_shape(in);
    if (tiling == SPMD_TILED) {
        shape.dim[dim] = extents->total;
        return shape;
    }
    shape.ndim++;
    for (int d = in->ndim; d > dim; d--)
        shape.dim[d] = in->shape[d - 1];
    shape.dim[dim] = group->size;
    return shape;
}

/* An untiled gather needs equal blocks; whether they are is known for inputs of the body. */
static spmd_status check_equal(const spmd_ctx *ctx, const struct group *group, const spmd_block *in,
                               int but)
{
    for (int d = 0; d < in->ndim; d++) {
        struct extents extents;
        if (d == but)
            continue;
        TRY(find_extents(ctx, group, in, d, &extents));
        free(extents.of);
        if (!extents.equal)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "all_gather: the blocks differ along dim %d of %d, along which they "
                             "are not joined: gather that dim, tiled, first",
                             d, in->ndim);
    }
    return SPMD_OK;
}

/* What a gather needs to know, found alike on all members. */
struct gather {
    struct group *group;
    int dim;
    struct extents extents; /* along dim; of an untiled gather: all 1 */
    spmd_shape shape;       /* of the result */
};

static spmd_status plan_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                               spmd_tiling tiling, struct gather *gather)
{
    TRY(spmd__ctx_group(ctx, axes, &gather->group));
    if (!in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "all_gather needs a block to read, it is NULL");
    TRY(resolve_dim(in, dim, tiling, &gather->dim));
    TRY(check_equal(ctx, gather->group, in, tiling == SPMD_TILED ? gather->dim : -1));
    if (tiling == SPMD_TILED) {
        TRY(find_extents(ctx, gather->group, in, gather->dim, &gather->extents));
    } else {
        int64_t *of;
        TRY(spmd__alloc((size_t)gather->group->size, sizeof *of, &of));
        for (int64_t m = 0; m < gather->group->size; m++)
            of[m] = 1;
        gather->extents = (struct extents){of, gather->group->size, true};
    }
    gather->shape = gathered_shape(in, gather->dim, tiling, gather->group, &gather->extents);
    return SPMD_OK;
}

spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape)
{
    struct gather gather;
    TRY(plan_gather(ctx, in, axes, dim, tiling, &gather));
    free(gather.extents.of);
    *shape = gather.shape;
    return SPMD_OK;
}

/* Lays the members' blocks, one after the other in `joined`, side by side along dim. */
static void spread(const struct gather *gather, const char *joined, spmd_block *out)
{
    size_t element = spmd_dtype_size(out->dtype);
    spmd_box whole = spmd_box_whole(gather->shape), part = whole;
    part.hi[gather->dim] = 0;
    for (int64_t m = 0; m < gather->group->size; m++) {
        part.lo[gather->dim] = part.hi[gather->dim];
        part.hi[gather->dim] += gather->extents.of[m];
        struct view dst = spmd__view_box(out->data, element, &whole, &part);
        struct view src = spmd__view_dense((void *)joined, element, spmd_box_shape(&part));
        spmd__view_copy(&dst, &src, element);
        joined += (size_t)spmd_box_size(&part) * element;
    }
}

static spmd_status run_gather(const struct gather *gather, const spmd_block *in, spmd_block *out)
{
    int64_t outer = 1, each = 1; /* elements before dim, and of one index along it */
    for (int d = 0; d < gather->shape.ndim; d++)
        if (d < gather->dim)
            outer *= gather->shape.dim[d];
    for (int d = 0; d < gather->shape.ndim; d++)
        if (d != gather->dim)
            each *= gather->shape.dim[d];
    int64_t *bytes;
    void *joined = out->data;
    TRY(spmd__alloc((size_t)gather->group->size, sizeof *bytes, &bytes));
    for (int64_t m = 0; m < gather->group->size; m++)
        bytes[m] = gather->extents.of[m] * each * (int64_t)spmd_dtype_size(in->dtype);
    spmd_status status = outer == 1 ? SPMD_OK : spmd__alloc_block(spmd__block_bytes(out), &joined);
    if (status == SPMD_OK)
        status = spmd__all_gather(gather->group->comm, in->data, bytes, joined);
    if (status == SPMD_OK && outer != 1)
        spread(gather, joined, out);
    if (outer != 1)
        free(joined);
    free(bytes);
    return status;
}

spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out)
{
    struct gather gather;
    TRY(plan_gather(ctx, in, axes, dim, tiling, &gather));
    spmd_status status = spmd__collective_check_out("all_gather", in, out, in->dtype, gather.shape);
    if (status == SPMD_OK && in->data == out->data && spmd__block_bytes(in) > 0)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "all_gather cannot write to the block that it reads");
    if (status == SPMD_OK)
        status = run_gather(&gather, in, out);
    free(gather.extents.of);
    return status;
}
