/* comm/near_reduce.c - large reductions among ranks that can read each other's blocks. */
#include <string.h>

#include "comm/near.h"
#include "comm/round.h"
#include "core/arithmetic.h"
#include "core/clones.h"
#include "core/half.h"
#include "core/layout.h"

/* Elements are added up a chunk at a time. Of blocks that lie here it is a page, so that the next
 * one of each is looked up meanwhile (core/copy.c). Of what a core's own cache does not hold it is
 * a few lines: then a processor has the reading of the next chunk under way while it adds up and
 * writes this one. Of blocks that lie elsewhere it is more, since each reading is a system call. */
enum { LINES_BYTES = 1 << 9, PAGE_BYTES = 1 << 12, FETCH_BYTES = 1 << 14 };
enum { LINE = 64, OWN_CACHE = 1 << 20 };

/* A row of sums, in the type that carries them; and room to widen what is added, or to fetch it. */
struct chunk {
    _Alignas(LINE) char sums[FETCH_BYTES];
    float wide[FETCH_BYTES / sizeof(float)];
    _Alignas(LINE) char row[FETCH_BYTES];
};

static void add_row(struct chunk *chunk, const struct near_reduction *what, int64_t count,
                    const char *row, bool first)
{
    spmd_dtype dtype = what->dtype;
    void *to = first ? (void *)chunk->sums : (void *)chunk->wide;
    if (spmd__is_half(dtype)) {
        spmd__widen(dtype, count, (const void *)row, to);
        if (!first)
            spmd__accumulate(what->reduction, SPMD_F32, count, chunk->wide, chunk->sums);
    } else if (first) {
        memcpy(chunk->sums, row, (size_t)count * spmd_dtype_size(dtype));
    } else {
        spmd__accumulate(what->reduction, dtype, count, row, chunk->sums);
    }
}

/* The sums as they are to be stored. */
static const void *finish_row(struct chunk *chunk, const struct near_reduction *what, int64_t count)
{
    void *result = spmd__is_half(what->dtype) ? chunk->row : chunk->sums;
    if (what->divisor > 0)
        spmd__divide(what->dtype, count, chunk->sums, what->divisor, result);
    else if (spmd__is_half(what->dtype))
        spmd__narrow(what->dtype, count, (const void *)chunk->sums, result);
    return result;
}

static int64_t chunk_bytes(const struct round *round)
{
    for (int64_t m = 0; m < round->group->size; m++)
        if (!round->sights[m].data)
            return FETCH_BYTES;
    return round->bytes * round->group->size > OWN_CACHE ? LINES_BYTES : PAGE_BYTES;
}

/* Calls for what comes after a row, or soon after some lines; behind the block it does no harm. It
 * has to be inlined: compilers leave out a call that changes nothing. */
INLINED void look_ahead(const char *row, int64_t bytes, int64_t chunk)
{
    enum { AHEAD = 1 << 11 };
    if (chunk == PAGE_BYTES)
        __builtin_prefetch(row + bytes);
    for (int64_t at = 0; at < bytes && chunk == LINES_BYTES; at += LINE)
        __builtin_prefetch(row + AHEAD + at);
}

/* Where a result goes: into bytes `at` and on of some blocks. */
struct target {
    char *const *blocks; /* [count] */
    int64_t count;
    int64_t at;
    enum stores stores;
};

/* Mixed stores are those of every second block: where there is one alone, all go past the caches,
 * since the blocks that are read keep the other way busy. */
static void store_row(const void *row, int64_t bytes, int64_t at, const struct target *target)
{
    for (int64_t i = 0; i < target->count; i++)
        spmd__copy(target->blocks[i] + at, row, (size_t)bytes, spmd__stores_of(target->stores, i));
}

