/* comm/near.c - large moves among ranks that can read each other's blocks. */
#include "comm/near.h"

#include "comm/round.h"

spmd_status spmd__near_all_gather(const struct group *group, const void *in, const int64_t bytes[],
                                  void *out, struct arena *scratch, bool *done)
{
    int64_t total = 0, at = 0;
    struct round round;
    for (int64_t m = 0; m < group->size; m++)
        total += bytes[m];
    *done = false;
    TRY(spmd__round_open(group, total, scratch, &round));
    if (!round.node)
        return SPMD_OK;
    enum stores stores = spmd__round_stores(&round, total * group->size);
    TRY(spmd__round_begin(&round, in, true, done));
    for (int64_t m = 0; *done && m < group->size; at += bytes[m++])
        spmd__round_take(&round, m, 0, bytes[m], (char *)out + at, stores);
    spmd__copy_flush();
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
    TRY(spmd__round_begin(&round, in, true, done));
    for (int64_t i = 0; *done && i < group->size; i++) { /* not all begin with the same one */
        int64_t m = (group->index + i) % group->size;
        spmd__round_take(&round, m, group->index * each, each, (char *)out + m * each, stores);
    }
    spmd__copy_flush();
    return spmd__round_end(&round);
}
