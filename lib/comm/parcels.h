/* comm/parcels.h - messages of any length between ranks, in pieces that MPI counts. */
#ifndef COMM_PARCELS_H
#define COMM_PARCELS_H

#include "comm/pending.h"

struct parcel {
    int peer; /* who gets it, or whom it comes from */
    void *data;
    int64_t bytes;
};

/* Sends `sends` and receives `recvs`. Between two ranks the i-th that is sent is the i-th that is
 * received, and as long; a rank's own are copied. Collective as MPI's messages are: who has none
 * may stay away. Scratch memory comes from `arena`. With `pending` it only begins, and the arena
 * must last until that was waited for. */
spmd_status spmd__parcels_move(MPI_Comm comm, int64_t nsends, const struct parcel sends[],
                               int64_t nrecvs, const struct parcel recvs[], struct arena *arena,
                               struct pending *pending);

#endif
