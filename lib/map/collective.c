/* map/collective.c - what all collectives of a body have in common; and the place in a group. */
#include "map/collective.h"

#include <string.h>

#include "comm/mpi.h"
#include "core/absent.h"
#include "core/block.h"
#include "core/place.h"
#include "core/shape.h"
#include "map/input_parts.h"
#include "map/vmap.h"

/* Whether members' blocks count as equal because the place of this one is not known. */
static bool joins_unknown(const struct operation *op)
{
    return op->kind->joins && op->tiling == SPMD_TILED && op->free_dims == 0;
}

spmd_status spmd__collective_check_out(const struct operation *op, spmd_dtype dtype,
                                       spmd_shape shape)
{
    const spmd_block *out = op->out;
    if (out->dtype == dtype && spmd_shape_equal(spmd_block_shape(out), shape))
        return SPMD_OK;
    char buffers[2][256];
    struct text want = spmd__text_begin(buffers[0], sizeof buffers[0]);
    struct text have = spmd__text_begin(buffers[1], sizeof buffers[1]);
    spmd__type_print(&want, dtype, shape);
    spmd__type_print(&have, out->dtype, spmd_block_shape(out));
    return spmd_fail(out->dtype == dtype ? SPMD_ERR_SHAPE : SPMD_ERR_DTYPE,
                     "%s gives a block %s here, but out is %s: declare it so%s", op->kind->name,
                     want.buffer, have.buffer,
                     joins_unknown(op) ? ", or set offset and global of in, if blocks differ" : "");
}

spmd_status spmd__collective_check_equal(const struct operation *op, const struct group *group)
{
    const spmd_block *in = op->in;
    const spmd_sharding *sharding = spmd__input_sharding(op->ctx, op->in, group);
    for (int d = 0; sharding && d < in->ndim; d++) {
        if (op->free_dims >> d & 1 || !spmd__input_parts_differ(sharding, group, d, in->global[d]))
            continue;
        for (int64_t m = 0; m < group->size; m++) {
            int64_t extent = spmd__input_part(sharding, group, d, in->global[d], m);
            if (extent != in->shape[d])
                return spmd_fail(SPMD_ERR_SHAPE,
                                 "%s needs equal blocks: along dim %d of %d, which has %lld "
                                 "elements in all, members have %lld and %lld; pad them, or "
                                 "all_gather that dim first",
                                 op->kind->name, d, in->ndim, (long long)in->global[d],
                                 (long long)in->shape[d], (long long)extent);
        }
    }
    return SPMD_OK;
}

spmd_status spmd__collective_check_even(const struct operation *op, const struct group *group)
{
    if (group && !group->even)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s needs groups of the same size, not \"%s\"",
                         op->kind->name, op->axes);
    return SPMD_OK;
}

uint32_t spmd__collective_free_dim(const struct operation *op, int dim)
{
    return op->in->global[dim] >= 0 ? UINT32_C(1) << dim : 0;
}

spmd_status spmd__collective_extents(const struct operation *op, const struct group *group,
                                     int64_t size, int dim, struct arena *arena, int64_t **out)
{
    const spmd_block *in = op->in;
    const spmd_sharding *sharding = group ? spmd__input_sharding(op->ctx, op->in, group) : NULL;
    int64_t *extents;
    TRY(spmd__arena_take(arena, (size_t)size, sizeof *extents, &extents));
    for (int64_t m = 0; m < size; m++)
        extents[m] = in->shape[dim];
    if (sharding && spmd__input_parts_differ(sharding, group, dim, in->global[dim]))
        for (int64_t m = 0; m < size; m++)
            extents[m] = spmd__input_part(sharding, group, dim, in->global[dim], m);
    else if (!sharding && group && op->free_dims >> dim & 1)
        TRY_MPI(
            MPI_Allgather(&in->shape[dim], 1, MPI_INT64_T, extents, 1, MPI_INT64_T, group->comm));
    *out = extents;
    return SPMD_OK;
}

spmd_status spmd__collective_local_extents(struct operation *const ops[], int64_t n, int dim,
                                           int64_t **extents)
{
    TRY(spmd__arena_take(ops[0]->ctx->arena, (size_t)n, sizeof **extents, extents));
    for (int64_t m = 0; m < n; m++)
        (*extents)[m] = ops[m]->in->shape[dim];
    return SPMD_OK;
}

