/* comm/pending.c - what a call that only begins leaves to be waited for. */
#include "comm/pending.h"

#include <limits.h>

#include "comm/mpi.h"

spmd_status spmd__pending_reserve(struct pending *pending, int64_t count, struct arena *arena)
{
    if (count > INT_MAX)
        return spmd_fail(SPMD_ERR_MPI, "%lld messages at once are more than MPI counts",
                         (long long)count);
    TRY(spmd__arena_take(arena, (size_t)count, sizeof *pending->request, &pending->request));
    pending->count = (int)count;
    for (int i = 0; i < pending->count; i++)
        pending->request[i] = MPI_REQUEST_NULL;
    return SPMD_OK;
}

spmd_status spmd__pending_wait(struct pending *pending)
{
    TRY_MPI(MPI_Waitall(pending->count, pending->request, MPI_STATUSES_IGNORE));
    return SPMD_OK;
}
