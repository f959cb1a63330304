/* comm/way.h - the ways by which data comes from one rank to another, and the setting that forces
 * one of them. */
#ifndef COMM_WAY_H
#define COMM_WAY_H

#include <mpi.h>

#include "core/error.h"

/* X(NAME, what SPMD_MOVE calls it). */
#define WAY_MAP(X)                                                                           \
    X(AUTO, "auto")             /* what is fastest; the default */                           \
    X(POOL, "pool")             /* read from memory that the node's processes share */       \
    X(READV, "readv")           /* read from the other process's own, by process_vm_readv */ \
    X(MESSAGES, "messages")     /* packed where needed, and sent */                          \
    X(COLLECTIVE, "collective") /* a collective call of MPI, where a move is one */

enum way {
#define WAY_ENUM(name, text) WAY_##name,
    WAY_MAP(WAY_ENUM)
#undef WAY_ENUM
};

/* Local. What SPMD_MOVE in the environment says. Fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd__way_read(enum way *way);

/* Collective over `comm`. Fails with SPMD_ERR_ARGUMENT on all ranks where they have read different
 * ways: who is read and who sends would not be known. */
spmd_status spmd__way_compare(MPI_Comm comm, enum way way);

#endif
