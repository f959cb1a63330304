/* sweep/progress.h - how far the ranks are, told to position 0 without stopping anybody. */
#ifndef SWEEP_PROGRESS_H
#define SWEEP_PROGRESS_H

#include <mpi.h>

#include <spmd/sweep.h>

/* What a rank has to tell since its last message. */
struct progress_message {
    int64_t done;
    int64_t best_index; /* -1: no finite objective yet */
    double best;
    int64_t last; /* 1 with a rank's last message */
};

struct progress {
    MPI_Comm comm;
    int rank, ranks;
    const spmd_sweep_options *options;
    bool wanted;                  /* position 0 has a hook */
    double start;                 /* MPI_Wtime */
    double told;                  /* when the hook was called, or a message sent, last */
    int waiting;                  /* position 0: ranks whose last message has not come */
    spmd_sweep_progress state;    /* position 0: of all; elsewhere unused */
    struct progress_message mine; /* not told yet */
    struct progress_message sent; /* must stay until `request` is complete */
    MPI_Request request;
};

/* Collective over `comm`, whose point-to-point messages with tag 1 are ours meanwhile. `rows` is
 * the number of configurations that this rank will run. */
spmd_status spmd__progress_begin(struct progress *progress, MPI_Comm comm,
                                 const spmd_sweep_options *options, int64_t rows);

/* Local. One more configuration has ended on this rank. */
spmd_status spmd__progress_row(struct progress *progress, const spmd_sweep_row *row);

/* Collective: position 0 stays until all have come. Every rank that began must end, also after a
 * failure. */
spmd_status spmd__progress_end(struct progress *progress);

#endif
