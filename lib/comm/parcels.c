/* comm/parcels.c - messages of any length between ranks, in pieces that MPI counts. */
#include "comm/parcels.h"

#include <string.h>

#include "comm/mpi.h"

static int64_t count_pieces(int rank, int64_t count, const struct parcel parcels[])
{
    int64_t pieces = 0;
    for (int64_t i = 0; i < count; i++)
        if (parcels[i].peer != rank)
            pieces += (parcels[i].bytes + spmd__mpi_piece_bytes - 1) / spmd__mpi_piece_bytes;
    return pieces;
}

static spmd_status post(MPI_Comm comm, const struct parcel *parcel, bool sends, MPI_Request **next)
{
    for (int64_t done = 0; done < parcel->bytes; done += spmd__mpi_piece_bytes) {
        int64_t left = parcel->bytes - done;
        int piece = (int)(left < spmd__mpi_piece_bytes ? left : spmd__mpi_piece_bytes);
        char *data = (char *)parcel->data + done;
        MPI_Request *request = (*next)++;
        if (sends)
            TRY_MPI(MPI_Isend(data, piece, MPI_BYTE, parcel->peer, TAG_PARCEL, comm, request));
        else
            TRY_MPI(MPI_Irecv(data, piece, MPI_BYTE, parcel->peer, TAG_PARCEL, comm, request));
    }
    return SPMD_OK;
}

static spmd_status post_all(MPI_Comm comm, int rank, int64_t count, const struct parcel parcels[],
                            bool sends, MPI_Request **next)
{
    for (int64_t i = 0; i < count; i++)
        if (parcels[i].peer != rank)
            TRY(post(comm, &parcels[i], sends, next));
    return SPMD_OK;
}

/* This rank's parcels to itself. */
static void copy_own(int rank, int64_t nsends, const struct parcel sends[], int64_t nrecvs,
                     const struct parcel recvs[])
{
    for (int64_t s = 0, r = 0; s < nsends; s++) {
        if (sends[s].peer != rank)
            continue;
        while (r < nrecvs && recvs[r].peer != rank)
            r++;
        if (r < nrecvs && sends[s].bytes > 0)
            memcpy(recvs[r].data, sends[s].data, (size_t)sends[s].bytes);
        r++;
    }
}

spmd_status spmd__parcels_move(MPI_Comm comm, int64_t nsends, const struct parcel sends[],
                               int64_t nrecvs, const struct parcel recvs[], struct arena *arena,
                               struct pending *pending)
{
    int rank;
    struct pending here;
    bool waits = !pending;
    MPI_Comm_rank(comm, &rank);
    int64_t pieces = count_pieces(rank, nsends, sends) + count_pieces(rank, nrecvs, recvs);
    pending = waits ? &here : pending;
    TRY(spmd__pending_reserve(pending, pieces, arena));
    MPI_Request *next = pending->request;
    TRY(post_all(comm, rank, nrecvs, recvs, false, &next));
    TRY(post_all(comm, rank, nsends, sends, true, &next));
    copy_own(rank, nsends, sends, nrecvs, recvs);
    return waits ? spmd__pending_wait(pending) : SPMD_OK;
}
