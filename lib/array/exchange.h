/* array/exchange.h - moving parts of blocks between ranks. Knows views, no arrays.
 *
 *     struct exchange exchange = {.comm = comm, .costs = &mesh->costs, .element = 8};
 *     spmd__exchange_send(&exchange, peer, part)       what goes where
 *     spmd__exchange_receive(&exchange, peer, part)
 *     spmd__exchange_prepare(&exchange)                all memory that moving needs
 *     ... agree that every rank has come so far ...
 *     spmd__exchange_run(&exchange)
 *     spmd__exchange_free(&exchange)
 */
#ifndef ARRAY_EXCHANGE_H
#define ARRAY_EXCHANGE_H

#include <mpi.h>

#include "comm/node.h"
#include "core/cost.h"
#include "core/error.h"
#include "core/view.h"

/* A part to send to, or to receive from, a rank. */
struct transfer {
    int peer;
    struct view part;
    bool readable;     /* of one to receive: `there` is known */
    struct view there; /* the part in the peer's block; data is an offset from its first byte */
};

struct transfers {
    int count;
    int room;
    struct transfer *list;
};

struct exchange {
    MPI_Comm comm;
    size_t element;            /* bytes of each element */
    struct node *node;         /* of comm; NULL: all goes by messages */
    const struct costs *costs; /* those of a mesh that has comm */
    /* What the data of parts to send, and to receive, are offsets from; NULL: they are addresses.
     * Either may be another one at each run. They may be the same block where
     * spmd__exchange_is_own: what stays is moved to its beginning when the others have taken
     * theirs. `from` may lie in the block at `to` where what stays already lies in its place. */
    char *from, *to;
    bool offered; /* all parts to send lie in the block at `from`, and the node may read it */
    struct transfers sends;
    struct transfers receives;
    struct staging *staging; /* what prepare made */
};

/* Local. Adds a part; an empty one is left out. The k-th part that a rank sends to another one goes
 * to the k-th part that this one receives from it: both have the same extents. Parts from a
 * rank to itself are copied. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__exchange_send(struct exchange *exchange, int peer, struct view part);
spmd_status spmd__exchange_receive(struct exchange *exchange, int peer, struct view part);

/* Local. As spmd__exchange_receive; but where the peer has offered its block, and this rank can
 * read it, the part is copied from `there`. Then all parts from this peer are to be such. */
spmd_status spmd__exchange_read(struct exchange *exchange, int peer, struct view part,
                                struct view there);

/* Local. Makes ready to run: at most two short messages' worth of memory for each peer. */
spmd_status spmd__exchange_prepare(struct exchange *exchange);

/* Collective over the ranks that have parts for each other. Moves the data; a prepared exchange may
 * run again. */
spmd_status spmd__exchange_run(struct exchange *exchange);

/* Local. Bytes that came to this rank from others in the last run, of which there must have been
 * one, by the way they took. */
struct moved {
    int64_t pool;     /* read from a peer's block in memory that the node's processes share */
    int64_t readv;    /* read from a peer's own memory */
    int64_t messages; /* sent by the peer */
};
struct moved spmd__exchange_moved(const struct exchange *exchange);

/* Local. Whether a prepared exchange brings this rank nothing but one part of its own. */
bool spmd__exchange_is_own(const struct exchange *exchange);

/* Local. Frees lists and memory; fine for one that was never filled. */
void spmd__exchange_free(struct exchange *exchange);

#endif
