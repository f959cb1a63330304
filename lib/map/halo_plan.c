/* map/halo_plan.c - what a rank knows of an exchange of borders before anything moves. */
#include <string.h>

#include "core/block.h"
#include "map/halo.h"
#include "map/vmap.h"

static bool has_border(const spmd_halo *halo)
{
    return halo->lo > 0 || halo->hi > 0;
}

/* Joins the axes of all dimensions to one text. */
static spmd_status join_axes(struct group *const groups[], int ndim, char *text)
{
    uint32_t seen = 0;
    const char *comma = "";
    for (int d = 0; d < ndim; d++)
        for (int i = 0; i < groups[d]->axes.count; i++) {
            int axis = groups[d]->axes.axis[i];
            const char *name = groups[d]->mesh->axes.name[axis];
            if (seen >> axis & 1)
                return spmd_fail(SPMD_ERR_ARGUMENT,
                                 "halo of dim %d of %d: axis %s stands at an earlier dim already",
                                 d, ndim, name);
            seen |= UINT32_C(1) << axis;
            text = stpcpy(stpcpy(text, comma), name);
            comma = ",";
        }
    *text = '\0';
    return SPMD_OK;
}

/* Where this rank stands along each dimension, and in the group along all axes. */
static void find_member(struct group *const groups[], int ndim, struct halo_plan *plan)
{
    int64_t stride = 1;
    plan->member = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        plan->dim[d].index = groups[d]->index;
        plan->dim[d].stride = stride;
        plan->member += groups[d]->index * stride;
        stride *= groups[d]->size;
    }
}

static spmd_status find_groups(const spmd_ctx *ctx, const spmd_halo halo[], int ndim,
                               struct group *groups[])
{
    for (int d = 0; d < ndim; d++) {
        const char *axes = halo[d].axes ? halo[d].axes : "";
        if (spmd__vmap_binds(ctx, axes))
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "halo of dim %d of %d: \"%s\" has the axis of a vmap: neighbours are "
                             "along axes of the mesh",
                             d, ndim, axes);
        TRY(spmd__ctx_group(ctx, axes, &groups[d]));
        if (groups[d]->partition.count > 0)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "halo of dim %d of %d: a dimension is split along axes, not along the "
                             "groups of \"%s\"",
                             d, ndim, axes);
    }
    return SPMD_OK;
}

spmd_status spmd__halo_check(const spmd_block *block, const spmd_halo halo[])
{
    if (!block || (!halo && block->ndim > 0))
        return spmd_fail(SPMD_ERR_ARGUMENT, "a border needs a block and its halo, the %s is NULL",
                         block ? "halo" : "block");
    TRY(spmd__block_check(block, "the block of a border"));
    for (int d = 0; d < block->ndim; d++)
        if (halo[d].lo < 0 || halo[d].hi < 0)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "halo of dim %d of %d: a border of %lld + %lld elements", d,
                             block->ndim, (long long)halo[d].lo, (long long)halo[d].hi);
    return SPMD_OK;
}

spmd_status spmd__halo_check_padded(const spmd_block *padded, const spmd_halo halo[])
{
    TRY(spmd__halo_check(padded, halo));
    for (int d = 0; d < padded->ndim; d++)
        if (halo[d].lo > padded->shape[d] || halo[d].hi > padded->shape[d] - halo[d].lo)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "halo of dim %d of %d: the block has %lld elements there, no room for "
                             "a border of %lld + %lld: spmd_halo_block makes one that has",
                             d, padded->ndim, (long long)padded->shape[d], (long long)halo[d].lo,
                             (long long)halo[d].hi);
    return SPMD_OK;
}

