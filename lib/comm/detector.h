/* comm/detector.h - errors instead of hangs: what SPMD_CHECK=1 does.
 *
 * A rank that comes to a meeting tells its leader, and waits. The leader lets all go on when all
 * are there (meeting.c). While it waits a rank does nothing but answer letters, so its letters are
 * all that it can do to the others; that makes a deadlock something that can be proven
 * (deadlock.c).
 *
 * No letter needs a number: a rank is in one meeting at a time, so that of two arrivals at the
 * same meeting the second one is always for the next time. */
#ifndef COMM_DETECTOR_H
#define COMM_DETECTOR_H

#include "comm/mailbox.h"
#include "comm/watch.h"
#include "core/text.h"

/* A rank that is at a meeting, or has announced something. */
struct arrival {
    struct arrival *next;
    int from;
    uint64_t key;
    uint64_t number; /* of an announcement */
    uint64_t what;
    char text[]; /* where it is, in words */
};

enum outcome { STILL_WAITING, MAY_GO_ON, CAME_FOR_OTHER_THINGS, NEVER_GOES_ON };

struct waves;
struct tally;

struct detector {
    struct mailbox *mailbox;
    int rank, size;
    const int *names; /* [size] what messages call the ranks; NULL: so */
    struct pulse pulse;
    uint64_t waits; /* so far */

    /* The wait of this rank, if pulse.wait is not 0. */
    const struct meeting *meeting;
    uint64_t number; /* of the announcements that it waits for; 0: for none */
    uint64_t what;
    const char *text; /* where it is, in words */
    bool untold;      /* `text` is of a failure, which nobody has been told of */
    int64_t since;
    enum outcome outcome;
    char message[ERROR_MESSAGE_BYTES]; /* of an outcome that is a failure */

    struct arrival *here; /* who else is at the meeting that this rank waits in and leads */
    int64_t nhere;
    struct arrival *early; /* who is at other ones that it leads */

    struct arrival *announced;
    struct tally *tallies; /* announcements of this rank, for each key */

    struct waves *waves; /* rank 0's search for a deadlock */
};

/* Collective over `comm`. `names` is kept, not copied. */
spmd_status spmd__detector_open(MPI_Comm comm, const int *names, struct detector **detector);
void spmd__detector_close(struct detector **detector);

/* Collective over the meeting, of more than one rank. `what` must be equal on its members; `text`
 * says where this rank is, and is told to the user where it is of a failure and the wait is long.
 * Fails with SPMD_ERR_DISAGREE on all members, if they do not agree; or on
 * all ranks, if none can go on, and from then on at once. */
spmd_status spmd__detector_meet(struct detector *detector, const struct meeting *meeting,
                                uint64_t what, const char *text, bool of_failure);

/* Local. Tells the other members what this rank begins without waiting for them; the number is for
 * the wait. Members announce in the same order, and may wait in any. */
spmd_status spmd__detector_announce(struct detector *detector, const struct meeting *meeting,
                                    uint64_t what, const char *text, uint64_t *number);

/* Waits until all members have announced number so-and-so. Waits for nothing else of them. Fails as
 * a meeting does, on each member when it waits. */
spmd_status spmd__detector_await(struct detector *detector, const struct meeting *meeting,
                                 uint64_t number, const char *text);

/* Local. Fails if it has found a deadlock, with the message of that; or, for a later call, says
 * that the mesh is out of use since. */
spmd_status spmd__detector_verdict(const struct detector *detector);
spmd_status spmd__detector_check(const struct detector *detector);

/* Between its files. Sends a letter that counts. */
spmd_status spmd__detector_send(struct detector *detector, int to, enum letter_kind kind,
                                const struct letter *letter);
spmd_status spmd__detector_keep(struct arrival **list, int from, const struct letter *letter);
void spmd__detector_drop(struct arrival **list);

/* meeting.c. This rank comes to its meeting; a letter of another one that did; no more meetings. */
spmd_status spmd__meeting_enter(struct detector *detector);
spmd_status spmd__meeting_take(struct detector *detector, int from, const struct letter *letter);
void spmd__meeting_forget(struct detector *detector);

/* The members' message about what they came for, or announced: each with the text of its arrival
 * in `list`, or else `mine`. */
spmd_status spmd__meeting_describe(const struct detector *detector, const struct arrival *list,
                                   const char *mine, struct text *text);

/* announcement.c. This rank waits for its announcements; one of another rank; no more of them. */
spmd_status spmd__announcement_enter(struct detector *detector);
spmd_status spmd__announcement_take(struct detector *detector, int from,
                                    const struct letter *letter);
void spmd__announcement_forget(struct detector *detector);

/* deadlock.c, on rank 0: has a look, while it waits; and takes an answer. */
spmd_status spmd__deadlock_open(int size, struct waves **waves);
void spmd__deadlock_close(struct waves **waves, int size);
spmd_status spmd__deadlock_look(struct detector *detector);
spmd_status spmd__deadlock_take(struct detector *detector, int from, const struct letter *letter);

#endif
