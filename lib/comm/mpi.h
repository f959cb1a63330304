/* comm/mpi.h - MPI's codes, counts and communicators in our terms. */
#ifndef COMM_MPI_H
#define COMM_MPI_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* SPMD_OK, or SPMD_ERR_MPI with MPI's own text for `code` and the name of the call. */
spmd_status spmd__mpi_status(int code, const char *call);
#define TRY_MPI(call) TRY(spmd__mpi_status((call), #call))

/* MPI counts are int: larger moves go in pieces of at most this many bytes, a multiple of the
 * largest element's. It is a variable for tests. */
extern int64_t spmd__mpi_piece_bytes;

/* What a message from one rank to another is. Programs use the communicators of groups as well
 * (spmd_mesh_comm), with small tags as a rule; MPI has tags up to 32767 everywhere. */
enum { TAG_EXCHANGE = 32000, TAG_PRINT, TAG_PROGRESS, TAG_PARCEL };

/* Lets the errors of a communicator that was just made return. MPI_COMM_NULL is accepted. */
spmd_status spmd__mpi_adopt_comm(MPI_Comm comm);

/* Free a communicator or an operation where MPI still can, and set the handle to null. */
void spmd__mpi_free_comm(MPI_Comm *comm);
void spmd__mpi_free_op(MPI_Op *op);

/* Whether MPI calls are allowed now: after MPI_Init, before MPI_Finalize. */
bool spmd__mpi_is_alive(void);

#endif
