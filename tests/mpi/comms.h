/* comms.h - counts the communicators that a test program has: MPI calls come by here (PMPI). */
#ifndef COMMS_H
#define COMMS_H

#include <mpi.h>

/* Made and not freed. */
static int comms_alive;

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    int code = PMPI_Comm_dup(comm, out);
    comms_alive += code == MPI_SUCCESS;
    return code;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    int code = PMPI_Comm_split(comm, color, key, out);
    comms_alive += code == MPI_SUCCESS && *out != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out)
{
    int code = PMPI_Comm_create_group(comm, group, tag, out);
    comms_alive += code == MPI_SUCCESS && *out != MPI_COMM_NULL;
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    comms_alive--;
    return PMPI_Comm_free(comm);
}

#endif
