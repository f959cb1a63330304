/* map/psum_scatter.c - the sum over the members, of which each keeps its part. */
#include <string.h>

#include "comm/reduce.h"
#include "core/arithmetic.h"
#include "core/block.h"
#include "core/half.h"
#include "core/shape.h"
#include "map/parts.h"
#include "map/request.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    const spmd_block *in = op->in;
    TRY(spmd__collective_resolve_dim(op, in->ndim, &op->dim));
    TRY(spmd__collective_check_even(op, group));
    if (op->tiling == SPMD_UNTILED && in->shape[op->dim] != size)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "psum_scatter over %s deals out dim %d of %d, one index to each of %lld "
                         "members, but has %lld: a tiled one splits it",
                         op->axes, op->dim, in->ndim, (long long)size,
                         (long long)in->shape[op->dim]);
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, ", %s along dim %d", op->tiling == SPMD_TILED ? "split" : "dealt",
                   op->dim);
}

/* `in` as parts, one for each member. */
struct scatter {
    struct parts parts;
    int64_t *counts;  /* [members] elements of each */
    spmd_shape shape; /* of this member's, as it comes out */
};

static spmd_status plan(const struct operation *op, const struct group *group, int64_t size,
                        int64_t index, struct arena *arena, struct scatter *scatter)
{
    bool tiled = op->tiling == SPMD_TILED;
    spmd_shape shape = spmd_block_shape(op->in);
    int64_t *extents = NULL;
    scatter->shape = tiled ? shape : spmd__shape_without(shape, op->dim);
    scatter->parts = (struct parts){.shape = shape,
                                    .element = spmd_dtype_size(op->in->dtype),
                                    .dim = op->dim,
                                    .thin = !tiled,
                                    .count = size};
    if (tiled) {
        TRY(spmd__arena_take(arena, (size_t)size, sizeof *extents, &extents));
        spmd__parts_split(group, size, shape.dim[op->dim], extents);
        scatter->shape.dim[op->dim] = extents[index];
    }
    TRY(spmd__parts_take(arena, &scatter->parts, extents));
    TRY(spmd__parts_all_bytes(&scatter->parts, arena, &scatter->counts));
    for (int64_t k = 0; k < size; k++)
        scatter->counts[k] /= (int64_t)scatter->parts.element;
    return SPMD_OK;
}

static spmd_status shape(const struct operation *op, const struct group *group, int64_t size,
                         int64_t index, spmd_shape *shape)
{
    struct scatter scatter;
    TRY(plan(op, group, size, index, op->ctx->arena, &scatter));
    *shape = scatter.shape;
    return SPMD_OK;
}

/* What this member, `index`, gets, must be the shape of `out`, which learns its place. */
static spmd_status settle_out(const struct operation *op, const struct scatter *scatter,
                              int64_t index)
{
    TRY(spmd__collective_check_out(op, spmd_psum_dtype(op->in->dtype), scatter->shape));
    spmd__parts_place(&scatter->parts, op->in, index, op->out);
    return SPMD_OK;
}

/* The parts of `in` one after the other, as elements of type `as`, and not in the memory of `out`.
 */
static spmd_status pack(const struct operation *op, const struct parts *parts, spmd_dtype as,
                        struct arena *arena, const void **packed)
{
    const spmd_block *in = op->in;
    int64_t count = spmd_block_size(in);
    void *ordered = in->data, *converted;
    bool in_order = spmd__parts_in_order(parts);
    if (in_order && as == in->dtype)
        return spmd__collective_keep_input(op, arena, packed);
    if (!in_order) {
        TRY(spmd__arena_take(arena, spmd__block_bytes(in), 1, &ordered));
        spmd__parts_pack(parts, in->data, ordered);
    }
    *packed = ordered;
    if (as == in->dtype)
        return SPMD_OK;
    TRY(spmd__arena_take(arena, (size_t)count, spmd_dtype_size(as), &converted));
    *packed = spmd__carry(SPMD_SUM, in->dtype, count, ordered, converted);
    return SPMD_OK;
}

static spmd_status prepare(const struct operation *op, const struct group *group,
                           struct arena *arena, struct scatter *scatter)
{
    TRY(plan(op, group, group->size, group->index, arena, scatter));
    return settle_out(op, scatter, group->index);
}

static spmd_status run(struct operation *op, struct group *group)
{
    struct arena *arena = op->ctx->arena;
    spmd_dtype dtype = op->out->dtype;
    struct scatter scatter;
    const void *packed;
    TRY(prepare(op, group, arena, &scatter));
    TRY(pack(op, &scatter.parts, dtype, arena, &packed));
    return spmd__reduce_scatter(group, SPMD_SUM, dtype, packed, scatter.counts, op->out->data,
                                arena);
}

