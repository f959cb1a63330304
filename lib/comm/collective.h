/* comm/collective.h - moves of plain memory over a communicator, in 64-bit counts. */
#ifndef COMM_COLLECTIVE_H
#define COMM_COLLECTIVE_H

#include <mpi.h>

#include <stdint.h>

#include "core/error.h"

/* All ranks' bytes after each other, in rank order: `bytes` [size of comm] from each. */
spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out);

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes);

#endif
