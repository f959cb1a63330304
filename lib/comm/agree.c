/* comm/agree.c - one verdict for all ranks of a collective call. */
#include "comm/agree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "comm/mpi.h"
#include "core/hash.h"
#include "core/place.h"
#include "core/tell.h"

/* What one reduction by MAX tells everybody. Digests go in as h and ~h: they are equal on all
 * ranks if and only if the two maxima still are each other's complement. */
struct ballot {
    uint64_t lowest_failing; /* above INT_MAX - name, so that MAX finds the lowest name, below the
                                rank in the communicator; 0 if it is well */
    uint64_t any_well;
    uint64_t digest;
    uint64_t digest_complement;
};
enum { BALLOT_WORDS = sizeof(struct ballot) / sizeof(uint64_t) };

/* This rank: its number in the communicator, and what messages call it. */
struct voter {
    int rank;
    int name;
};

/* What the lowest failing rank tells the others. */
struct verdict {
    int status;
    char message[ERROR_MESSAGE_BYTES];
    char place[ERROR_PLACE_BYTES]; /* where in the program of the failing rank; "" if not known */
};

/* What a rank tells the others where their digests differ. */
struct statement {
    uint64_t digest;
    int64_t name;
    char call[256]; /* "spmd_psum (solver.c:42)", where it is known */
};

static struct ballot fill_ballot(struct voter voter, spmd_status status, uint64_t digest)
{
    bool well = status == SPMD_OK;
    const char *message = spmd_error_message();
    uint64_t hash = well ? digest : spmd__hash((uint64_t)status, message, strlen(message));
    uint64_t failing = (uint64_t)(INT_MAX - voter.name) << 32 | (uint64_t)voter.rank;
    return (struct ballot){well ? 0 : failing, well, hash, ~hash};
}

/* Writes the last failure with the rank's name before it; the longest lose their end to that. One
 * that was agreed on in a nested call names its rank already. */
static void name_failure(int name, char message[ERROR_MESSAGE_BYTES])
{
    const char *last = spmd_error_message();
    if (spmd__error_is_agreed() && strncmp(last, "rank ", 5) == 0)
        snprintf(message, ERROR_MESSAGE_BYTES, "%s", last);
    else
        snprintf(message, ERROR_MESSAGE_BYTES, "rank %d: %.*s", name, ERROR_MESSAGE_BYTES - 32,
                 last);
}

/* The verdict of a ballot that somebody failed. Collective. */
static spmd_status spread_failure(MPI_Comm comm, struct voter voter, const struct ballot *result,
                                  spmd_status status)
{
    int failing = (int)(result->lowest_failing & UINT32_MAX);
    bool all_alike = !result->any_well && result->digest == ~result->digest_complement;
    struct verdict verdict = {.status = status};
    if (voter.rank == failing && all_alike)
        snprintf(verdict.message, sizeof verdict.message, "%s", spmd_error_message());
    else if (voter.rank == failing)
        name_failure(voter.name, verdict.message);
    if (voter.rank == failing)
        snprintf(verdict.place, sizeof verdict.place, "%s", spmd_error_place());
    TRY_MPI(MPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, failing, comm));
    return spmd__error_agreed((spmd_status)verdict.status, verdict.message, verdict.place,
                              voter.rank == failing);
}

static struct statement make_statement(struct voter voter, uint64_t digest)
{
    struct statement statement = {.digest = digest, .name = voter.name};
    struct text text = spmd__text_begin(statement.call, sizeof statement.call);
    spmd__place_print_call(&text, spmd__place());
    return statement;
}

