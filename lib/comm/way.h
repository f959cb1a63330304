/* comm/way.h - the ways by which data comes from one rank to another, and the setting that forces
 * one of them. */
#ifndef COMM_WAY_H
#define COMM_WAY_H

#include <mpi.h>

#include "core/error.h"

/* In the order of SPMD_MOVE's words. */
enum way {
    WAY_AUTO,      /* what is fastest */
    WAY_POOL,      /* read from memory that the node's processes share */
    WAY_READV,     /* read from the other process's own, by process_vm_readv */
    WAY_MESSAGES,  /* packed where needed, and sent */
    WAY_COLLECTIVE /* a collective call of MPI, where a move is one */
};

/* Collective over `comm`. Fails with SPMD_ERR_ARGUMENT on all ranks where they have read different
 * ways: who is read and who sends would not be known. */
spmd_status spmd__way_compare(MPI_Comm comm, enum way way);

#endif
