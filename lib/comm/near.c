/* comm/near.c - large moves among ranks that can read each other's blocks. */
#include "comm/near.h"

#include "comm/round.h"

/* Each member reads its own block and writes it to all: so it is read once. */
static void give_to_all(const struct round *round, const char *in, const int64_t bytes[],
                        enum stores stores)
{
    const struct group *group = round->group;
    size_t at = 0;
    for (int64_t m = 0; m < group->index; m++)
        at += (size_t)bytes[m];
    spmd__copy_to_all(round->rooms, group->size, at, in, (size_t)bytes[group->index], stores);
}

static void take_from_all(const struct round *round, const int64_t bytes[], char *out,
                          enum stores stores)
{
    for (int64_t m = 0; m < round->group->size; out += bytes[m++])
        spmd__round_take(round, m, 0, bytes[m], out, stores);
}

spmd_status spmd__near_all_gather(const struct group *group, const void *in, const int64_t bytes[],
                                  void *out, struct arena *scratch, bool *done)
{
    int64_t total = 0;
    struct round round;
    for (int64_t m = 0; m < group->size; m++)
        total += bytes[m];
    *done = false;
    TRY(spmd__round_open(group, total, scratch, &round));
    if (!round.node)
        return SPMD_OK;
    enum stores stores = spmd__round_stores(&round, total * group->size);
    TRY(spmd__round_begin(&round, in, out, true, done));
    if (*done && round.writes)
        give_to_all(&round, in, bytes, stores);
    else if (*done)
        take_from_all(&round, bytes, out, stores);
    return spmd__round_end(&round);
}

spmd_status spmd__near_all_to_all(const struct group *group, int64_t each, const void *in,
                                  void *out, struct arena *scratch, bool *done)
{
    int64_t total = each * group->size;
    struct round round;
    *done = false;
    TRY(spmd__round_open(group, total, scratch, &round));
    if (!round.node)
        return SPMD_OK;
    enum stores stores = spmd__round_stores(&round, total * group->size);
    TRY(spmd__round_begin(&round, in, NULL, true, done));
    for (int64_t i = 0; *done && i < group->size; i++) { /* not all begin with the same one */
        int64_t m = (group->index + i) % group->size;
        spmd__round_take(&round, m, group->index * each, each, (char *)out + m * each, stores);
    }
    return spmd__round_end(&round);
}
