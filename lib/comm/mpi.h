/* comm/mpi.h - MPI's codes and counts in our terms. */
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

/* Whether MPI calls are allowed now: after MPI_Init, before MPI_Finalize. */
bool spmd__mpi_is_alive(void);

#endif
