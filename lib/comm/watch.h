/* comm/watch.h - who waits for whom: the checks of SPMD_CHECK=1, the warnings of SPMD_WATCHDOG=s.
 *
 * Before ranks do something together they meet: each says what it is about to do, and goes on when
 * all have said the same. So what cannot work is an error, not a hang, and no data has moved.
 * Without both settings there is no watch, and meeting is a look at a NULL.
 *
 *     TRY(spmd__watch_meet(watch, &meeting, "psum over x of f32[3,4]"));
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

/* Who meets: always the same ranks, in an order. Zeroed before its first use. */
struct meeting {
    int64_t size;     /* 0: not made yet */
    int *members;     /* [size] ranks in the watch's communicator; the first one leads */
    uint64_t key;     /* the same on all members, and another one on other meetings */
    uint64_t entered; /* meetings that this rank has come to */
};

/* Collective over `comm`. *watch stays NULL where neither setting is made, on any of the ranks. */
spmd_status spmd__watch_open(MPI_Comm comm, struct watch **watch);
void spmd__watch_free(struct watch **watch);

/* Whether SPMD_CHECK=1; false without a watch. */
bool spmd__watch_checks(const struct watch *watch);

/* Local. Makes a meeting; `members` [size] are taken over. `kind` tells meetings of the same
 * members apart: those of data and those of agreements. */
void spmd__meeting_make(struct meeting *meeting, int kind, int64_t size, int *members);
void spmd__meeting_free(struct meeting *meeting);

/* Collective over the meeting, if SPMD_CHECK=1; fails with SPMD_ERR_DISAGREE, on all of its
 * members, if they came with different texts, or if no rank of the watch can go on. From here to
 * spmd__watch_leave this rank counts as waiting. */
spmd_status spmd__watch_meet(struct watch *watch, struct meeting *meeting, const char *what);
void spmd__watch_leave(struct watch *watch);

#endif
