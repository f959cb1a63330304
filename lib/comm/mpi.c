/* comm/mpi.c - MPI's codes and communicators in our terms. */
#include "comm/mpi.h"

#include <stdbool.h>
#include <string.h>

int64_t spmd__mpi_piece_bytes = INT64_C(1) << 30;

spmd_status spmd__mpi_status(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return SPMD_OK;
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, reason, &length);
    return spmd_fail(SPMD_ERR_MPI, "%.*s: %s", (int)strcspn(call, "("), call, reason);
}

bool spmd__mpi_is_alive(void)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

spmd_status spmd__mpi_adopt_comm(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return SPMD_OK;
    return spmd__mpi_status(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN),
                            "MPI_Comm_set_errhandler");
}

void spmd__mpi_free_comm(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL && spmd__mpi_is_alive())
        MPI_Comm_free(comm);
    *comm = MPI_COMM_NULL;
}

void spmd__mpi_free_op(MPI_Op *op)
{
    if (*op != MPI_OP_NULL && spmd__mpi_is_alive())
        MPI_Op_free(op);
    *op = MPI_OP_NULL;
}
