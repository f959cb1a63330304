/* comm/watchdog.c - warnings of long waits. */
#include "comm/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "comm/notes.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/tell.h"
#include "core/whereabouts.h"

struct watchdog {
    struct watchdog *next; /* of this process */
    struct notes notes;
    struct note mine; /* what stands there of this rank */
    const int *names;
    int64_t limit;

    /* Of the thread. */
    int64_t turn;     /* of the wait that it looks at */
    int64_t patience; /* how long that may last before a warning */
};

/* The thread of this process, there while there are watchdogs. Who adds or removes one holds
 * `registry`, and the lock while the list changes; the thread holds the lock while it looks. */
static struct {
    pthread_mutex_t registry;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct watchdog *watchdogs;
    bool stop;
} monitor = {.registry = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .wake = PTHREAD_COND_INITIALIZER};

/* What a warning says of one rank; NULL: nothing, it was not seen. */
static const char *describe_rank(const struct note *note, char *buffer, size_t size)
{
    if (note->turn == 0)
        return NULL;
    if (note->waiting)
        snprintf(buffer, size, "%s", note->text);
    else if (note->text[0] == '\0')
        snprintf(buffer, size, "not in a call of this mesh yet");
    else
        snprintf(buffer, size, "elsewhere (computing, or in another call), last %s", note->text);
    return buffer;
}

enum { RANK_BYTES = WATCH_NOTE_BYTES + 64 };

/* Room to say something of each rank of the node. */
struct report {
    int *names;
    const char **phrases;
    char (*buffers)[RANK_BYTES];
};

static bool alloc_report(int count, struct report *report)
{
    size_t n = (size_t)count;
    *report = (struct report){calloc(n, sizeof *report->names), calloc(n, sizeof *report->phrases),
                              calloc(n, sizeof *report->buffers)};
    return report->names && report->phrases && report->buffers;
}

static void free_report(struct report *report)
{
    free(report->names);
    free(report->phrases);
    free(report->buffers);
}

/* Prints nothing without memory: it is only a warning. */
static void warn(const struct watchdog *watchdog, int64_t waited)
{
    char line[4096];
    struct report report;
    struct text text = spmd__text_begin(line, sizeof line);
    if (alloc_report(watchdog->notes.count, &report)) {
        for (int i = 0; i < watchdog->notes.count; i++) {
            struct note note;
            if (!spmd__notes_read(&watchdog->notes, i, &note))
                continue;
            report.names[i] = watchdog->names ? watchdog->names[note.rank] : (int)note.rank;
            report.phrases[i] = describe_rank(&note, report.buffers[i], RANK_BYTES);
        }
        spmd__whereabouts_print(&text, watchdog->notes.count, report.names, report.phrases);
        spmd__tell_warning("waiting for %.3g s: %s", (double)waited / (double)CLOCK_SECOND, line);
    }
    free_report(&report);
}

/* Warns of a wait that has become too long; and again when it is twice as long. */
static void look(struct watchdog *watchdog)
{
    struct note mine;
    int64_t now = spmd__clock();
    if (!spmd__notes_read(&watchdog->notes, watchdog->notes.mine, &mine) || !mine.waiting)
        return;
    if (mine.turn != watchdog->turn) {
        watchdog->turn = mine.turn;
        watchdog->patience = watchdog->limit;
    }
    if (now - mine.since < watchdog->patience)
        return;
    watchdog->patience *= 2;
    if (spmd__notes_claim(&watchdog->notes, now, watchdog->limit))
        warn(watchdog, now - mine.since);
}

/* How long the thread may sleep: a part of the shortest limit, a second at most. */
static int64_t pause_of(const struct watchdog *watchdogs)
{
    int64_t pause = CLOCK_SECOND;
    for (const struct watchdog *watchdog = watchdogs; watchdog; watchdog = watchdog->next)
        if (watchdog->limit / 8 < pause)
            pause = watchdog->limit / 8;
    return pause > CLOCK_SECOND / 100 ? pause : CLOCK_SECOND / 100;
}

