/* comm/near.c - large collectives among ranks that can read each other's blocks. */
#include "comm/near.h"

#include <string.h>

#include "core/arithmetic.h"
#include "core/copy.h"
#include "core/half.h"
#include "core/layout.h"
#include "core/pool.h"

/* The members' blocks in one round of their node. */
struct round {
    const struct group *group;
    struct node *node;
    int64_t bytes; /* about so many are read from each */
    const char *own;
};

static enum way way_of(const struct round *round, bool in_pool)
{
    return spmd__node_way(round->node, in_pool, round->bytes, 1);
}

/* Whether the others may read memory of this rank's. */
static bool is_readable(const struct round *round, const void *block)
{
    return way_of(round, spmd__pool_offset(block) >= 0) != WAY_MESSAGES;
}

/* Shows `block` to the others, where it can be read and `well` holds. *all says whether that is so
 * for all members, who find the same. */
static spmd_status begin_round(struct round *round, const void *block, bool well, bool *all)
{
    bool readable = well && is_readable(round, block);
    *all = readable;
    round->own = block;
    spmd__node_offer(round->node, readable ? block : NULL);
    for (int64_t m = 0; m < round->group->size; m++) {
        struct shown shown;
        if (m == round->group->index)
            continue;
        TRY(spmd__node_await(round->node, (int)m, &shown));
        *all = *all && shown.address;
    }
    return SPMD_OK;
}

/* Bytes `at` and on of a member's block, here; NULL: they are to be read, from `shown`. No waiting,
 * it has been awaited. */
static spmd_status find_block(const struct round *round, int64_t member, int64_t at,
                              struct shown *shown, const char **data)
{
    *data = round->own + at;
    if (member == round->group->index)
        return SPMD_OK;
    TRY(spmd__node_await(round->node, (int)member, shown));
    *data = way_of(round, shown->mapped) == WAY_POOL ? shown->mapped + at : NULL;
    return SPMD_OK;
}

/* The same bytes where they lie, or in `scratch`. */
static spmd_status look_at(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                           void *scratch, const char **data)
{
    struct shown shown;
    TRY(find_block(round, member, at, &shown, data));
    if (*data)
        return SPMD_OK;
    spmd__node_fetch_bytes(&shown, scratch, shown.address + at, (size_t)bytes);
    *data = scratch;
    return SPMD_OK;
}

/* Copies them. */
static spmd_status take(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                        char *to, bool past_cache)
{
    struct shown shown;
    const char *data;
    TRY(find_block(round, member, at, &shown, &data));
    if (!data)
        spmd__node_fetch_bytes(&shown, to, shown.address + at, (size_t)bytes);
    else if (past_cache)
        spmd__copy_past_cache(to, data, (size_t)bytes);
    else
        memcpy(to, data, (size_t)bytes);
    return SPMD_OK;
}

static spmd_status end_round(struct round *round)
{
    spmd__node_finish(round->node);
    for (int64_t m = 0; m < round->group->size; m++)
        if (m != round->group->index)
            TRY(spmd__node_await_reader(round->node, (int)m));
    return SPMD_OK;
}

/* Whether the group's ranks are all near. */
static spmd_status find_node(const struct group *group, int64_t bytes, struct round *round)
{
    *round = (struct round){.group = group, .bytes = bytes / group->size};
    if (bytes == 0 || (double)bytes < group->mesh->costs.pool_from || group->size < 2)
        return SPMD_OK;
    TRY(spmd__group_node(group, &round->node));
    if (spmd__node_size(round->node) != group->size)
        round->node = NULL;
    return SPMD_OK;
}

/* Whether so many bytes, written by the members, are too much for their caches. */
static bool is_past_cache(const struct group *group, int64_t bytes)
{
    return (double)bytes > group->mesh->costs.stream_from;
}

/* Elements that are added up at a time: their sums stay in the nearest cache. Of blocks that lie
 * here a page, so that the next one of each is looked up meanwhile (core/copy.c); of others more,
 * since each reading is a system call. */
