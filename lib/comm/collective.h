/* comm/collective.h - reductions and moves of plain memory over a communicator, in 64-bit counts.
 * They know elements, no blocks and no bodies. */
#ifndef COMM_COLLECTIVE_H
#define COMM_COLLECTIVE_H

#include <mpi.h>

#include <spmd/types.h>

#include "core/error.h"

/* out[i] = the reduction of all ranks' in[i]; `in` may be `out`. f16 and bf16 in f32, rounded
 * once; max and min give NaN if there is one; SPMD_ERR_DTYPE for max and min of complex. bool
 * sums are logical or: count in i32 instead. */
spmd_status spmd__all_reduce(MPI_Comm comm, spmd_reduction op, spmd_dtype dtype, const void *in,
                             void *out, int64_t count);

/* All ranks' bytes after each other, in rank order: `bytes` [size of comm] from each. */
spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out);

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes);

#endif