spmd_status spmd__collective_keep_input(const struct operation *op, struct arena *arena,
                                        const void **data)
{
    size_t bytes = spmd__block_bytes(op->in);
    void *copy;
    *data = op->in->data;
    if (!op->out || op->out->data != op->in->data || bytes == 0)
        return SPMD_OK;
    TRY(spmd__arena_take(arena, bytes, 1, &copy));
    *data = memcpy(copy, op->in->data, bytes);
    return SPMD_OK;
}

spmd_status spmd__collective_keep_inputs(struct operation *const ops[], int64_t n,
                                         const void ***data)
{
    struct arena *arena = ops[0]->ctx->arena;
    TRY(spmd__arena_take(arena, (size_t)n, sizeof **data, data));
    for (int64_t m = 0; m < n; m++)
        TRY(spmd__collective_keep_input(ops[m], arena, &(*data)[m]));
    return SPMD_OK;
}

spmd_status spmd__collective_resolve_dim(const struct operation *op, int ndim, int *dim)
{
    int resolved = *dim < 0 ? *dim + ndim : *dim;
    if (resolved < 0 || resolved >= ndim || ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s over %s: %s", op->kind->name, op->axes,
                         spmd__absent("dim", *dim, -ndim, ndim).text);
    *dim = resolved;
    return SPMD_OK;
}

void spmd__collective_give(struct operation *const ops[], int64_t n, int64_t first, int64_t count,
                           const void *elements)
{
    for (int64_t m = 0; m < n; m++) {
        const spmd_block *out = ops[m]->out;
        size_t size = out ? spmd_dtype_size(out->dtype) : 0;
        if (size > 0 && count > 0)
            memcpy((char *)out->data + (size_t)first * size, elements, (size_t)count * size);
    }
}

/* Blocks that lie in each other's memory, but are not one. */
static bool overlap(const spmd_block *a, const spmd_block *b)
{
    uintptr_t at_a = (uintptr_t)a->data, at_b = (uintptr_t)b->data;
    size_t bytes_a = spmd__block_bytes(a), bytes_b = spmd__block_bytes(b);
    bool same = at_a == at_b && a->dtype == b->dtype && bytes_a == bytes_b;
    bool apart = at_a + bytes_a <= at_b || at_b + bytes_b <= at_a;
    return !same && !apart && bytes_a > 0 && bytes_b > 0;
}

/* Members write `out` while others still read `in`: all, part by part, where these are one. */
static spmd_status check_blocks(const struct operation *op)
{
    const char *name = op->kind->name;
    if (!op->in || !op->out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s needs a block to read and one to write", name);
    TRY(spmd__block_check(op->in, "the block to read"));
    TRY(spmd__block_check(op->out, "the block to write"));
    if (!spmd__block_is_dense(op->in) || !spmd__block_is_dense(op->out))
        return spmd_fail(SPMD_ERR_SHAPE, "%s needs dense blocks, %s has strides", name,
                         spmd__block_is_dense(op->in) ? "out" : "its input");
    if (overlap(op->in, op->out))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s: out overlaps its input, and is not the same block: give it memory of "
                         "its own",
                         name);
    return SPMD_OK;
}

spmd_status spmd__collective_check(struct operation *op, const struct group *group, int64_t size)
{
    TRY(check_blocks(op));
    return op->kind->check(op, group, size);
}

spmd_status spmd__collective_check_shape(struct operation *op, const struct group *group,
                                         int64_t size)
{
    int64_t bytes;
    TRY(spmd__type_check(op->in->dtype, spmd_block_shape(op->in), &bytes));
    return op->kind->check(op, group, size);
}

static void describe_axes(const struct operation *op, const struct group *group, struct text *text)
{
    if (group)
        spmd__axis_list_print(text, &group->mesh->axes, &group->axes);
    else
        spmd__text_add(text, "%s", op->axes);
    if (group && group->partition.count > 0)
        spmd__text_add(text, " in groups");
}

void spmd__collective_describe(const struct operation *op, const struct group *group,
                               const char *phase, struct text *text)
{
    spmd__text_add(text, "%s%s over ", op->kind->name, phase);
    describe_axes(op, group, text);
    spmd__text_add(text, " of %s[", spmd_dtype_name(op->in->dtype));
    for (int d = 0; d < op->in->ndim; d++)
        if (op->free_dims >> d & 1)
            spmd__text_add(text, "%s?", d ? "," : "");
        else
            spmd__text_add(text, "%s%lld", d ? "," : "", (long long)op->in->shape[d]);
    spmd__text_add(text, "]");
    if (op->kind->describe)
        op->kind->describe(op, text);
}

