/* comm/collective.h - moves of plain memory over a communicator, in 64-bit counts.
 *
 * Some take an arena for scratch memory, and a place for what pends: with `pending` they only
 * begin, and the arena must last until that was waited for; without, they wait themselves. */
#ifndef COMM_COLLECTIVE_H
#define COMM_COLLECTIVE_H

#include <mpi.h>

#include <stdint.h>

#include "comm/pending.h"
#include "core/error.h"

/* All ranks' bytes one after the other, in rank order: `bytes` [size of comm] from each. */
spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out,
                             struct arena *arena, struct pending *pending);

/* How much an all_to_all moves, which all ranks know alike. */
struct volume {
    int64_t each;  /* bytes of every message; -1: they differ */
    int64_t total; /* bytes of all messages of all ranks, or more */
};

/* To rank r go send[r] bytes of `in`, where they lie one after the other; recv[r] come from it, and
 * are laid in `out` in the same way. `in` is not `out`. */
spmd_status spmd__all_to_all(MPI_Comm comm, struct volume volume, const void *in,
                             const int64_t send[], void *out, const int64_t recv[],
                             struct arena *arena, struct pending *pending);

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes);

#endif