static void *run(void *unused)
{
    pthread_mutex_lock(&monitor.lock);
    while (!monitor.stop) {
        struct timespec until;
        for (struct watchdog *watchdog = monitor.watchdogs; watchdog; watchdog = watchdog->next)
            look(watchdog);
        clock_gettime(CLOCK_REALTIME, &until);
        int64_t end = until.tv_nsec + pause_of(monitor.watchdogs);
        until.tv_sec += end / CLOCK_SECOND;
        until.tv_nsec = end % CLOCK_SECOND;
        pthread_cond_timedwait(&monitor.wake, &monitor.lock, &until);
    }
    pthread_mutex_unlock(&monitor.lock);
    return unused;
}

/* Signals are the program's: its handlers run in its own threads. */
static int start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    monitor.stop = false;
    int code = pthread_create(&monitor.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* The first one starts the thread. */
static spmd_status add_watchdog(struct watchdog *watchdog)
{
    pthread_mutex_lock(&monitor.registry);
    pthread_mutex_lock(&monitor.lock);
    int code = monitor.watchdogs ? 0 : start_thread();
    if (code == 0) {
        watchdog->next = monitor.watchdogs;
        monitor.watchdogs = watchdog;
    }
    pthread_mutex_unlock(&monitor.lock);
    pthread_mutex_unlock(&monitor.registry);
    return code == 0 ? SPMD_OK
                     : spmd_fail(SPMD_ERR_MEMORY, "SPMD_WATCHDOG: the system gives no thread");
}

/* The last one ends the thread. */
static void remove_watchdog(struct watchdog *watchdog)
{
    pthread_mutex_lock(&monitor.registry);
    pthread_mutex_lock(&monitor.lock);
    struct watchdog **link = &monitor.watchdogs;
    while (*link != watchdog)
        link = &(*link)->next;
    *link = watchdog->next;
    monitor.stop = !monitor.watchdogs;
    pthread_cond_signal(&monitor.wake);
    pthread_mutex_unlock(&monitor.lock);
    if (monitor.stop)
        pthread_join(monitor.thread, NULL);
    pthread_mutex_unlock(&monitor.registry);
}

static void write_note(struct watchdog *watchdog, bool waiting)
{
    watchdog->mine.turn++;
    watchdog->mine.waiting = waiting;
    watchdog->mine.since = spmd__clock();
    spmd__notes_write(&watchdog->notes, &watchdog->mine);
}

static spmd_status start(struct watchdog *watchdog, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    watchdog->mine.rank = rank;
    write_note(watchdog, false);
    return add_watchdog(watchdog);
}

spmd_status spmd__watchdog_open(MPI_Comm comm, const int *names, double seconds,
                                struct watchdog **out)
{
    struct notes notes;
    struct watchdog *watchdog = NULL;
    TRY(spmd__notes_open(comm, &notes));
    spmd_status status = spmd__alloc(1, sizeof *watchdog, &watchdog);
    if (status == SPMD_OK) {
        *watchdog = (struct watchdog){.notes = notes, .names = names};
        watchdog->limit = (int64_t)(seconds * (double)CLOCK_SECOND) + 1; /* not 0 */
        status = start(watchdog, comm);
    }
    if (status != SPMD_OK) {
        spmd__notes_close(&notes);
        free(watchdog);
        return status;
    }
    *out = watchdog;
    return SPMD_OK;
}

void spmd__watchdog_close(struct watchdog **handle)
{
    struct watchdog *watchdog = *handle;
    *handle = NULL;
    if (!watchdog)
        return;
    remove_watchdog(watchdog);
    spmd__notes_close(&watchdog->notes);
    free(watchdog);
}

void spmd__watchdog_wait(struct watchdog *watchdog, const char *where)
{
    snprintf(watchdog->mine.text, sizeof watchdog->mine.text, "%s", where);
    write_note(watchdog, true);
}

void spmd__watchdog_leave(struct watchdog *watchdog)
{
    write_note(watchdog, false);
}