/* Where the sum goes: to `out` if that has the type that carries it. */
static spmd_status place_sum(const struct operation *op, struct arena *arena, void **sum)
{
    spmd_dtype carrier = spmd__carrier(SPMD_SUM, op->in->dtype);
    *sum = op->out->data;
    if (op->out->dtype == carrier)
        return SPMD_OK;
    return spmd__arena_take(arena, (size_t)spmd_block_size(op->out), spmd_dtype_size(carrier), sum);
}

static void store_sum(const spmd_block *out, const void *sum)
{
    if (sum != out->data)
        spmd__narrow(out->dtype, spmd_block_size(out), sum, out->data);
}

static spmd_status finish(spmd_request *request)
{
    store_sum(request->op.out, request->state);
    return SPMD_OK;
}

static spmd_status start(struct operation *op, struct group *group, spmd_request *request)
{
    struct arena *arena = &request->arena;
    spmd_dtype carrier = spmd__carrier(SPMD_SUM, op->in->dtype);
    struct scatter scatter;
    const void *packed;
    TRY(prepare(op, group, arena, &scatter));
    TRY(pack(op, &scatter.parts, carrier, arena, &packed));
    TRY(place_sum(op, arena, &request->state));
    request->finish = finish;
    return spmd__reduce_scatter_start(group, SPMD_SUM, carrier, packed, scatter.counts,
                                      request->state, arena, &request->pending);
}

/* Scratch memory of a local sum: one part as it is, and carried. */
struct scratch {
    void *part, *carried;
};

static spmd_status take_scratch(const struct operation *op, struct scratch *scratch)
{
    size_t count = (size_t)spmd_block_size(op->in);
    spmd_dtype dtype = op->in->dtype;
    TRY(spmd__arena_take(op->ctx->arena, count, spmd_dtype_size(dtype), &scratch->part));
    return spmd__arena_take(op->ctx->arena, count, spmd_dtype_size(spmd__carrier(SPMD_SUM, dtype)),
                            &scratch->carried);
}

/* Part `k` of the members' inputs, summed up in `sum`. */
static void sum_part(const struct scatter *scatter, spmd_dtype dtype, int64_t n,
                     const void *const in[], int64_t k, const struct scratch *scratch, void *sum)
{
    spmd_dtype carrier = spmd__carrier(SPMD_SUM, dtype);
    size_t element = scatter->parts.element;
    int64_t count = scatter->counts[k];
    for (int64_t m = 0; m < n; m++) {
        struct view from = spmd__parts_view(&scatter->parts, (void *)in[m], k); /* read only */
        struct view to = spmd__view_like(&from, scratch->part, element);
        spmd__view_copy(&to, &from, element);
        const void *term =
            spmd__carry(SPMD_SUM, dtype, count, scratch->part, m == 0 ? sum : scratch->carried);
        if (m > 0)
            spmd__accumulate(SPMD_SUM, carrier, count, term, sum);
        else if (term != sum && count > 0)
            memcpy(sum, term, (size_t)count * element);
    }
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    struct arena *arena = ops[0]->ctx->arena;
    const void **in;
    struct scratch scratch;
    struct scatter scatter;
    void *sum;
    TRY(spmd__collective_keep_inputs(ops, n, &in));
    TRY(take_scratch(ops[0], &scratch));
    for (int64_t k = 0; k < n; k++) {
        const struct operation *op = ops[k];
        if (!op->out)
            continue;
        TRY(plan(op, NULL, n, k, arena, &scatter));
        TRY(settle_out(op, &scatter, k));
        TRY(place_sum(op, arena, &sum));
        sum_part(&scatter, op->in->dtype, n, in, k, &scratch, sum);
        store_sum(op->out, sum);
    }
    return SPMD_OK;
}

static const struct operation_kind psum_scatter = {.name = "psum_scatter",
                                                   .check = check,
                                                   .describe = describe,
                                                   .run = run,
                                                   .start = start,
                                                   .local = local,
                                                   .shape = shape};

spmd_status spmd_psum_scatter(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                              spmd_tiling tiling, spmd_block *out)
{
    struct operation op =
        spmd__operation_along(&psum_scatter, ctx, in, axes, dim, dim, tiling, out);
    return spmd__collective_run(&op);
}

spmd_status spmd_psum_scatter_start(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                    spmd_tiling tiling, spmd_block *out, spmd_request **request)
{
    struct operation op =
        spmd__operation_along(&psum_scatter, ctx, in, axes, dim, dim, tiling, out);
    return spmd__request_start(&op, request);
}

spmd_status spmd_psum_scatter_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                    spmd_tiling tiling, spmd_shape *shape)
{
    struct operation op =
        spmd__operation_along(&psum_scatter, ctx, in, axes, dim, dim, tiling, NULL);
    return spmd__collective_shape(&op, shape);
}
