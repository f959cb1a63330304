/* comm/round.c - rounds in which members read each other's blocks, and write each other's results.
 */
#include "comm/round.h"

#include "core/cost.h"
#include "core/pool.h"

spmd_status spmd__round_open(const struct group *group, int64_t bytes, struct arena *scratch,
                             struct round *round)
{
    *round = (struct round){.group = group, .bytes = bytes / group->size};
    if (bytes == 0 || (double)bytes < group->mesh->costs.pool_from || group->size < 2)
        return SPMD_OK;
    TRY(spmd__arena_take(scratch, (size_t)group->size, sizeof *round->sights, &round->sights));
    TRY(spmd__arena_take(scratch, (size_t)group->size, sizeof *round->rooms, &round->rooms));
    TRY(spmd__group_node(group, &round->node));
    if (spmd__node_size(round->node) != group->size)
        round->node = NULL;
    return SPMD_OK;
}

enum stores spmd__round_stores(const struct round *round, int64_t bytes)
{
    const struct group *group = round->group;
    return spmd__cost_stores(&group->mesh->costs, (double)bytes, group->size);
}

static enum way way_of(const struct round *round, bool in_pool)
{
    return spmd__node_way(round->node, in_pool, round->bytes, 1);
}

static enum way way_to(const struct round *round, const void *block)
{
    return way_of(round, spmd__pool_offset(block) >= 0);
}

bool spmd__round_reads(const struct round *round, const void *block)
{
    return block && way_to(round, block) != WAY_MESSAGES; /* an empty block may have no memory */
}

/* What another member shows. */
static spmd_status meet(struct round *round, int64_t member, bool *all)
{
    struct sight *sight = &round->sights[member];
    TRY(spmd__node_await(round->node, (int)member, &sight->shown));
    bool here = way_of(round, sight->shown.mapped) == WAY_POOL;
    sight->data = here ? sight->shown.mapped : NULL;
    round->rooms[member] = sight->shown.room;
    round->writes = round->writes && sight->shown.room;
    *all = *all && sight->shown.address;
    return SPMD_OK;
}

spmd_status spmd__round_begin(struct round *round, const void *block, void *result, bool well,
                              bool *all)
{
    const struct group *group = round->group;
    bool readable = well && spmd__round_reads(round, block);
    bool writable = result && way_to(round, result) == WAY_POOL;
    *all = readable;
    round->writes = writable;
    round->sights[group->index] = (struct sight){.data = block};
    round->rooms[group->index] = result;
    spmd__node_offer(round->node, readable ? block : NULL, writable ? result : NULL);
    for (int64_t m = 0; m < group->size; m++)
        if (m != group->index)
            TRY(meet(round, m, all));
    return SPMD_OK;
}

const char *spmd__round_look(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                             void *scratch)
{
    const struct sight *sight = &round->sights[member];
    if (sight->data)
        return sight->data + at;
    spmd__node_fetch_bytes(&sight->shown, scratch, sight->shown.address + at, (size_t)bytes);
    return scratch;
}

void spmd__round_take(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                      char *to, enum stores stores)
{
    const char *from = spmd__round_look(round, member, at, bytes, to);
    if (from != to)
        spmd__copy(to, from, (size_t)bytes, stores);
}

spmd_status spmd__round_end(struct round *round)
{
    spmd__copy_flush();
    spmd__node_finish(round->node);
    for (int64_t m = 0; m < round->group->size; m++)
        if (m != round->group->index)
            TRY(spmd__node_await_reader(round->node, (int)m));
    return SPMD_OK;
}
