/* comm/notes.h - what each rank of a node was last seen to do, in a page that they share.
 *
 * A rank writes its own note and reads all, without waiting for anybody. */
#ifndef COMM_NOTES_H
#define COMM_NOTES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/watch.h"
#include "core/error.h"

struct note {
    int64_t turn;  /* counts the notes of this rank; 0: it has never been seen */
    int64_t since; /* by spmd__clock */
    int64_t waiting;
    char text[WATCH_NOTE_BYTES]; /* where it waits, or waited last */
    int64_t rank;                /* in the communicator */
};

/* Of the ranks of one communicator that are on this node. */
struct notes {
    struct page *page;
    size_t bytes;
    int count;
    int mine;
};

/* Collective over `comm`. Where the others' memory cannot be seen this rank is by itself. */
spmd_status spmd__notes_open(MPI_Comm comm, struct notes *notes);
void spmd__notes_close(struct notes *notes);

/* Local, and only one of these at a time. */
void spmd__notes_write(struct notes *notes, const struct note *note);

/* Local. Fails if the writer goes on writing. */
bool spmd__notes_read(const struct notes *notes, int index, struct note *note);

/* Local. Whether this process may speak now for all on the node: nobody has for `interval`. */
bool spmd__notes_claim(struct notes *notes, int64_t now, int64_t interval);

#endif
