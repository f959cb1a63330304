/* map/halo.c - blocks with a border of their neighbours' elements. */
#include "map/halo.h"

#include "core/view.h"
#include "map/request.h"

static spmd_status padded_shape(const spmd_block *in, const spmd_halo halo[], spmd_shape *shape)
{
    *shape = spmd_block_shape(in);
    for (int d = 0; d < in->ndim; d++)
        if (__builtin_add_overflow(shape->dim[d], halo[d].lo, &shape->dim[d]) ||
            __builtin_add_overflow(shape->dim[d], halo[d].hi, &shape->dim[d]))
            return spmd_fail(SPMD_ERR_SHAPE,
                             "halo of dim %d of %d: %lld elements with a border of %lld + %lld are "
                             "more than 2^63 - 1",
                             d, in->ndim, (long long)in->shape[d], (long long)halo[d].lo,
                             (long long)halo[d].hi);
    return SPMD_OK;
}

/* The interior of a block that has been checked. */
static spmd_block interior_of(const spmd_block *padded, const spmd_halo halo[])
{
    spmd_block interior = *padded;
    int64_t first = 0; /* in elements */
    for (int d = 0; d < padded->ndim; d++) {
        interior.shape[d] -= halo[d].lo + halo[d].hi;
        interior.offset[d] += halo[d].lo;
        first += halo[d].lo * padded->stride[d];
    }
    if (spmd_block_size(&interior) > 0) /* where nothing lies, there is nothing to point to */
        interior.data = (char *)padded->data + first * (int64_t)spmd_dtype_size(padded->dtype);
    return interior;
}

spmd_block *spmd_halo_block(spmd_ctx *ctx, const spmd_block *in, const spmd_halo halo[])
{
    spmd_shape shape;
    spmd_status status = spmd__halo_check(in, halo);
    if (status == SPMD_OK)
        status = padded_shape(in, halo, &shape);
    if (status != SPMD_OK)
        return spmd__ctx_report(ctx, status);
    spmd_block *padded = spmd_temp(ctx, in->dtype, shape);
    if (!padded)
        return NULL;
    for (int d = 0; d < in->ndim; d++) {
        padded->offset[d] = in->offset[d] - halo[d].lo;
        padded->global[d] = in->global[d];
    }
    padded->replica = in->replica;
    spmd_block interior = interior_of(padded, halo);
    struct view to = spmd__view_block(&interior), from = spmd__view_block(in);
    spmd__view_copy(&to, &from, spmd_dtype_size(in->dtype));
    return padded;
}

spmd_status spmd_halo_interior(const spmd_block *padded, const spmd_halo halo[],
                               spmd_block *interior)
{
    TRY(spmd__halo_check_padded(padded, halo));
    if (!interior)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the interior, it is NULL");
    *interior = interior_of(padded, halo);
    return SPMD_OK;
}

/* What can be checked is checked by the plan. Blocks may differ along all dimensions. */
static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    (void)group, (void)size;
    op->free_dims = (UINT32_C(1) << op->in->ndim) - 1;
    return SPMD_OK;
}

/* " with borders 1 + 1 periodic, 0 + 2" */
static void describe(const struct operation *op, struct text *text)
{
    const struct halo_plan *plan = op->list;
    spmd__text_add(text, " with borders");
    for (int d = 0; d < plan->ndim; d++) {
        const struct halo_line *line = &plan->dim[d].line;
        bool bordered = plan->bordered >> d & 1;
        spmd__text_add(text, "%s %lld + %lld%s", d ? "," : "", bordered ? (long long)line->lo : 0,
                       bordered ? (long long)line->hi : 0,
                       bordered && line->periodic ? " periodic" : "");
    }
}

static const struct operation_kind halo_exchange = {.name = "halo_exchange",
                                                    .check = check,
                                                    .describe = describe,
                                                    .run = spmd__halo_run,
                                                    .start = spmd__halo_start};

static struct operation operation_of(spmd_ctx *ctx, spmd_block *padded,
                                     const struct halo_plan *plan)
{
    return (struct operation){.kind = &halo_exchange,
                              .ctx = ctx,
                              .in = padded,
                              .out = padded,
                              .axes = plan->axes,
                              .list = plan,
                              .list_bytes = sizeof *plan};
}

spmd_status spmd_halo_exchange(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[])
{
    struct halo_plan plan;
    TRY(spmd__halo_plan(ctx, padded, halo, &plan));
    struct operation op = operation_of(ctx, padded, &plan);
    return spmd__collective_run(&op);
}

spmd_status spmd_halo_exchange_start(spmd_ctx *ctx, spmd_block *padded, const spmd_halo halo[],
                                     spmd_request **request)
{
    struct halo_plan plan;
    TRY(spmd__halo_plan(ctx, padded, halo, &plan));
    struct operation op = operation_of(ctx, padded, &plan);
    return spmd__request_start(&op, request);
}
