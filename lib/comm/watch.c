/* comm/watch.c - who waits for whom: a rank's way into a wait and out. */
#include "comm/watch.h"

#include <stdlib.h>
#include <string.h>

#include "comm/detector.h"
#include "comm/mpi.h"
#include "comm/watchdog.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/place.h"

struct watch {
    struct detector *detector; /* NULL: no checks */
    struct watchdog *watchdog; /* NULL: no warnings */
};

/* Collective: a rank that lacks memory for one part still joins in the next one. */
static spmd_status open_parts(MPI_Comm comm, const struct watch_settings *settings,
                              const int *names, struct watch *watch)
{
    spmd_status status = SPMD_OK, other = SPMD_OK;
    if (settings->check)
        status = spmd__detector_open(comm, names, &watch->detector);
    if (settings->seconds > 0)
        other = spmd__watchdog_open(comm, names, settings->seconds, &watch->watchdog);
    return status == SPMD_OK ? other : status;
}

/* An environment may have reached some ranks only. */
static spmd_status join_settings(MPI_Comm comm, struct watch_settings *settings)
{
    double both[] = {settings->check, settings->seconds};
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, comm));
    *settings = (struct watch_settings){both[0] > 0, both[1]};
    return SPMD_OK;
}

static void close_parts(struct watch *watch)
{
    spmd__detector_close(&watch->detector);
    spmd__watchdog_close(&watch->watchdog);
}

spmd_status spmd__watch_open(MPI_Comm comm, struct watch_settings settings, const int *names,
                             struct watch **out)
{
    struct watch parts = {0}, *watch = &parts;
    TRY(join_settings(comm, &settings));
    if (!settings.check && settings.seconds == 0)
        return SPMD_OK;
    spmd_status status = open_parts(comm, &settings, names, &parts);
    if (status == SPMD_OK)
        status = spmd__alloc(1, sizeof *watch, &watch);
    if (status != SPMD_OK) {
        close_parts(&parts);
        return status;
    }
    *watch = parts;
    *out = watch;
    return SPMD_OK;
}

void spmd__watch_free(struct watch **handle)
{
    struct watch *watch = *handle;
    *handle = NULL;
    if (!watch)
        return;
    close_parts(watch);
    free(watch);
}

bool spmd__watch_checks(const struct watch *watch)
{
    return watch && watch->detector;
}

int spmd__watch_comms(const struct watch *watch)
{
    return spmd__watch_checks(watch);
}

static void describe(struct text *text, const char *what, const char *note)
{
    if (note) {
        spmd__text_add(text, "%s", note);
        return;
    }
    spmd__text_add(text, "in %s", what);
    spmd__place_print(text, spmd__place());
}

/* Into a wait: whether the mesh is of use, and a note for the watchdog. */
static spmd_status begin_wait(struct watch *watch, const char *where)
{
    if (!spmd__mpi_is_alive())
        return spmd_fail(SPMD_ERR_MPI, "a collective call after MPI_Finalize");
    if (watch->detector)
        TRY(spmd__detector_check(watch->detector));
    if (watch->watchdog)
        spmd__watchdog_wait(watch->watchdog, where);
    return SPMD_OK;
}

static uint64_t hash_of(const char *what)
{
    return spmd__hash(0, what, strlen(what));
}

spmd_status spmd__watch_meet(struct watch *watch, const struct meeting *meeting, const char *what,
                             const char *note, bool of_failure)
{
    char where[WATCH_NOTE_BYTES];
    spmd_status status = SPMD_OK;
    if (!watch)
        return SPMD_OK;
    struct text text = spmd__text_begin(where, sizeof where);
    describe(&text, what, note);
    TRY(begin_wait(watch, where));
    if (watch->detector && meeting->size > 1)
        status = spmd__detector_meet(watch->detector, meeting, hash_of(what), where, of_failure);
    if (status != SPMD_OK)
        spmd__watch_leave(watch);
    return status;
}

spmd_status spmd__watch_announce(struct watch *watch, const struct meeting *meeting,
                                 const char *what, uint64_t *number)
{
    char where[WATCH_NOTE_BYTES];
    if (!spmd__watch_checks(watch))
        return SPMD_OK;
    struct text text = spmd__text_begin(where, sizeof where);
    describe(&text, what, NULL);
    return spmd__detector_announce(watch->detector, meeting, hash_of(what), where, number);
}

spmd_status spmd__watch_await(struct watch *watch, const struct meeting *meeting, const char *what,
                              uint64_t number)
{
    char where[WATCH_NOTE_BYTES];
    spmd_status status = SPMD_OK;
    if (!watch)
        return SPMD_OK;
    struct text text = spmd__text_begin(where, sizeof where);
    spmd__text_add(&text, "in spmd_wait for %s", what);
    spmd__place_print(&text, spmd__place());
    TRY(begin_wait(watch, where));
    if (watch->detector)
        status = spmd__detector_await(watch->detector, meeting, number, where);
    if (status != SPMD_OK)
        spmd__watch_leave(watch);
    return status;
}

void spmd__watch_leave(struct watch *watch)
{
    if (watch && watch->watchdog)
        spmd__watchdog_leave(watch->watchdog);
}

spmd_status spmd__watch_verdict(const struct watch *watch)
{
    return spmd__watch_checks(watch) ? spmd__detector_verdict(watch->detector) : SPMD_OK;
}
