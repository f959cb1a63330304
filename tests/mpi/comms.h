/* comms.h - counts the communicators that a test program has: MPI calls come by here (PMPI). */
#ifndef COMMS_H
#define COMMS_H

#include <mpi.h>

/* Made and not freed. */
static int comms_alive;

/* The node that each rank is said to run on; NULL: where it does. */
static int (*comms_node)(int rank);

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

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    int code = comms_node ? PMPI_Comm_split(comm, comms_node(rank), key, out)
                          : PMPI_Comm_split_type(comm, type, key, info, out);
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
