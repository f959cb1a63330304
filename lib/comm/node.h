/* comm/node.h - the ranks of a communicator that can read this one's blocks where they lie.
 *
 * Ranks of a node map each other's pools (core/pool.h). Who offers a block says so in a slot of its
 * own, which its readers look at:
 *
 *     spmd__node_offer(node, block)              my block may be read from now on
 *     spmd__node_await(node, rank, &data)        theirs; NULL: not here, they send it
 *     ... read it ...
 *     spmd__node_finish(node)                    I have read what I wanted
 *     spmd__node_await_reader(node, rank)        and so has a reader of mine
 *
 * is a round. All ranks of the communicator make the same rounds, and each one names in them who
 * reads from it, and from whom it reads. Whoever waits lets MPI work. */
#ifndef COMM_NODE_H
#define COMM_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

struct node;

/* Collective over `comm`, which must last as long. *node is NULL on ranks that are alone on their
 * node, and where blocks cannot be read; SPMD_PEER_READS=0 in the environment is such a case. */
spmd_status spmd__node_open(MPI_Comm comm, struct node **node);
void spmd__node_free(struct node **node);

/* Whether a rank's blocks can be read here, and mine there. */
bool spmd__node_has(const struct node *node, int rank);

/* Ranks of the node, this one among them; 1 without one. */
int spmd__node_size(const struct node *node);

/* Local. Begins a round. `block` NULL, or not in the pool: nothing can be read. */
void spmd__node_offer(struct node *node, const void *block);

/* Waits until `rank` has come to this round. */
spmd_status spmd__node_await(struct node *node, int rank, const void **data);

void spmd__node_finish(struct node *node);
spmd_status spmd__node_await_reader(struct node *node, int rank);

#endif