/* Where the block's place is known: whether it is that of the member. */
static spmd_status check_place(const spmd_block *padded, const spmd_halo *halo, int dim,
                               const struct group *group, const struct halo_line *line)
{
    int64_t begin = padded->offset[dim] + halo->lo;
    int64_t end = begin + padded->shape[dim] - halo->lo - halo->hi;
    if (begin == line->begin && end == line->end)
        return SPMD_OK;
    return spmd_fail(
        SPMD_ERR_SHAPE,
        "halo of dim %d of %d: the block is %lld:%lld of %lld, but member %lld of %lld "
        "along \"%s\" has %lld:%lld: name the axes that the dim is split along, or set "
        "global[%d] to -1 if the block lies otherwise",
        dim, padded->ndim, (long long)begin, (long long)end, (long long)line->extent,
        (long long)group->index, (long long)group->size, halo->axes ? halo->axes : "",
        (long long)line->begin, (long long)line->end, dim);
}

/* Where it is not known: blocks are taken for equal, which gives the right neighbours and the right
 * parts of them as long as these reach no further than the next one. */
static spmd_status check_width(const spmd_block *padded, const spmd_halo *halo, int dim,
                               const struct group *group)
{
    int64_t length = padded->shape[dim] - halo->lo - halo->hi;
    bool alone = group->size == 1 && !halo->periodic;
    if (alone || (halo->lo <= length && halo->hi <= length))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_SHAPE,
                     "halo of dim %d of %d: blocks of %lld elements with a border of %lld + %lld, "
                     "whose place in the global array is not known: a border reaches no further "
                     "than the next block then; make the block by spmd_halo_block from an input",
                     dim, padded->ndim, (long long)length, (long long)halo->lo,
                     (long long)halo->hi);
}

static void draw_line(const struct group *group, const spmd_block *padded, const spmd_halo *halo,
                      int dim, struct halo_line *line)
{
    int64_t length = padded->shape[dim] - halo->lo - halo->hi;
    bool known = padded->global[dim] >= 0;
    line->nparts = group->axes.count;
    for (int i = 0; i < group->axes.count; i++)
        line->parts[i] = group->mesh->axes.size[group->axes.axis[i]];
    line->extent = known ? padded->global[dim] : length * group->size;
    line->periodic = halo->periodic;
    line->lo = halo->lo;
    line->hi = halo->hi;
    spmd__halo_range(line, group->index, &line->begin, &line->end);
}

static spmd_status plan_dim(const struct group *group, const spmd_block *padded,
                            const spmd_halo *halo, int dim, struct halo_plan *plan)
{
    plan->interior.lo[dim] = plan->filled.lo[dim] = halo->lo;
    plan->interior.hi[dim] = plan->filled.hi[dim] = padded->shape[dim] - halo->hi;
    plan->empty = plan->empty || plan->interior.lo[dim] == plan->interior.hi[dim];
    if (!has_border(halo))
        return SPMD_OK;
    struct halo_line *line = &plan->dim[dim].line;
    plan->bordered |= UINT32_C(1) << dim;
    draw_line(group, padded, halo, dim, line);
    if (padded->global[dim] >= 0)
        TRY(check_place(padded, halo, dim, group, line));
    else
        TRY(check_width(padded, halo, dim, group));
    spmd__halo_filled(line, &plan->filled.lo[dim], &plan->filled.hi[dim]);
    return SPMD_OK;
}

spmd_status spmd__halo_plan(const spmd_ctx *ctx, const spmd_block *padded, const spmd_halo halo[],
                            struct halo_plan *plan)
{
    struct group *groups[SPMD_MAX_DIMS];
    TRY(spmd__halo_check_padded(padded, halo));
    plan->ndim = plan->interior.ndim = plan->filled.ndim = padded->ndim;
    plan->bordered = 0;
    plan->empty = false;
    TRY(find_groups(ctx, halo, padded->ndim, groups));
    TRY(join_axes(groups, padded->ndim, plan->axes));
    find_member(groups, padded->ndim, plan);
    for (int d = 0; d < padded->ndim; d++)
        TRY(plan_dim(groups[d], padded, &halo[d], d, plan));
    return SPMD_OK;
}
