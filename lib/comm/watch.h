/* comm/watch.h - who waits for whom: the checks of SPMD_CHECK=1, the warnings of SPMD_WATCHDOG=s.
 *
 * Before ranks do something together they meet: each says what it is about to do, and goes on when
 * all have said the same. So what cannot work is an error, not a hang, and no data has moved.
 * Without both settings there is no watch, and meeting is a look at a NULL.
 *
 *     TRY(spmd__watch_meet(watch, &meeting, "psum over x of f32[3,4]", NULL, false));
 *     ... the collective ...
 *     spmd__watch_leave(watch);
 */
#ifndef COMM_WATCH_H
#define COMM_WATCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* Of one mesh and all that is made of its ranks. */
struct watch;

/* What the environment asks for. */
struct watch_settings {
    bool check;
    double seconds; /* of a wait that is warned of; 0: none is */
};

/* Who meets: always the same ranks, in an order. Zeroed before its first use. */
struct meeting {
    int64_t size; /* 0: not made yet */
    int *members; /* [size] ranks in the watch's communicator; the first one leads */
    uint64_t key; /* the same on all members, and another one on other meetings */
};

/* Collective over `comm`. *watch stays NULL where neither setting is made, on any of the ranks.
 * Messages call the ranks by `names` [size of comm], kept, not copied; NULL: by their numbers. */
spmd_status spmd__watch_open(MPI_Comm comm, struct watch_settings settings, const int *names,
                             struct watch **watch);
void spmd__watch_free(struct watch **watch);

/* Whether SPMD_CHECK=1; false without a watch. */
bool spmd__watch_checks(const struct watch *watch);

/* How many communicators it has. */
int spmd__watch_comms(const struct watch *watch);

/* What a meeting is for: tells those of the same members apart. */
enum meeting_kind { MEETING_FOR_DATA, MEETING_FOR_STARTS, MEETING_FOR_AGREEMENT };

/* Local. Makes a meeting; `members` [size] are taken over. */
void spmd__meeting_make(struct meeting *meeting, enum meeting_kind kind, int64_t size,
                        int *members);
void spmd__meeting_free(struct meeting *meeting);

/* Collective over the meeting, if SPMD_CHECK=1; fails with SPMD_ERR_DISAGREE, on all of its
 * members, if they came with different texts `what`, or if no rank of the watch can go on. From
 * here to spmd__watch_leave this rank counts as waiting: "in WHAT (FILE:LINE)"; or, where `note`
 * is not NULL, as it says. If it is of a failure, and others do not come for 5 s, it is told: they
 * may be where nothing proves that they never will. */
spmd_status spmd__watch_meet(struct watch *watch, const struct meeting *meeting, const char *what,
                             const char *note, bool of_failure);
void spmd__watch_leave(struct watch *watch);

/* The same in two phases, for what is begun without waiting for anybody. The first one is local, if
 * SPMD_CHECK=1 tells the others what this rank begins, and gives its number; members begin in the
 * same order. The second one waits until all have begun it, in any order: not for more. */
spmd_status spmd__watch_announce(struct watch *watch, const struct meeting *meeting,
                                 const char *what, uint64_t *number);
spmd_status spmd__watch_await(struct watch *watch, const struct meeting *meeting, const char *what,
                              uint64_t number);

/* Local. Fails, as the meeting did, if in the call that this is the end of no rank could go on. */
spmd_status spmd__watch_verdict(const struct watch *watch);

/* How long a note may be. */
enum { WATCH_NOTE_BYTES = 320 };

#endif
