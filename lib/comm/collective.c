/* comm/collective.c - moves of plain memory over a communicator. */
#include "comm/collective.h"

#include "comm/mpi.h"
#include "comm/parcels.h"

/* MPI's int counts, and where the parts begin, of `ranks` parts of `bytes` one after the other. */
struct counts {
    int *count, *place; /* [ranks] */
};

static spmd_status narrow(int ranks, const int64_t bytes[], struct arena *arena,
                          struct counts *counts)
{
    TRY(spmd__arena_take(arena, (size_t)ranks, sizeof *counts->count, &counts->count));
    TRY(spmd__arena_take(arena, (size_t)ranks, sizeof *counts->place, &counts->place));
    for (int r = 0; r < ranks; r++) {
        counts->count[r] = (int)bytes[r];
        counts->place[r] = r ? counts->place[r - 1] + counts->count[r - 1] : 0;
    }
    return SPMD_OK;
}

/* Room for the one request of a call that begins; *request is NULL where it waits. */
static spmd_status reserve_one(struct arena *arena, struct pending *pending, MPI_Request **request)
{
    *request = NULL;
    if (!pending)
        return SPMD_OK;
    TRY(spmd__pending_reserve(pending, 1, arena));
    *request = pending->request;
    return SPMD_OK;
}

static spmd_status nothing(struct pending *pending)
{
    if (pending)
        *pending = (struct pending){0};
    return SPMD_OK;
}

/* One parcel from and to each rank, this one first and then the next higher, so that not all ranks
 * meet at one. `send` NULL: all of `in`, `same` bytes, to everybody. */
static spmd_status move_parcels(MPI_Comm comm, char *in, const int64_t send[], int64_t same,
                                char *out, const int64_t recv[], struct arena *arena,
                                struct pending *pending)
{
    int rank, ranks;
    struct parcel *sends, *recvs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    TRY(spmd__arena_take(arena, (size_t)ranks, sizeof *sends, &sends));
    TRY(spmd__arena_take(arena, (size_t)ranks, sizeof *recvs, &recvs));
    for (int r = 0; r < ranks; r++) {
        int64_t bytes = send ? send[r] : same;
        sends[(r - rank + ranks) % ranks] = (struct parcel){r, in, bytes};
        recvs[(rank - r + ranks) % ranks] = (struct parcel){r, out, recv[r]};
        in += send ? bytes : 0;
        out += recv[r];
    }
    return spmd__parcels_move(comm, ranks, sends, ranks, recvs, arena, pending);
}

static spmd_status gather_even(MPI_Comm comm, const void *in, int bytes, void *out,
                               MPI_Request *request)
{
    if (request)
        TRY_MPI(MPI_Iallgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm, request));
    else
        TRY_MPI(MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm));
    return SPMD_OK;
}

static spmd_status gather_uneven(MPI_Comm comm, const void *in, int bytes, void *out,
                                 const struct counts *from, MPI_Request *request)
{
    if (request)
        TRY_MPI(MPI_Iallgatherv(in, bytes, MPI_BYTE, out, from->count, from->place, MPI_BYTE, comm,
                                request));
    else
        TRY_MPI(MPI_Allgatherv(in, bytes, MPI_BYTE, out, from->count, from->place, MPI_BYTE, comm));
    return SPMD_OK;
}

spmd_status spmd__all_gather(MPI_Comm comm, const void *in, const int64_t bytes[], void *out,
                             struct arena *arena, struct pending *pending)
{
    int rank, ranks;
    int64_t total = 0;
    bool even = true;
    struct counts from;
    MPI_Request *request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; r++) {
        total += bytes[r];
        even = even && bytes[r] == bytes[0];
    }
    if (total == 0)
        return nothing(pending);
    if (even ? bytes[0] > spmd__mpi_piece_bytes : total > spmd__mpi_piece_bytes)
        return move_parcels(comm, (void *)in, NULL, bytes[rank], out, bytes, arena, pending);
    TRY(reserve_one(arena, pending, &request));
    if (even)
        return gather_even(comm, in, (int)bytes[0], out, request);
    TRY(narrow(ranks, bytes, arena, &from));
    return gather_uneven(comm, in, (int)bytes[rank], out, &from, request);
}

static spmd_status swap_even(MPI_Comm comm, const void *in, int each, void *out,
                             MPI_Request *request)
{
    if (request)
        TRY_MPI(MPI_Ialltoall(in, each, MPI_BYTE, out, each, MPI_BYTE, comm, request));
    else
        TRY_MPI(MPI_Alltoall(in, each, MPI_BYTE, out, each, MPI_BYTE, comm));
    return SPMD_OK;
}

static spmd_status swap_uneven(MPI_Comm comm, const void *in, const struct counts *to, void *out,
                               const struct counts *from, MPI_Request *request)
{
    if (request)
        TRY_MPI(MPI_Ialltoallv(in, to->count, to->place, MPI_BYTE, out, from->count, from->place,
                               MPI_BYTE, comm, request));
    else
        TRY_MPI(MPI_Alltoallv(in, to->count, to->place, MPI_BYTE, out, from->count, from->place,
                              MPI_BYTE, comm));
    return SPMD_OK;
}

spmd_status spmd__all_to_all(MPI_Comm comm, struct volume volume, const void *in,
                             const int64_t send[], void *out, const int64_t recv[],
                             struct arena *arena, struct pending *pending)
{
    int ranks;
    bool even = volume.each >= 0;
    struct counts to, from;
    MPI_Request *request;
    MPI_Comm_size(comm, &ranks);
    if (volume.total == 0)
        return nothing(pending);
    if (even ? volume.each > spmd__mpi_piece_bytes : volume.total > spmd__mpi_piece_bytes)
        return move_parcels(comm, (void *)in, send, 0, out, recv, arena, pending);
    TRY(reserve_one(arena, pending, &request));
    if (even)
        return swap_even(comm, in, (int)volume.each, out, request);
    TRY(narrow(ranks, send, arena, &to));
    TRY(narrow(ranks, recv, arena, &from));
    return swap_uneven(comm, in, &to, out, &from, request);
}

spmd_status spmd__broadcast(MPI_Comm comm, int root, void *data, int64_t bytes)
{
    for (int64_t done = 0; done < bytes; done += spmd__mpi_piece_bytes) {
        int piece =
            (int)(bytes - done < spmd__mpi_piece_bytes ? bytes - done : spmd__mpi_piece_bytes);
        TRY_MPI(MPI_Bcast((char *)data + done, piece, MPI_BYTE, root, comm));
    }
    return SPMD_OK;
}
