/* comm/collective.c - moves of plain memory over a communicator. */
#include "comm/collective.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/mem.h"

/* More bytes than MPI counts: one broadcast after the other. */
static spmd_status all_gather_large(MPI_Comm comm, int ranks, const int64_t bytes[], char *out)
{
    for (int r = 0; r < ranks; out += bytes[r++])
        TRY(spmd__broadcast(comm, r, out, bytes[r]));
    return SPMD_OK;
}

static spmd_status all_gather_small(MPI_Comm comm, int rank, int ranks, const void *in,
                                    const int64_t bytes[], void *out)
{
    int *counts, *places;
    bool even = true;
    TRY(spmd__alloc((size_t)ranks * 2, sizeof *counts, &counts));
    places = counts + ranks;
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)bytes[r];
        places[r] = r ? places[r - 1] + counts[r - 1] : 0;
        even = even && bytes[r] == bytes[0];
    }
    int code =
        even ? MPI_Allgather(in, counts[rank], MPI_BYTE, out, counts[rank], MPI_BYTE, comm)
             : MPI_Allgatherv(in, counts[rank], MPI_BYTE, out, counts, places, MPI_BYTE, comm);
    free(counts);
    return spmd__mpi_status(code, "MPI_Allgatherv");
}

spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out)
{
    int rank, ranks;
    int64_t total = 0, before = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; r++) {
        if (r == rank)
            before = total;
        total += bytes[r];
    }
    if (total <= INT_MAX)
        return all_gather_small(comm, rank, ranks, in, bytes, out);
    memcpy((char *)out + before, in, (size_t)bytes[rank]);
    return all_gather_large(comm, ranks, bytes, out);
}

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes)
{
    for (int64_t done = 0; done < bytes; done += MPI_PIECE_BYTES) {
        int piece = (int)(bytes - done < MPI_PIECE_BYTES ? bytes - done : MPI_PIECE_BYTES);
        TRY_MPI(MPI_Bcast((char *)data + done, piece, MPI_BYTE, root, comm));
    }
    return SPMD_OK;
}
