/* map/pargmax.c - which member has the greatest, the smallest element.
 *
 * Elements become whole numbers of the same order (core/order.h). Where these leave room for the
 * member, the greatest number of both together is the answer, in one reduction; else a second one
 * finds the lowest of the members that have the greatest. */
#include <string.h>

#include "comm/reduce.h"
#include "core/order.h"
#include "map/reduce.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    (void)size;
    TRY(spmd__reduce_check_order(op));
    TRY(spmd__collective_check_out(op, SPMD_I32, spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

/* The keys of `count` elements from `first` on. */
static void find_keys(const struct operation *op, int64_t first, int64_t count, uint64_t *keys)
{
    const spmd_block *in = op->in;
    const char *from = (const char *)in->data + (size_t)first * spmd_dtype_size(in->dtype);
    spmd__order(in->dtype, op->kind->reduction == SPMD_MIN, count, from, keys);
}

/* A piece of a call. */
struct piece {
    const struct group *group;
    struct arena *arena;
    int64_t count;
    uint64_t *keys, *best; /* [count] this member's, and the greatest of all; may be the same */
    int32_t *out;          /* [count] */
};

/* The lowest member has the greatest of equal keys. */
static spmd_status rank_together(const struct piece *piece)
{
    uint32_t mine = UINT32_MAX - (uint32_t)piece->group->index;
    for (int64_t i = 0; i < piece->count; i++)
        piece->keys[i] |= mine;
    TRY(spmd__all_reduce(piece->group, SPMD_MAX, SPMD_U64, piece->keys, piece->keys, piece->count,
                         piece->arena));
    for (int64_t i = 0; i < piece->count; i++)
        piece->out[i] = (int32_t)(UINT32_MAX - (uint32_t)piece->keys[i]);
    return SPMD_OK;
}

static spmd_status rank_in_turn(const struct piece *piece)
{
    TRY(spmd__all_reduce(piece->group, SPMD_MAX, SPMD_U64, piece->keys, piece->best, piece->count,
                         piece->arena));
    for (int64_t i = 0; i < piece->count; i++)
        piece->out[i] = piece->keys[i] == piece->best[i] ? (int32_t)piece->group->index : INT32_MAX;
    return spmd__all_reduce(piece->group, SPMD_MIN, SPMD_I32, piece->out, piece->out, piece->count,
                            piece->arena);
}

static spmd_status take_keys(struct arena *arena, int64_t count, uint64_t **keys)
{
    return spmd__arena_take(arena, (size_t)spmd__reduce_piece(count), sizeof **keys, keys);
}

static spmd_status run(struct operation *op, struct group *group)
{
    struct piece piece = {.group = group, .arena = op->ctx->arena};
    int64_t count = spmd_block_size(op->in);
    bool together = spmd_dtype_size(op->in->dtype) <= sizeof(uint32_t);
    TRY(take_keys(piece.arena, count, &piece.keys));
    if (!together)
        TRY(take_keys(piece.arena, count, &piece.best));
    for (int64_t first = 0; first < count; first += REDUCE_PIECE) {
        piece.count = spmd__reduce_piece(count - first);
        piece.out = (int32_t *)op->out->data + first;
        find_keys(op, first, piece.count, piece.keys);
        TRY(together ? rank_together(&piece) : rank_in_turn(&piece));
    }
    return SPMD_OK;
}

/* The first of several that are equal stays. */
static void keep_greater(int32_t member, int64_t count, const uint64_t *keys, uint64_t *best,
                         int32_t *out)
{
    for (int64_t i = 0; i < count; i++)
        if (keys[i] > best[i]) {
            best[i] = keys[i];
            out[i] = member;
        }
}

/* A piece of a call among members that are all here. */
static void rank_locally(struct operation *const ops[], int64_t n, int64_t first,
                         const struct piece *piece)
{
    memset(piece->out, 0, (size_t)piece->count * sizeof *piece->out);
    find_keys(ops[0], first, piece->count, piece->best);
    for (int64_t m = 1; m < n; m++) {
        find_keys(ops[m], first, piece->count, piece->keys);
        keep_greater((int32_t)m, piece->count, piece->keys, piece->best, piece->out);
    }
    spmd__collective_give(ops, n, first, piece->count, piece->out);
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    struct piece piece = {.arena = ops[0]->ctx->arena};
    int64_t count = spmd_block_size(ops[0]->in);
    TRY(take_keys(piece.arena, count, &piece.keys));
    TRY(take_keys(piece.arena, count, &piece.best));
    TRY(spmd__arena_take(piece.arena, (size_t)spmd__reduce_piece(count), sizeof *piece.out,
                         &piece.out));
    for (int64_t first = 0; first < count; first += REDUCE_PIECE) {
        piece.count = spmd__reduce_piece(count - first);
        rank_locally(ops, n, first, &piece);
    }
    return SPMD_OK;
}

static const struct operation_kind pargmax = {
    .name = "pargmax", .reduction = SPMD_MAX, .check = check, .run = run, .local = local};
static const struct operation_kind pargmin = {
    .name = "pargmin", .reduction = SPMD_MIN, .check = check, .run = run, .local = local};

spmd_status spmd_pargmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct operation op = {.kind = &pargmax, .ctx = ctx, .in = in, .axes = axes, .out = out};
    return spmd__collective_run(&op);
}

spmd_status spmd_pargmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct operation op = {.kind = &pargmin, .ctx = ctx, .in = in, .axes = axes, .out = out};
    return spmd__collective_run(&op);
}
