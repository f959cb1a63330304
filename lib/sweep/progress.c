/* sweep/progress.c - how far the ranks are, told to position 0 without stopping anybody.
 *
 * Each rank sends what has changed, now and then and once at its end; position 0 looks for
 * messages between its own configurations, and waits for the last ones after them. */
#include "sweep/progress.h"

#include <math.h>
#include <time.h>

#include "comm/mpi.h"

spmd_status spmd__progress_begin(struct progress *progress, MPI_Comm comm,
                                 const spmd_sweep_options *options, int64_t rows)
{
    *progress = (struct progress){.comm = comm,
                                  .options = options,
                                  .start = MPI_Wtime(),
                                  .state = {.best = NAN, .best_index = -1},
                                  .mine = {.best = NAN, .best_index = -1},
                                  .request = MPI_REQUEST_NULL};
    MPI_Comm_rank(comm, &progress->rank);
    MPI_Comm_size(comm, &progress->ranks);
    progress->waiting = progress->ranks - 1;
    progress->told = progress->start;
    int wanted = options->on_progress ? 1 : 0;
    TRY_MPI(MPI_Bcast(&wanted, 1, MPI_INT, 0, comm));
    progress->wanted = wanted;
    TRY_MPI(MPI_Allreduce(&rows, &progress->state.total, 1, MPI_INT64_T, MPI_SUM, comm));
    return SPMD_OK;
}

/* Of equal objectives the first row's is better, in whatever order the messages come. */
static bool is_better(const struct progress *progress, double candidate, int64_t index, double best,
                      int64_t best_index)
{
    if (!isfinite(candidate) || !isfinite(best))
        return isfinite(candidate);
    if (candidate == best)
        return index < best_index;
    return progress->options->minimize ? candidate < best : candidate > best;
}

static void add_message(struct progress *progress, const struct progress_message *message)
{
    progress->state.done += message->done;
    if (is_better(progress, message->best, message->best_index, progress->state.best,
                  progress->state.best_index)) {
        progress->state.best = message->best;
        progress->state.best_index = message->best_index;
    }
    progress->waiting -= (int)message->last;
}

/* Position 0: takes in the messages that have come. */
static spmd_status receive(struct progress *progress)
{
    int there;
    for (;;) {
        MPI_Status status;
        struct progress_message message;
        TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, TAG_PROGRESS, progress->comm, &there, &status));
        if (!there)
            return SPMD_OK;
        TRY_MPI(MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, TAG_PROGRESS,
                         progress->comm, MPI_STATUS_IGNORE));
        add_message(progress, &message);
    }
}

static void forget_mine(struct progress *progress)
{
    progress->mine = (struct progress_message){.best = NAN, .best_index = -1};
}

/* Elsewhere: sends what there is to tell, if the last message is gone. */
static spmd_status send(struct progress *progress)
{
    int gone;
    TRY_MPI(MPI_Test(&progress->request, &gone, MPI_STATUS_IGNORE));
    if (!gone)
        return SPMD_OK;
    progress->sent = progress->mine;
    forget_mine(progress);
    TRY_MPI(MPI_Isend(&progress->sent, sizeof progress->sent, MPI_BYTE, 0, TAG_PROGRESS,
                      progress->comm, &progress->request));
    return SPMD_OK;
}

static bool is_time(struct progress *progress)
{
    double now = MPI_Wtime(), pause = progress->options->progress_seconds;
    if (now - progress->told < (pause > 0 ? pause : 0.25))
        return false;
    progress->told = now;
    return true;
}

static void tell(struct progress *progress)
{
    progress->state.seconds = MPI_Wtime() - progress->start;
    progress->options->on_progress(&progress->state, progress->options->user);
}

spmd_status spmd__progress_row(struct progress *progress, const spmd_sweep_row *row)
{
    double objective = row->metrics[progress->options->objective];
    if (!progress->wanted)
        return SPMD_OK;
    progress->mine.done++;
    if (row->state == SPMD_SWEEP_DONE &&
        is_better(progress, objective, row->index, progress->mine.best,
                  progress->mine.best_index)) {
        progress->mine.best = objective;
        progress->mine.best_index = row->index;
    }
    if (progress->rank > 0)
        return is_time(progress) ? send(progress) : SPMD_OK;
    add_message(progress, &progress->mine);
    forget_mine(progress);
    TRY(receive(progress));
    if (is_time(progress))
        tell(progress);
    return SPMD_OK;
}

/* Position 0: until the slowest rank has ended. */
static spmd_status wait_for_all(struct progress *progress)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    while (progress->waiting > 0) {
        TRY(receive(progress));
        if (progress->waiting > 0)
            nanosleep(&pause, NULL);
        if (is_time(progress))
            tell(progress);
    }
    tell(progress);
    return SPMD_OK;
}

spmd_status spmd__progress_end(struct progress *progress)
{
    if (!progress->wanted)
        return SPMD_OK;
    if (progress->rank == 0)
        return wait_for_all(progress);
    TRY_MPI(MPI_Wait(&progress->request, MPI_STATUS_IGNORE));
    progress->mine.last = 1;
    TRY(send(progress));
    TRY_MPI(MPI_Wait(&progress->request, MPI_STATUS_IGNORE));
    return SPMD_OK;
}