/* Two ranks whose digests differ: in one call, as far as is known, or in two. */
static spmd_status fail_to_match(const struct statement *first, const struct statement *other,
                                 bool speaker)
{
    char message[ERROR_MESSAGE_BYTES];
    bool known = first->call[0] != '\0' && other->call[0] != '\0';
    struct text text = spmd__text_begin(message, sizeof message);
    spmd__text_add(&text, "rank %d passed other arguments than rank %d to ", (int)other->name,
                   (int)first->name);
    if (known && strcmp(first->call, other->call) == 0)
        spmd__text_add(&text, "%s", first->call);
    else
        spmd__text_add(&text, "a collective call, or is in another one");
    if (known && strcmp(first->call, other->call) != 0)
        spmd__text_add(&text, ": %s beside %s", other->call, first->call);
    return spmd__error_agreed(SPMD_ERR_DISAGREE, message, "", speaker);
}

/* The verdict of a ballot whose digests differ: names the lowest rank that differs from rank 0 of
 * `comm`, and where both are. Collective. */
static spmd_status name_stranger(MPI_Comm comm, struct voter voter, uint64_t digest)
{
    struct statement mine = make_statement(voter, digest), first = mine, other = mine;
    TRY_MPI(MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm));
    int64_t stranger =
        digest == first.digest ? INT64_MAX : (int64_t)voter.name << 32 | (int64_t)voter.rank;
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &stranger, 1, MPI_INT64_T, MPI_MIN, comm));
    TRY_MPI(MPI_Bcast(&other, sizeof other, MPI_BYTE, (int)(stranger & INT32_MAX), comm));
    return fail_to_match(&first, &other, voter.rank == 0);
}

static spmd_status conclude(MPI_Comm comm, struct voter voter, const struct ballot *result,
                            spmd_status status, uint64_t digest)
{
    if (result->lowest_failing != 0)
        return spread_failure(comm, voter, result, status);
    if (result->digest != ~result->digest_complement)
        return name_stranger(comm, voter, digest);
    return SPMD_OK;
}

spmd_status spmd__agree(MPI_Comm comm, int name, spmd_status status, uint64_t digest)
{
    struct voter voter = {.name = name};
    if (!spmd__mpi_is_alive())
        return spmd_fail(SPMD_ERR_MPI, "a collective call after MPI_Finalize");
    TRY_MPI(MPI_Comm_rank(comm, &voter.rank));
    struct ballot mine = fill_ballot(voter, status, digest), result;
    TRY_MPI(MPI_Allreduce(&mine, &result, BALLOT_WORDS, MPI_UINT64_T, MPI_MAX, comm));
    return conclude(comm, voter, &result, status, digest);
}

/* How long a failed rank waits for the others before it ends the run, or for another to end it. */
static const double patience_seconds = 5.0;

spmd_status spmd__wait_or_abort(int count, MPI_Request requests[], int name)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double start = MPI_Wtime();
    for (int done = 0; !done; nanosleep(&pause, NULL)) {
        TRY_MPI(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (!done && MPI_Wtime() - start > patience_seconds)
            spmd__abort_as(name);
    }
    return SPMD_OK;
}

spmd_status spmd__agree_or_abort(MPI_Comm comm, int name, spmd_status status, uint64_t digest)
{
    struct voter voter = {.name = name};
    TRY_MPI(MPI_Comm_rank(comm, &voter.rank));
    struct ballot mine = fill_ballot(voter, status, digest), result;
    MPI_Request request;
    TRY_MPI(MPI_Iallreduce(&mine, &result, BALLOT_WORDS, MPI_UINT64_T, MPI_MAX, comm, &request));
    if (status == SPMD_OK)
        TRY_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    else
        TRY(spmd__wait_or_abort(1, &request, name));
    return conclude(comm, voter, &result, status, digest);
}

void spmd__abort(const char *message)
{
    spmd__tell_error("%s", message);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1); /* the standard lets MPI_Abort return */
}

void spmd__abort_as(int name)
{
    char message[ERROR_MESSAGE_BYTES];
    name_failure(name, message);
    spmd__abort(message);
}

void spmd__await_abort(void)
{
    sleep((unsigned)patience_seconds);
}

void spmd__abort_together(void)
{
    if (!spmd__error_is_speaker())
        spmd__await_abort();
    spmd__abort(spmd_error_message());
}
