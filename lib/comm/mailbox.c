/* comm/mailbox.c - the messages by which the ranks of a watch find out where they are. */
#include "comm/mailbox.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi.h"
#include "core/mem.h"

/* A letter on its way. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    struct letter letter; /* cut behind its text */
};

struct mailbox {
    MPI_Comm comm;
    int rank, size;
    struct outgoing *oldest, *newest;
    int last_ones;        /* ranks whose last letter is here */
    struct mailbox *next; /* among those that are closing */
};

/* Mailboxes that wait for last letters. Whatever stays here is MPI_Finalize's. */
static struct mailbox *closing;
static pthread_mutex_t closing_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t letter_bytes(const struct letter *letter)
{
    return offsetof(struct letter, text) + strlen(letter->text) + 1;
}

/* Frees the letters that have gone, oldest first. */
static spmd_status clear_outgoing(struct mailbox *mailbox)
{
    while (mailbox->oldest) {
        struct outgoing *one = mailbox->oldest;
        int gone;
        TRY_MPI(MPI_Test(&one->request, &gone, MPI_STATUS_IGNORE));
        if (!gone)
            return SPMD_OK;
        mailbox->oldest = one->next;
        free(one);
    }
    mailbox->newest = NULL;
    return SPMD_OK;
}

spmd_status spmd__mailbox_send(struct mailbox *mailbox, int to, enum letter_kind kind,
                               const struct letter *letter)
{
    struct outgoing *one;
    size_t bytes = letter_bytes(letter);
    TRY(clear_outgoing(mailbox));
    TRY(spmd__alloc(1, offsetof(struct outgoing, letter) + bytes, &one));
    memcpy(&one->letter, letter, bytes);
    spmd_status status = spmd__mpi_status(
        MPI_Isend(&one->letter, (int)bytes, MPI_BYTE, to, (int)kind, mailbox->comm, &one->request),
        "MPI_Isend");
    if (status != SPMD_OK) {
        free(one);
        return status;
    }
    if (mailbox->newest)
        mailbox->newest->next = one;
    else
        mailbox->oldest = one;
    mailbox->newest = one;
    return SPMD_OK;
}

spmd_status spmd__mailbox_fetch(struct mailbox *mailbox, bool *here, enum letter_kind *kind,
                                int *from, struct letter *letter)
{
    MPI_Status status;
    int found;
    TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mailbox->comm, &found, &status));
    *here = found;
    if (!found)
        return SPMD_OK;
    *kind = (enum letter_kind)status.MPI_TAG;
    *from = status.MPI_SOURCE;
    TRY_MPI(MPI_Recv(letter, sizeof *letter, MPI_BYTE, *from, status.MPI_TAG, mailbox->comm,
                     MPI_STATUS_IGNORE));
    mailbox->last_ones += *kind == LETTER_LAST;
    return SPMD_OK;
}

static void free_mailbox(struct mailbox *mailbox)
{
    while (mailbox->oldest) {
        struct outgoing *one = mailbox->oldest;
        mailbox->oldest = one->next;
        free(one);
    }
    spmd__mpi_free_comm(&mailbox->comm);
    free(mailbox);
}

/* Whether a closing mailbox has seen all there is to see. */
static bool is_over(struct mailbox *mailbox)
{
    bool here = true;
    while (here) {
        enum letter_kind kind;
        int from;
        struct letter letter;
        if (spmd__mailbox_fetch(mailbox, &here, &kind, &from, &letter) != SPMD_OK)
            return false;
    }
    return clear_outgoing(mailbox) == SPMD_OK && !mailbox->oldest &&
           mailbox->last_ones == mailbox->size - 1;
}

/* Frees what can be; `mailbox`, unless it is NULL, is closing from now on. */
static void free_closing(struct mailbox *mailbox)
{
    pthread_mutex_lock(&closing_lock);
    struct mailbox **link = &closing;
    if (mailbox) {
        mailbox->next = closing;
        closing = mailbox;
    }
    while (*link) {
        struct mailbox *one = *link;
        if (is_over(one)) {
            *link = one->next;
            free_mailbox(one);
        } else {
            link = &one->next;
        }
    }
    pthread_mutex_unlock(&closing_lock);
}

spmd_status spmd__mailbox_open(MPI_Comm comm, struct mailbox **out)
{
    MPI_Comm own;
    struct mailbox *mailbox = NULL;
    free_closing(NULL);
    TRY_MPI(MPI_Comm_dup(comm, &own));
    spmd_status status = spmd__mpi_adopt_comm(own);
    if (status == SPMD_OK)
        status = spmd__alloc(1, sizeof *mailbox, &mailbox);
    if (status != SPMD_OK) {
        MPI_Comm_free(&own);
        return status;
    }
    mailbox->comm = own;
    MPI_Comm_rank(own, &mailbox->rank);
    MPI_Comm_size(own, &mailbox->size);
    *out = mailbox;
    return SPMD_OK;
}

void spmd__mailbox_close(struct mailbox **handle)
{
    static const struct letter last;
    struct mailbox *mailbox = *handle;
    *handle = NULL;
    if (!mailbox)
        return;
    if (!spmd__mpi_is_alive()) {
        free_mailbox(mailbox);
        return;
    }
    for (int to = 0; to < mailbox->size; to++)
        if (to != mailbox->rank)
            spmd__mailbox_send(mailbox, to, LETTER_LAST, &last);
    free_closing(mailbox);
}