static spmd_status meet(const struct operation *op, struct group *group, const char *what)
{
    char buffer[256];
    if (!group->real->mesh->watch)
        return SPMD_OK;
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__text_add(&text, "%s", what);
    spmd__collective_describe(op, group, "", &text);
    return spmd__group_meet(group, buffer);
}

spmd_status spmd__collective_meet(const struct operation *op, struct group *group)
{
    return meet(op, group, "");
}

static spmd_status run(struct operation *op, struct group *group)
{
    TRY(spmd__group_open(group));
    return op->kind->run(op, group);
}

spmd_status spmd__collective_prepare(struct operation *op, struct group **group)
{
    TRY(spmd__ctx_group(op->ctx, op->axes, group));
    return spmd__collective_check(op, *group, (*group)->size);
}

/* What MPI says of ranks that do different things does not say so. */
static spmd_status explain(const struct operation *op, const struct group *group,
                           spmd_status status)
{
    if (status != SPMD_ERR_MPI || spmd__watch_checks(group->real->mesh->watch))
        return status;
    return spmd_fail(status,
                     "%s over %s: %s; if the ranks do not do the same here, SPMD_CHECK=1 in the "
                     "environment finds out which",
                     op->kind->name, op->axes, spmd_error_message());
}

static spmd_status run_among_ranks(struct operation *op)
{
    struct group *group;
    TRY(spmd__collective_prepare(op, &group));
    TRY(spmd__vmap_check_counts(op->ctx, group));
    TRY(spmd__collective_meet(op, group));
    struct arena_mark mark = spmd__arena_mark(op->ctx->arena);
    spmd_status status = run(op, group);
    spmd__arena_reset(op->ctx->arena, mark);
    spmd__group_leave(group);
    return explain(op, group, status);
}

struct operation spmd__operation_along(const struct operation_kind *kind, spmd_ctx *ctx,
                                       const spmd_block *in, const char *axes, int dim, int to_dim,
                                       spmd_tiling tiling, spmd_block *out)
{
    return (struct operation){.kind = kind,
                              .ctx = ctx,
                              .in = in,
                              .out = out,
                              .axes = axes,
                              .dim = dim,
                              .to_dim = to_dim,
                              .tiling = tiling};
}

spmd_status spmd__collective_run(struct operation *op)
{
    struct place place = spmd__place();
    spmd_status status =
        spmd__vmap_binds(op->ctx, op->axes) ? spmd__vmap_join(op) : run_among_ranks(op);
    if (status != SPMD_OK && place.file) /* also of a body that returns it without SPMD_TRY */
        spmd_passed(status, place.file, place.line, place.call);
    return status;
}

static spmd_status find_shape(const struct operation *op, struct group *group, spmd_shape *shape)
{
    TRY(spmd__group_open(group));
    return op->kind->shape(op, group, group->size, group->index, shape);
}

spmd_status spmd__collective_shape(struct operation *op, spmd_shape *out)
{
    struct group *group;
    spmd_shape shape;
    if (!op->in || !out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s_shape needs a block, and a place for the shape",
                         op->kind->name);
    if (spmd__vmap_binds(op->ctx, op->axes))
        return spmd__vmap_shape(op, out);
    TRY(spmd__ctx_group(op->ctx, op->axes, &group));
    TRY(spmd__collective_check_shape(op, group, group->size));
    TRY(spmd__vmap_check_counts(op->ctx, group));
    TRY(meet(op, group, "the shape of "));
    struct arena_mark mark = spmd__arena_mark(op->ctx->arena);
    spmd_status status = find_shape(op, group, &shape);
    spmd__arena_reset(op->ctx->arena, mark);
    spmd__group_leave(group);
    if (status == SPMD_OK)
        *out = shape;
    return status;
}

int64_t spmd_axis_index(const spmd_ctx *ctx, const char *axes)
{
    struct group *group;
    if (spmd__vmap_binds(ctx, axes))
        return spmd__vmap_axis_index(ctx, axes);
    return spmd__ctx_group(ctx, axes, &group) == SPMD_OK ? group->index : -1;
}

int64_t spmd_axis_size(const spmd_ctx *ctx, const char *axes)
{
    struct group *group;
    if (spmd__vmap_binds(ctx, axes))
        return spmd__vmap_axis_size(ctx, axes);
    return spmd__ctx_group(ctx, axes, &group) == SPMD_OK ? group->size : -1;
}