enum { CHUNK_BYTES = 1 << 14, CHUNK_FLOATS = CHUNK_BYTES / sizeof(float), PAGE_BYTES = 1 << 12 };

/* A row of sums, in the type that carries them, and room to widen what is added, and to read it. */
struct chunk {
    _Alignas(64) char sums[CHUNK_BYTES];
    float wide[CHUNK_FLOATS];
    _Alignas(64) char row[CHUNK_BYTES];
};

static bool is_half(spmd_dtype dtype)
{
    return dtype == SPMD_F16 || dtype == SPMD_BF16;
}

static void add_row(struct chunk *chunk, spmd_reduction reduction, spmd_dtype dtype, int64_t count,
                    const char *row, bool first)
{
    void *to = first ? (void *)chunk->sums : (void *)chunk->wide;
    if (is_half(dtype)) {
        spmd__widen(dtype, count, (const void *)row, to);
        if (!first)
            spmd__accumulate(reduction, SPMD_F32, count, chunk->wide, chunk->sums);
    } else if (first) {
        memcpy(chunk->sums, row, (size_t)count * spmd_dtype_size(dtype));
    } else {
        spmd__accumulate(reduction, dtype, count, row, chunk->sums);
    }
}

static void store_row(struct chunk *chunk, const struct near_reduction *what, int64_t count,
                      char *out, bool past_cache)
{
    spmd_dtype dtype = what->dtype;
    size_t bytes = (size_t)count * spmd_dtype_size(dtype);
    if (what->divisor > 0)
        spmd__divide(dtype, count, chunk->sums, what->divisor,
                     is_half(dtype) ? (void *)out : chunk->sums);
    if (is_half(dtype) && what->divisor > 0)
        return;
    if (is_half(dtype))
        spmd__narrow(dtype, count, (const void *)chunk->sums, (void *)out);
    else if (past_cache)
        spmd__copy_past_cache(out, chunk->sums, bytes);
    else
        memcpy(out, chunk->sums, bytes);
}

static spmd_status chunk_bytes(const struct round *round, int64_t *bytes)
{
    *bytes = PAGE_BYTES;
    for (int64_t m = 0; m < round->group->size; m++) {
        struct shown shown;
        const char *data;
        TRY(find_block(round, m, 0, &shown, &data));
        if (!data)
            *bytes = CHUNK_BYTES;
    }
    return SPMD_OK;
}

/* out = the reduction of the members' elements lo ... hi - 1. */
static spmd_status reduce_range(const struct round *round, const struct near_reduction *what,
                                int64_t lo, int64_t hi, char *out, bool past_cache)
{
    struct chunk chunk;
    spmd_dtype dtype = what->dtype;
    int64_t size = (int64_t)spmd_dtype_size(dtype);
    int64_t most;
    TRY(chunk_bytes(round, &most));
    most /= is_half(dtype) ? (int64_t)sizeof(float) : size;
    for (int64_t at = lo; at < hi; at += most, out += most * size) {
        int64_t count = hi - at < most ? hi - at : most;
        for (int64_t m = 0; m < round->group->size; m++) {
            const char *row;
            TRY(look_at(round, m, at * size, count * size, chunk.row, &row));
            __builtin_prefetch(row + count * size);
            add_row(&chunk, what->reduction, dtype, count, row, m == 0);
        }
        store_row(&chunk, what, count, out, past_cache);
    }
    spmd__copy_flush();
    return SPMD_OK;
}

/* The elements that a member adds up, of `count`: whole cache lines. */
static void share_of(const struct group *group, int64_t member, int64_t count, int64_t size,
                     int64_t *lo, int64_t *hi)
{
    int64_t unit = size < 64 ? 64 / size : 1;
    *lo = 0;
    *hi = (count + unit - 1) / unit;
    spmd__layout_split(group->size, member, lo, hi);
    *lo = *lo * unit < count ? *lo * unit : count;
    *hi = *hi * unit < count ? *hi * unit : count;
}

