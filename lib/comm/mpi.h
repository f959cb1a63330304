/* comm/mpi.h - MPI's codes, counts and communicators in our terms. */
#ifndef COMM_MPI_H
#define COMM_MPI_H

#include <mpi.h>

#include <stdbool.h>

#include "core/error.h"

/* SPMD_OK, or SPMD_ERR_MPI with MPI's own text for `code` and the name of the call. */
spmd_status spmd__mpi_status(int code, const char *call);
#define TRY_MPI(call) TRY(spmd__mpi_status((call), #call))

/* MPI counts are int: larger moves go in pieces of at most this many bytes. */
#define MPI_PIECE_BYTES ((int64_t)1 << 30)

/* What a message from one rank to another is. */
enum { TAG_EXCHANGE, TAG_PRINT, TAG_PROGRESS };

/* Lets the errors of a communicator that was just made return. MPI_COMM_NULL is accepted. */
spmd_status spmd__mpi_adopt_comm(MPI_Comm comm);

/* Frees a communicator where MPI still can, and sets MPI_COMM_NULL. */
void spmd__mpi_free_comm(MPI_Comm *comm);

/* Whether MPI calls are allowed now: after MPI_Init, before MPI_Finalize. */
bool spmd__mpi_is_alive(void);

#endif
