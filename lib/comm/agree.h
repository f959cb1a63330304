/* comm/agree.h - one verdict for all ranks of a collective call. */
#ifndef COMM_AGREE_H
#define COMM_AGREE_H

#include <mpi.h>
#include <stdint.h>

#include "core/error.h"

/* Collective over `comm`. Each rank brings its status, with its message recorded, and a digest
 * of the arguments that must be the same everywhere. All return SPMD_OK; or the status and the
 * message of the lowest failing rank, prefixed "rank 3: " unless all ranks failed alike; or, if
 * nobody failed and the digests differ, SPMD_ERR_DISAGREE. `name` is what messages call this rank:
 * its number in a communicator that the user knows. */
spmd_status spmd__agree(MPI_Comm comm, int name, spmd_status status, uint64_t digest);

/* The same, but where not all ranks of `comm` arrive within 5 s after a failure of this one, it
 * prints its message and ends the run by MPI_Abort: they wait for it elsewhere. */
spmd_status spmd__agree_or_abort(MPI_Comm comm, int name, spmd_status status, uint64_t digest);

/* Waits for all of `requests` [count] as long, after a failure of this rank, and ends the run by
 * its message then. */
spmd_status spmd__wait_or_abort(int count, MPI_Request requests[], int name);

/* Prints "spmd: error: MESSAGE" and ends the run. */
_Noreturn void spmd__abort(const char *message);

/* Waits for another rank to end the run, and for the launcher, which may leave this one seconds to
 * end by itself. */
void spmd__await_abort(void);

/* Ends the run by the last failure, which is that of this rank: "rank 3: MESSAGE". */
_Noreturn void spmd__abort_as(int name);

/* Ends the run by the last failure, which is that of several ranks: one of them tells it; should it
 * not come to that, so do the others. */
_Noreturn void spmd__abort_together(void);

#endif
