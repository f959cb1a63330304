/* comm/mailbox.h - the messages by which the ranks of a watch find out where they are.
 *
 * Letters are small and sent without waiting; between two ranks they arrive in order. None is left
 * behind when a mailbox closes: each rank tells the others its last one, and the communicator is
 * freed when all of these are there. That is later than the close, which waits for nobody. */
#ifndef COMM_MAILBOX_H
#define COMM_MAILBOX_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

enum letter_kind {
    LETTER_ARRIVAL,      /* to the leader of a meeting: I am here, to do `what` */
    LETTER_RELEASE,      /* from it: all are */
    LETTER_MISMATCH,     /* from it: not all came to do the same; the text says who did what */
    LETTER_ANNOUNCEMENT, /* to all others of a group: I have begun to do `what` */
    LETTER_QUESTION,     /* from rank 0, in wave `number`: where are you? */
    LETTER_ANSWER,       /* to it, by a rank that waits */
    LETTER_DEADLOCK,     /* from it: nobody can go on; the text says who is where */
    LETTER_LAST,         /* nothing will follow */
};

/* How far a rank has come: alike at two times, nothing has happened to it between them. */
struct pulse {
    uint64_t wait; /* the number of its wait; 0: not in one */
    uint64_t sent; /* of all letters but questions and answers */
    uint64_t received;
};

struct letter {
    uint64_t key;    /* of a meeting */
    uint64_t what;   /* what its members compare */
    uint64_t number; /* of an announcement among those with its key; of a question */
    struct pulse pulse;
    char text[ERROR_MESSAGE_BYTES]; /* sent as far as it is long */
};

struct mailbox;

/* Collective over `comm`, which is duplicated. */
spmd_status spmd__mailbox_open(MPI_Comm comm, struct mailbox **mailbox);

/* Local. Sends what was not fetched to nowhere. After MPI_Finalize it only frees memory. */
void spmd__mailbox_close(struct mailbox **mailbox);

/* Local. */
spmd_status spmd__mailbox_send(struct mailbox *mailbox, int to, enum letter_kind kind,
                               const struct letter *letter);

/* Local. Fetches a letter if there is one: *here says so. */
spmd_status spmd__mailbox_fetch(struct mailbox *mailbox, bool *here, enum letter_kind *kind,
                                int *from, struct letter *letter);

#endif
