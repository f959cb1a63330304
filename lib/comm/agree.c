/* comm/agree.c - one verdict for all ranks of a collective call. */
#include "comm/agree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"

/* What one reduction by MAX tells everybody. Digests go in as h and ~h: they are equal on all
 * ranks if and only if the two maxima still are each other's complement. */
struct ballot {
    uint64_t lowest_failing; /* INT_MAX - rank, so that MAX finds the lowest; 0 if it is well */
    uint64_t any_well;
    uint64_t digest;
    uint64_t digest_complement;
};
enum { BALLOT_WORDS = sizeof(struct ballot) / sizeof(uint64_t) };

/* What the lowest failing rank tells the others. */
struct verdict {
    int status;
    char message[ERROR_MESSAGE_BYTES];
};

static struct ballot fill_ballot(int rank, spmd_status status, uint64_t digest)
{
    bool well = status == SPMD_OK;
    const char *message = spmd_error_message();
    uint64_t hash = well ? digest : spmd__hash((uint64_t)status, message, strlen(message));
    return (struct ballot){well ? 0 : (uint64_t)(INT_MAX - rank), well, hash, ~hash};
}

/* The verdict of a ballot that somebody failed. Collective. */
static spmd_status spread_failure(MPI_Comm comm, int rank, const struct ballot *result,
                                  spmd_status status)
{
    int failing = INT_MAX - (int)result->lowest_failing;
    bool all_alike = !result->any_well && result->digest == ~result->digest_complement;
    struct verdict verdict = {.status = status};
    if (rank == failing && all_alike)
        snprintf(verdict.message, sizeof verdict.message, "%s", spmd_error_message());
    else if (rank == failing) /* the longest messages lose their end to the prefix */
        snprintf(verdict.message, sizeof verdict.message, "rank %d: %.*s", rank,
                 (int)sizeof verdict.message - 32, spmd_error_message());
    TRY_MPI(MPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, failing, comm));
    return spmd__error_agreed((spmd_status)verdict.status, verdict.message, rank == failing);
}

/* The verdict of a ballot whose digests differ: names the first rank that differs from rank 0.
 * Collective. */
static spmd_status name_stranger(MPI_Comm comm, int rank, uint64_t digest)
{
    uint64_t wanted = digest;
    char message[ERROR_MESSAGE_BYTES];
    TRY_MPI(MPI_Bcast(&wanted, 1, MPI_UINT64_T, 0, comm));
    int stranger = digest == wanted ? INT_MAX : rank;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &stranger, 1, MPI_INT, MPI_MIN, comm));
    snprintf(
        message, sizeof message,
        "rank %d passed other arguments than rank 0 to a collective call, or is in another one",
        stranger);
    return spmd__error_agreed(SPMD_ERR_DISAGREE, message, rank == 0);
}

static spmd_status conclude(MPI_Comm comm, int rank, const struct ballot *result,
                            spmd_status status, uint64_t digest)
{
    if (result->lowest_failing != 0)
        return spread_failure(comm, rank, result, status);
    if (result->digest != ~result->digest_complement)
        return name_stranger(comm, rank, digest);
    return SPMD_OK;
}

spmd_status spmd__agree(MPI_Comm comm, spmd_status status, uint64_t digest)
{
    int rank;
    if (!spmd__mpi_is_alive())
        return spmd_fail(SPMD_ERR_MPI, "a collective call after MPI_Finalize");
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    struct ballot mine = fill_ballot(rank, status, digest), result;
    TRY_MPI(MPI_Allreduce(&mine, &result, BALLOT_WORDS, MPI_UINT64_T, MPI_MAX, comm));
    return conclude(comm, rank, &result, status, digest);
}

/* How long a failed rank waits for the others before it ends the run. */
static const double patience_seconds = 5.0;

/* Waits for `request`, but only so long. */
static spmd_status wait_or_abort(MPI_Request *request, int rank)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double start = MPI_Wtime();
    for (int done = 0; !done; nanosleep(&pause, NULL)) {
        TRY_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (!done && MPI_Wtime() - start > patience_seconds) {
            char message[ERROR_MESSAGE_BYTES + 32];
            snprintf(message, sizeof message, "rank %d: %s", rank, spmd_error_message());
            spmd__abort(message);
        }
    }
    return SPMD_OK;
}

spmd_status spmd__agree_or_abort(MPI_Comm comm, spmd_status status, uint64_t digest)
{
    int rank;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    struct ballot mine = fill_ballot(rank, status, digest), result;
    MPI_Request request;
    TRY_MPI(MPI_Iallreduce(&mine, &result, BALLOT_WORDS, MPI_UINT64_T, MPI_MAX, comm, &request));
    if (status == SPMD_OK)
        TRY_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    else
        TRY(wait_or_abort(&request, rank));
    return conclude(comm, rank, &result, status, digest);
}

void spmd__abort(const char *message)
{
    fprintf(stderr, "spmd: error: %s\n", message);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* the standard lets MPI_Abort return */
}
