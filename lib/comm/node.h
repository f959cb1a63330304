/* comm/node.h - the ranks of a communicator that can read this one's blocks where they lie.
 *
 * Ranks of a node map each other's pools, to read and write (core/pool.h), and may read each
 * other's own memory as well (core/remote.h). Who offers a block says so in a slot of its own,
 * which its readers look at:
 *
 *     spmd__node_offer(node, block, NULL)        my block may be read from now on
 *     spmd__node_await(node, rank, &shown)       theirs
 *     way = spmd__node_way(node, shown.mapped != NULL, bytes, runs)
 *     ... read it by this way; or they send it ...
 *     spmd__node_finish(node)                    I have read what I wanted
 *     spmd__node_await_reader(node, rank)        and so has a reader of mine
 *
 * is a round. All ranks of the communicator make the same rounds, and each one names in them who
 * reads from it, and from whom it reads. By which way follows from what both know, so that who has
 * to send finds it without being told. Whoever waits lets MPI work.
 *
 * A rank can also offer room in its pool, for the others to write: it is theirs until all have
 * finished, who agree on who writes what. */
#ifndef COMM_NODE_H
#define COMM_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/way.h"
#include "core/cost.h"
#include "core/error.h"
#include "core/view.h"

struct node;

/* Another rank's block. */
struct shown {
    int64_t process;
    const char *address; /* where it lies in that process; NULL: it is not to be read */
    const char *mapped;  /* and here; NULL: it is in no pool */
    char *room;          /* where it may be written, here; NULL: nowhere */
};

/* Collective over `comm`, which must last as long, as must `costs`. *node is NULL on ranks that are
 * alone on their node, and where `way` forbids to read or the system refuses it. Where it refuses
 * what would be used, one rank of each node tells that once, if `tells`. */
spmd_status spmd__node_open(MPI_Comm comm, enum way way, const struct costs *costs, bool tells,
                            struct node **node);
void spmd__node_free(struct node **node);

/* Whether a rank's blocks may be read here, and mine there. */
bool spmd__node_has(const struct node *node, int rank);

/* Ranks of the node, this one among them; 1 without one. */
int spmd__node_size(const struct node *node);

/* Local. How a rank of the node reads `bytes` of another one's block, which lie there in as many
 * runs, 1 or more: WAY_POOL, WAY_READV, or WAY_MESSAGES, not at all. */
enum way spmd__node_way(const struct node *node, bool in_pool, int64_t bytes, int64_t runs);

/* Local. Begins a round. `block` NULL: nothing can be read; `room` NULL: nothing can be written. */
void spmd__node_offer(struct node *node, const void *block, void *room);

/* Waits until `rank` has come to this round. */
spmd_status spmd__node_await(struct node *node, int rank, struct shown *shown);

/* Copies from a block that was shown, by WAY_READV; `src` is there. A system that refuses it after
 * all ends the run, since the other rank waits. */
void spmd__node_fetch(const struct shown *shown, const struct view *dst, const struct view *src,
                      size_t element);
void spmd__node_fetch_bytes(const struct shown *shown, void *dst, const void *src, size_t bytes);

void spmd__node_finish(struct node *node);
spmd_status spmd__node_await_reader(struct node *node, int rank);

#endif