/* Takes the other members' shares of the result. */
static spmd_status fetch_shares(const struct round *round, int64_t count, int64_t size, char *out,
                                bool past_cache)
{
    const struct group *group = round->group;
    for (int64_t i = 1; i < group->size; i++) {
        int64_t m = (group->index + i) % group->size, lo, hi;
        share_of(group, m, count, size, &lo, &hi);
        TRY(take(round, m, lo * size, (hi - lo) * size, out + lo * size, past_cache));
    }
    spmd__copy_flush();
    return SPMD_OK;
}

spmd_status spmd__near_all_reduce(const struct group *group, struct near_reduction what,
                                  const void *in, void *out, int64_t count, bool *done)
{
    int64_t size = (int64_t)spmd_dtype_size(what.dtype), lo, hi;
    struct round round;
    *done = false;
    TRY(find_node(group, count * size, &round));
    if (!round.node)
        return SPMD_OK;
    bool past_cache = is_past_cache(group, count * size * group->size);
    TRY(begin_round(&round, in, is_readable(&round, out), done));
    share_of(group, group->index, count, size, &lo, &hi);
    if (*done)
        TRY(reduce_range(&round, &what, lo, hi, (char *)out + lo * size, past_cache));
    TRY(end_round(&round)); /* from here on `in`, which may be `out`, is nobody's */
    if (!*done)
        return SPMD_OK;
    bool all;
    TRY(begin_round(&round, out, true, &all));
    TRY(fetch_shares(&round, count, size, out, past_cache));
    return end_round(&round);
}

spmd_status spmd__near_reduce_scatter(const struct group *group, struct near_reduction what,
                                      const void *in, const int64_t counts[], void *out, bool *done)
{
    int64_t size = (int64_t)spmd_dtype_size(what.dtype), total = 0, lo = 0;
    struct round round;
    for (int64_t m = 0; m < group->size; m++) {
        lo += m < group->index ? counts[m] : 0;
        total += counts[m];
    }
    *done = false;
    TRY(find_node(group, total * size, &round));
    if (!round.node)
        return SPMD_OK;
    TRY(begin_round(&round, in, true, done));
    if (*done)
        TRY(reduce_range(&round, &what, lo, lo + counts[group->index], out,
                         is_past_cache(group, total * size)));
    return end_round(&round);
}

spmd_status spmd__near_all_gather(const struct group *group, const void *in, const int64_t bytes[],
                                  void *out, bool *done)
{
    int64_t total = 0, at = 0;
    struct round round;
    for (int64_t m = 0; m < group->size; m++)
        total += bytes[m];
    *done = false;
    TRY(find_node(group, total, &round));
    if (!round.node)
        return SPMD_OK;
    bool past_cache = is_past_cache(group, total * group->size);
    TRY(begin_round(&round, in, true, done));
    for (int64_t m = 0; *done && m < group->size; at += bytes[m++])
        TRY(take(&round, m, 0, bytes[m], (char *)out + at, past_cache));
    spmd__copy_flush();
    return end_round(&round);
}

spmd_status spmd__near_all_to_all(const struct group *group, int64_t each, const void *in,
                                  void *out, bool *done)
{
    int64_t total = each * group->size;
    struct round round;
    *done = false;
    TRY(find_node(group, total, &round));
    if (!round.node)
        return SPMD_OK;
    bool past_cache = is_past_cache(group, total * group->size);
    TRY(begin_round(&round, in, true, done));
    for (int64_t i = 0; *done && i < group->size; i++) { /* not all begin with the same one */
        int64_t m = (group->index + i) % group->size;
        TRY(take(&round, m, group->index * each, each, (char *)out + m * each, past_cache));
    }
    spmd__copy_flush();
    return end_round(&round);
}