/* The reduction of the members' elements lo ... hi - 1. */
static void reduce_range(const struct round *round, const struct near_reduction *what, int64_t lo,
                         int64_t hi, struct target target)
{
    struct chunk chunk;
    int64_t size = (int64_t)spmd_dtype_size(what->dtype), bytes = chunk_bytes(round);
    int64_t most = bytes / (spmd__is_half(what->dtype) ? (int64_t)sizeof(float) : size);
    for (int64_t first = lo, at = target.at; first < hi; first += most, at += most * size) {
        int64_t count = hi - first < most ? hi - first : most;
        for (int64_t m = 0; m < round->group->size; m++) {
            const char *row = spmd__round_look(round, m, first * size, count * size, chunk.row);
            look_ahead(row, count * size, bytes);
            add_row(&chunk, what, count, row, m == 0);
        }
        store_row(finish_row(&chunk, what, count), count * size, at, &target);
    }
}

/* The elements that a member adds up, of `count`: whole cache lines. */
static void share_of(const struct group *group, int64_t member, int64_t count, int64_t size,
                     int64_t *lo, int64_t *hi)
{
    int64_t unit = LINE / size;
    *lo = 0;
    *hi = (count + unit - 1) / unit;
    spmd__layout_split(group->size, member, lo, hi);
    *lo = *lo * unit < count ? *lo * unit : count;
    *hi = *hi * unit < count ? *hi * unit : count;
}

/* Takes the other members' shares of the result. */
static void take_shares(const struct round *round, int64_t count, int64_t size, char *out,
                        enum stores stores)
{
    const struct group *group = round->group;
    for (int64_t i = 1; i < group->size; i++) {
        int64_t m = (group->index + i) % group->size, lo, hi;
        share_of(group, m, count, size, &lo, &hi);
        spmd__round_take(round, m, lo * size, (hi - lo) * size, out + lo * size, stores);
    }
}

spmd_status spmd__near_all_reduce(const struct group *group, struct near_reduction what,
                                  const void *in, void *out, int64_t count, struct arena *scratch,
                                  bool *done)
{
    int64_t size = (int64_t)spmd_dtype_size(what.dtype), lo, hi;
    struct round round;
    char *own = out;
    *done = false;
    TRY(spmd__round_open(group, count * size, scratch, &round));
    if (!round.node)
        return SPMD_OK;
    enum stores stores = spmd__round_stores(&round, count * size * group->size);
    TRY(spmd__round_begin(&round, in, out, spmd__round_reads(&round, out), done));
    share_of(group, group->index, count, size, &lo, &hi);
    struct target all = {round.rooms, group->size, lo * size, stores};
    struct target mine = {&own, 1, lo * size, stores};
    if (*done)
        reduce_range(&round, &what, lo, hi, round.writes ? all : mine);
    TRY(spmd__round_end(&round)); /* from here on `in`, which may be `out`, is nobody's */
    if (!*done || round.writes)
        return SPMD_OK;
    bool shown;
    TRY(spmd__round_begin(&round, out, NULL, true, &shown));
    take_shares(&round, count, size, out, stores);
    return spmd__round_end(&round);
}

spmd_status spmd__near_reduce_scatter(const struct group *group, struct near_reduction what,
                                      const void *in, const int64_t counts[], void *out,
                                      struct arena *scratch, bool *done)
{
    int64_t size = (int64_t)spmd_dtype_size(what.dtype), total = 0, lo = 0;
    struct round round;
    for (int64_t m = 0; m < group->size; m++) {
        lo += m < group->index ? counts[m] : 0;
        total += counts[m];
    }
    *done = false;
    TRY(spmd__round_open(group, total * size, scratch, &round));
    if (!round.node)
        return SPMD_OK;
    enum stores stores = spmd__round_stores(&round, total * size);
    char *own = out;
    TRY(spmd__round_begin(&round, in, NULL, true, done));
    if (*done)
        reduce_range(&round, &what, lo, lo + counts[group->index],
                     (struct target){&own, 1, 0, stores});
    return spmd__round_end(&round);
}
