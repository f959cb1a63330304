/* comm/pending.h - what a call that only begins leaves to be waited for. */
#ifndef COMM_PENDING_H
#define COMM_PENDING_H

#include <mpi.h>
#include <stdint.h>

#include "core/arena.h"

struct pending {
    int count;
    MPI_Request *request; /* [count] in an arena */
};

/* Room for `count` requests, which do not pend yet. */
spmd_status spmd__pending_reserve(struct pending *pending, int64_t count, struct arena *arena);

spmd_status spmd__pending_wait(struct pending *pending);

#endif
