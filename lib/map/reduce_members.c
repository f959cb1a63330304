/* map/reduce_members.c - reductions among members that are here, and maybe more on other ranks. */
#include <string.h>

#include "comm/reduce.h"
#include "core/arithmetic.h"
#include "core/half.h"
#include "map/reduce.h"

/* A call, and a piece of it. */
struct reduction {
    struct operation *const *ops; /* [n] */
    int64_t n;
    struct group *group; /* NULL: these are all */
    const struct operation_kind *kind;
    spmd_dtype dtype, carrier;
    int64_t first, count; /* elements of the piece */
    void *total, *term;   /* a piece, in the carrier's type */
    void *result;         /* one in the type that comes out */
};

/* The piece of one member's block. */
static const void *load(const struct reduction *r, int64_t member, void *room)
{
    const char *data = r->ops[member]->in->data;
    return spmd__carry(r->kind->reduction, r->dtype, r->count,
                       data + (size_t)r->first * spmd_dtype_size(r->dtype), room);
}

static spmd_status reduce_piece(const struct reduction *r)
{
    const void *from = load(r, 0, r->total);
    if (from != r->total)
        memcpy(r->total, from, (size_t)r->count * spmd_dtype_size(r->carrier));
    for (int64_t m = 1; m < r->n; m++)
        spmd__accumulate(r->kind->reduction, r->carrier, r->count, load(r, m, r->term), r->total);
    if (!r->group)
        return SPMD_OK;
    return spmd__all_reduce(r->group, r->kind->reduction, r->carrier, r->total, r->total, r->count,
                            r->ops[0]->ctx->arena);
}

/* The total as elements of the result. */
static const void *round_piece(const struct reduction *r)
{
    int64_t members = r->n * (r->group ? r->group->size : 1);
    if (r->kind->mean)
        spmd__divide(r->dtype, r->count, r->total, members, r->result);
    else if (spmd__is_half(r->dtype))
        spmd__narrow(r->dtype, r->count, r->total, r->result);
    else
        return r->total;
    return r->result;
}

static spmd_status take_scratch(struct reduction *r, int64_t count)
{
    struct arena *arena = r->ops[0]->ctx->arena;
    size_t most = (size_t)spmd__reduce_piece(count), size = spmd_dtype_size(r->carrier);
    size_t largest = sizeof(double _Complex); /* of a result's elements */
    TRY(spmd__arena_take(arena, most, size, &r->total));
    TRY(spmd__arena_take(arena, most, size, &r->term));
    return spmd__arena_take(arena, most, largest, &r->result);
}

spmd_status spmd__reduce_members(struct operation *const ops[], int64_t n, struct group *group)
{
    const struct operation_kind *kind = ops[0]->kind;
    spmd_dtype dtype = ops[0]->in->dtype;
    int64_t count = spmd_block_size(ops[0]->in);
    struct reduction r = {.ops = ops,
                          .n = n,
                          .group = group,
                          .kind = kind,
                          .dtype = dtype,
                          .carrier = spmd__carrier(kind->reduction, dtype)};
    TRY(take_scratch(&r, count));
    for (; r.first < count; r.first += REDUCE_PIECE) {
        r.count = spmd__reduce_piece(count - r.first);
        TRY(reduce_piece(&r));
        spmd__collective_give(ops, n, r.first, r.count, round_piece(&r));
    }
    return SPMD_OK;
}
