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
        int64_t position = spmd__group_member(group, m);
        spmd__layout_range(&mesh->axes, &sharding->spec, dim, in->global[dim], position, &lo, &hi);
        extents[m] = hi - lo;
    }
}

/* Computed for inputs of the body; asked of the members where the block lies in a known array;
 * else equal, as the contract demands. */
static spmd_status find_extents(const struct operation *op, const struct group *group, int dim,
                                struct extents *extents)
{
    const spmd_block *in = op->in;
    const spmd_sharding *sharding = spmd__collective_sharding(op, group);
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
static spmd_status check_equal(const struct operation *op, const struct group *group, int but)
{
    for (int d = 0; d < op->in->ndim; d++) {
        struct extents extents;
        if (d == but)
            continue;
        TRY(find_extents(op, group, d, &extents));
        free(extents.of);
        if (!extents.equal)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "all_gather: the blocks differ along dim %d of %d, along which they "
                             "are not joined: gather that dim, tiled, first",
                             d, op->in->ndim);
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

static spmd_status check_gather(struct operation *op, const struct group *group, int64_t size)
{
    (void)group, (void)size;
    bool tiled = op->tiling == SPMD_TILED;
    TRY(spmd__collective_resolve_dim(op, op->in->ndim + !tiled, &op->dim));
    op->free_dims = tiled ? UINT32_C(1) << op->dim : 0;
    return SPMD_OK;
}

static spmd_status plan_gather(const struct operation *op, struct group *group,
                               struct gather *gather)
{
    bool tiled = op->tiling == SPMD_TILED;
    gather->group = group;
    gather->dim = op->dim;
    TRY(check_equal(op, group, tiled ? op->dim : -1));
    if (tiled) {
        TRY(find_extents(op, group, op->dim, &gather->extents));
    } else {
        int64_t *of;
        TRY(spmd__alloc((size_t)group->size, sizeof *of, &of));
        for (int64_t m = 0; m < group->size; m++)
            of[m] = 1;
        gather->extents = (struct extents){of, group->size, true};
    }
    gather->shape = gathered_shape(op->in, op->dim, op->tiling, group, &gather->extents);
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

static spmd_status run_all_gather(struct operation *op, struct group *group)
{
    struct gather gather;
    TRY(plan_gather(op, group, &gather));
    spmd_status status = spmd__collective_check_out(op, op->in->dtype, gather.shape);
    if (status == SPMD_OK && op->in->data == op->out->data && spmd__block_bytes(op->in) > 0)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "all_gather cannot write to the block that it reads");
    if (status == SPMD_OK)
        status = run_gather(&gather, op->in, op->out);
    free(gather.extents.of);
    return status;
}

static const struct operation_kind all_gather = {
    .name = "all_gather", .check = check_gather, .run = run_all_gather};

spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out)
{
    struct operation op = {.kind = &all_gather,
                           .ctx = ctx,
                           .in = in,
                           .out = out,
                           .axes = axes,
                           .dim = dim,
                           .tiling = tiling};
    return spmd__collective_run(&op);
}

spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape)
{
    struct operation op = {
        .kind = &all_gather, .ctx = ctx, .in = in, .axes = axes, .dim = dim, .tiling = tiling};
    struct group *group;
    struct gather gather;
    TRY(spmd__ctx_group(ctx, axes, &group));
    if (!in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "all_gather needs a block to read, it is NULL");
    TRY(check_gather(&op, group, group->size));
    TRY(spmd__group_open(group));
    TRY(plan_gather(&op, group, &gather));
    free(gather.extents.of);
    *shape = gather.shape;
    return SPMD_OK;
}
