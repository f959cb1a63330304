/* comm/post.c - the messages by which the ranks of a watch find out where they are. */
#include "comm/post.h"

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

struct post {
    MPI_Comm comm;
    int rank, size;
    struct outgoing *oldest, *newest;
    int last_ones;     /* ranks whose last letter is here */
    struct post *next; /* among those that are closing */
};

/* Posts that wait for last letters. Whatever stays here is MPI_Finalize's. */
static struct post *closing;
static pthread_mutex_t closing_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t letter_bytes(const struct letter *letter)
{
    return offsetof(struct letter, text) + strlen(letter->text) + 1;
}

/* Frees the letters that have gone, oldest first. */
static spmd_status clear_outgoing(struct post *post)
{
    while (post->oldest) {
        struct outgoing *one = post->oldest;
        int gone;
        TRY_MPI(MPI_Test(&one->request, &gone, MPI_STATUS_IGNORE));
        if (!gone)
            return SPMD_OK;
        post->oldest = one->next;
        free(one);
    }
    post->newest = NULL;
    return SPMD_OK;
}

spmd_status spmd__post_send(struct post *post, int to, enum letter_kind kind,
                            const struct letter *letter)
{
    struct outgoing *one;
    size_t bytes = letter_bytes(letter);
    TRY(clear_outgoing(post));
    TRY(spmd__alloc(1, offsetof(struct outgoing, letter) + bytes, &one));
    memcpy(&one->letter, letter, bytes);
    spmd_status status = spmd__mpi_status(
        MPI_Isend(&one->letter, (int)bytes, MPI_BYTE, to, (int)kind, post->comm, &one->request),
        "MPI_Isend");
    if (status != SPMD_OK) {
        free(one);
        return status;
    }
    if (post->newest)
        post->newest->next = one;
    else
        post->oldest = one;
    post->newest = one;
    return SPMD_OK;
}

spmd_status spmd__post_fetch(struct post *post, bool *here, enum letter_kind *kind, int *from,
                             struct letter *letter)
{
    MPI_Status status;
    int found;
    TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, post->comm, &found, &status));
    *here = found;
    if (!found)
        return SPMD_OK;
    *kind = (enum letter_kind)status.MPI_TAG;
    *from = status.MPI_SOURCE;
    TRY_MPI(MPI_Recv(letter, sizeof *letter, MPI_BYTE, *from, status.MPI_TAG, post->comm,
                     MPI_STATUS_IGNORE));
    post->last_ones += *kind == LETTER_LAST;
    return SPMD_OK;
}

static void free_post(struct post *post)
{
    while (post->oldest) {
        struct outgoing *one = post->oldest;
        post->oldest = one->next;
        free(one);
    }
    spmd__mpi_free_comm(&post->comm);
    free(post);
}

/* Whether a closing post has seen all there is to see. */
static bool is_over(struct post *post)
{
    bool here = true;
    while (here) {
        enum letter_kind kind;
        int from;
        struct letter letter;
        if (spmd__post_fetch(post, &here, &kind, &from, &letter) != SPMD_OK)
            return false;
    }
    return clear_outgoing(post) == SPMD_OK && !post->oldest && post->last_ones == post->size - 1;
}

/* Frees what can be; `post`, unless it is NULL, is closing from now on. */
static void free_closing(struct post *post)
{
    pthread_mutex_lock(&closing_lock);
    struct post **link = &closing;
    if (post) {
        post->next = closing;
        closing = post;
    }
    while (*link) {
        struct post *one = *link;
        if (is_over(one)) {
            *link = one->next;
            free_post(one);
        } else {
            link = &one->next;
        }
    }
    pthread_mutex_unlock(&closing_lock);
}

spmd_status spmd__post_open(MPI_Comm comm, struct post **out)
{
    MPI_Comm own;
    struct post *post = NULL;
    free_closing(NULL);
    TRY_MPI(MPI_Comm_dup(comm, &own));
    spmd_status status = spmd__mpi_adopt_comm(own);
    if (status == SPMD_OK)
        status = spmd__alloc(1, sizeof *post, &post);
    if (status != SPMD_OK) {
        MPI_Comm_free(&own);
        return status;
    }
    post->comm = own;
    MPI_Comm_rank(own, &post->rank);
    MPI_Comm_size(own, &post->size);
    *out = post;
    return SPMD_OK;
}

void spmd__post_close(struct post **handle)
{
    static const struct letter last;
    struct post *post = *handle;
    *handle = NULL;
    if (!post)
        return;
    if (!spmd__mpi_is_alive()) {
        free_post(post);
        return;
    }
    for (int to = 0; to < post->size; to++)
        if (to != post->rank)
            spmd__post_send(post, to, LETTER_LAST, &last);
    free_closing(post);
}
