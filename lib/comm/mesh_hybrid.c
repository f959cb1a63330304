/* comm/mesh_hybrid.c - meshes that know which ranks share a node. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/agree.h"
#include "comm/mesh.h"
#include "comm/mpi.h"
#include "core/hybrid.h"
#include "core/mem.h"

/* The lowest rank of `comm` on this rank's node. Collective. */
static spmd_status find_leader(MPI_Comm comm, int rank, int *leader)
{
    MPI_Comm node;
    int lowest = rank;
    /* Ordered by rank: the lowest one is first. */
    TRY_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    spmd_status status = spmd__mpi_status(MPI_Bcast(&lowest, 1, MPI_INT, 0, node), "MPI_Bcast");
    spmd__mpi_free_comm(&node);
    *leader = lowest;
    return status;
}

/* Where every rank of `comm` runs. Collective. */
static spmd_status find_places(MPI_Comm comm, int ranks, struct place **out)
{
    struct place mine = {0}, *places = NULL;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int rank, length;
    MPI_Comm_rank(comm, &rank);
    TRY(spmd__agree(comm, rank, spmd__alloc((size_t)ranks, sizeof *places, &places), 0));
    MPI_Get_processor_name(host, &length);
    snprintf(mine.host, sizeof mine.host, "%.*s", (int)sizeof mine.host - 1, host);
    spmd_status status = find_leader(comm, rank, &mine.leader);
    if (status == SPMD_OK)
        status = spmd__mpi_status(
            MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, comm),
            "MPI_Allgather");
    if (status == SPMD_OK)
        *out = places;
    else
        free(places);
    return status;
}

spmd_status spmd_mesh_create_hybrid(MPI_Comm comm, const char *nodes, const char *local,
                                    spmd_mesh **mesh)
{
    struct axes axes;
    struct place *places = NULL;
    MPI_Comm base;
    int ranks, *members = NULL;
    TRY(spmd__mesh_begin(comm, &base, &ranks));
    spmd_status status = find_places(base, ranks, &places);
    if (status == SPMD_OK)
        status = spmd__hybrid_arrange(nodes, local, places, ranks, &axes, &members);
    status = spmd__mesh_end(base, status, &axes, members, mesh);
    free(members);
    free(places);
    return status;
}
