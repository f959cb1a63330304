/* array/stands.c - where the ranks of two meshes stand in each of them. */
#include "array/stands.h"

#include <stdlib.h>

#include "comm/bridge.h"

/* Ranks are those of the source, then those that only the target has. */
spmd_status spmd__stands_open(const spmd_mesh *from, const spmd_mesh *to, struct stands *stands)
{
    int64_t from_size = spmd_mesh_size(from), to_size = spmd_mesh_size(to);
    *stands = (struct stands){.from = from, .to = to, .count = from_size};
    if (spmd_mesh_equal(from, to))
        return SPMD_OK;
    if (from->abstract) {
        stands->count = from_size > to_size ? from_size : to_size;
        return SPMD_OK;
    }
    TRY(spmd__bridge_homes(from, to, &stands->homes));
    for (int64_t p = 0; p < to_size; p++)
        stands->count += stands->homes[p] < 0;
    return SPMD_OK;
}

void spmd__stands_close(struct stands *stands)
{
    free(stands->homes);
}

/* The position in the target of the n-th rank that the source does not have; and that of one which
 * stands at `home` in the source. -1: there is none. */
static int64_t find_newcomer(const struct stands *stands, int64_t n)
{
    for (int64_t p = 0; p < spmd_mesh_size(stands->to); p++)
        if (stands->homes[p] < 0 && n-- == 0)
            return p;
    return -1;
}

static int64_t find_resident(const struct stands *stands, int64_t home)
{
    for (int64_t p = 0; p < spmd_mesh_size(stands->to); p++)
        if (stands->homes[p] == home)
            return p;
    return -1;
}

struct stand spmd__stands_find(const struct stands *stands, int64_t rank)
{
    int64_t from_size = spmd_mesh_size(stands->from), to_size = spmd_mesh_size(stands->to);
    struct stand stand = {rank < from_size ? rank : -1, rank < to_size ? rank : -1};
    if (stands->homes)
        stand.to =
            stand.from < 0 ? find_newcomer(stands, rank - from_size) : find_resident(stands, rank);
    return stand;
}

int64_t spmd__stands_number(const struct stands *stands, struct stand stand)
{
    int64_t number = spmd_mesh_size(stands->from);
    if (stand.from >= 0 || stand.to < 0)
        return stand.from;
    for (int64_t p = 0; p < stand.to; p++)
        number += stands->homes[p] < 0;
    return number;
}

struct stand spmd__stands_self(const struct stands *stands)
{
    return (struct stand){stands->from->position, stands->to->position};
}

int64_t spmd__stands_home(const struct stands *stands, int64_t position)
{
    if (stands->homes)
        return stands->homes[position];
    return position < spmd_mesh_size(stands->from) ? position : -1;
}
