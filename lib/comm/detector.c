/* comm/detector.c - errors instead of hangs: a rank's waits, and what it does in them. */
#include "comm/detector.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/tell.h"

spmd_status spmd__detector_open(MPI_Comm comm, const int *names, struct detector **out)
{
    struct detector *detector;
    struct mailbox *mailbox;
    TRY(spmd__mailbox_open(comm, &mailbox));
    spmd_status status = spmd__alloc(1, sizeof *detector, &detector);
    if (status != SPMD_OK) {
        spmd__mailbox_close(&mailbox);
        return status;
    }
    detector->mailbox = mailbox;
    detector->names = names;
    MPI_Comm_rank(comm, &detector->rank);
    MPI_Comm_size(comm, &detector->size);
    if (detector->rank == 0)
        status = spmd__deadlock_open(detector->size, &detector->waves);
    if (status == SPMD_OK)
        *out = detector;
    else
        spmd__detector_close(&detector);
    return status;
}

void spmd__detector_close(struct detector **handle)
{
    struct detector *detector = *handle;
    *handle = NULL;
    if (!detector)
        return;
    spmd__mailbox_close(&detector->mailbox);
    spmd__meeting_forget(detector);
    spmd__announcement_forget(detector);
    spmd__deadlock_close(&detector->waves, detector->size);
    free(detector);
}

spmd_status spmd__detector_keep(struct arrival **list, int from, const struct letter *letter)
{
    struct arrival *arrival;
    size_t bytes = strlen(letter->text) + 1;
    TRY(spmd__alloc(1, sizeof *arrival + bytes, &arrival));
    *arrival = (struct arrival){*list, from, letter->key, letter->number, letter->what};
    memcpy(arrival->text, letter->text, bytes);
    *list = arrival;
    return SPMD_OK;
}

void spmd__detector_drop(struct arrival **list)
{
    while (*list) {
        struct arrival *one = *list;
        *list = one->next;
        free(one);
    }
}

spmd_status spmd__detector_send(struct detector *detector, int to, enum letter_kind kind,
                                const struct letter *letter)
{
    TRY(spmd__mailbox_send(detector->mailbox, to, kind, letter));
    detector->pulse.sent++;
    return SPMD_OK;
}

/* Tells rank 0 that this rank waits, and in what. */
static spmd_status answer(struct detector *detector)
{
    struct letter letter = {.pulse = detector->pulse};
    snprintf(letter.text, sizeof letter.text, "%s", detector->text);
    return spmd__mailbox_send(detector->mailbox, 0, LETTER_ANSWER, &letter);
}

static void end_wait(struct detector *detector, enum outcome outcome, const char *message)
{
    snprintf(detector->message, sizeof detector->message, "%s", message);
    detector->outcome = outcome;
}

static spmd_status handle(struct detector *detector, enum letter_kind kind, int from,
                          const struct letter *letter)
{
    if (kind == LETTER_QUESTION)
        return answer(detector);
    if (kind == LETTER_ANSWER)
        return spmd__deadlock_take(detector, from, letter);
    if (kind == LETTER_LAST)
        return SPMD_OK; /* the mailbox counts it */
    detector->pulse.received++;
    if (kind == LETTER_ARRIVAL)
        return spmd__meeting_take(detector, from, letter);
    if (kind == LETTER_ANNOUNCEMENT)
        return spmd__announcement_take(detector, from, letter);
    if (kind == LETTER_RELEASE)
        end_wait(detector, MAY_GO_ON, "");
    if (kind == LETTER_MISMATCH)
        end_wait(detector, CAME_FOR_OTHER_THINGS, letter->text);
    if (kind == LETTER_DEADLOCK)
        end_wait(detector, NEVER_GOES_ON, letter->text);
    return SPMD_OK;
}

/* Leaves the core to others: ranks may be more than cores. */
static void rest(int *turns)
{
    enum { QUICK_TURNS = 100 };
    const struct timespec pause = {.tv_nsec = 50000};
    if (++*turns < QUICK_TURNS)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

/* The others may be in calls of the program's own, and never come: then this is all that is told.
 */
static void tell_failure(struct detector *detector)
{
    const int64_t patience = 5 * CLOCK_SECOND;
    if (!detector->untold || spmd__clock() - detector->since < patience)
        return;
    detector->untold = false;
    int name = detector->names ? detector->names[detector->rank] : detector->rank;
    spmd__tell_warning("rank %d waits for the others, %s", name, detector->text);
}

static spmd_status wait_for_outcome(struct detector *detector)
{
    int turns = 0;
    while (detector->outcome == STILL_WAITING) {
        struct letter letter;
        enum letter_kind kind;
        int from;
        bool here;
        TRY(spmd__mailbox_fetch(detector->mailbox, &here, &kind, &from, &letter));
        if (here) {
            TRY(handle(detector, kind, from, &letter));
            turns = 0;
            continue;
        }
        if (detector->waves)
            TRY(spmd__deadlock_look(detector));
        tell_failure(detector);
        rest(&turns);
    }
    return SPMD_OK;
}

spmd_status spmd__detector_verdict(const struct detector *detector)
{
    if (detector->outcome != NEVER_GOES_ON)
        return SPMD_OK;
    return spmd__error_agreed(SPMD_ERR_DISAGREE, detector->message, "", detector->rank == 0);
}

spmd_status spmd__detector_check(const struct detector *detector)
{
    if (detector->outcome != NEVER_GOES_ON)
        return SPMD_OK;
    char message[ERROR_MESSAGE_BYTES + 64];
    snprintf(message, sizeof message, "this mesh is out of use: %s", detector->message);
    return spmd__error_agreed(SPMD_ERR_DISAGREE, message, "", detector->rank == 0);
}

/* The failure of the meeting that has ended. */
static spmd_status fail_meeting(const struct detector *detector)
{
    bool leads = detector->rank == detector->meeting->members[0];
    TRY(spmd__detector_verdict(detector));
    return spmd__error_agreed(SPMD_ERR_DISAGREE, detector->message, "", leads);
}

/* A rank whose letters fail cannot be waited for any more. */
static spmd_status fail_letters(struct detector *detector, spmd_status status)
{
    end_wait(detector, NEVER_GOES_ON, spmd_error_message());
    return status;
}

/* Begins a wait by `enter`, which may be its end already. */
static spmd_status wait_in(struct detector *detector, const struct meeting *meeting,
                           const char *text, spmd_status (*enter)(struct detector *detector))
{
    TRY(spmd__detector_check(detector));
    detector->pulse.wait = ++detector->waits;
    detector->meeting = meeting;
    detector->text = text;
    detector->since = spmd__clock();
    detector->outcome = STILL_WAITING;
    spmd_status status = enter(detector);
    if (status == SPMD_OK)
        status = wait_for_outcome(detector);
    detector->pulse.wait = 0;
    if (status != SPMD_OK)
        return fail_letters(detector, status);
    return detector->outcome == MAY_GO_ON ? SPMD_OK : fail_meeting(detector);
}

spmd_status spmd__detector_meet(struct detector *detector, const struct meeting *meeting,
                                uint64_t what, const char *text, bool of_failure)
{
    detector->number = 0;
    detector->what = what;
    detector->untold = of_failure;
    return wait_in(detector, meeting, text, spmd__meeting_enter);
}

spmd_status spmd__detector_await(struct detector *detector, const struct meeting *meeting,
                                 uint64_t number, const char *text)
{
    detector->number = number;
    detector->untold = false;
    return wait_in(detector, meeting, text, spmd__announcement_enter);
}
