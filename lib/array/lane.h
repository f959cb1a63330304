/* array/lane.h - what goes from one rank to another in an exchange, cut into messages. */
#ifndef ARRAY_LANE_H
#define ARRAY_LANE_H

#include <mpi.h>

#include "array/exchange.h"
#include "comm/way.h"

/* Messages of a lane under way at a time: one is packed while another one travels. */
enum { LANE_DEPTH = 2 };

/* A part in the order of the lanes: by how far the peer stands after this rank, so that not all
 * ranks begin with the same peer; then as added. */
struct stop {
    int distance;
    const struct transfer *transfer;
};

/* The parts begin ... end - 1 of a lane; or, of a part that is cut, one piece. */
struct message {
    int begin;
    int end;
    int64_t piece;
    int64_t bytes;
};

struct lane {
    bool sending;
    bool near;          /* the peer may read what it gets here, or be read by this rank */
    enum stores stores; /* of what comes */
    enum way way;       /* in this run */
    int peer;
    size_t element;
    int64_t bytes;  /* of all parts */
    int64_t runs;   /* in which they lie in the sender's block, where that is known to both */
    bool scattered; /* its runs here are short */
    char *base;     /* what its parts are offsets from, in this run */
    int nparts;
    const struct stop *parts; /* [nparts] */
    int next_part;            /* where the next message begins */
    int64_t next_piece;
    struct message message[LANE_DEPTH]; /* under way */
    char *slot[LANE_DEPTH];             /* NULL where every message is dense */
};

/* A lane of the transfers `parts` [nparts], all with one peer. */
struct lane spmd__lane_make(bool sending, bool near, size_t element, const struct stop *parts,
                            int nparts);

/* Bytes of each of its slots; 0 where all messages are in place. */
int64_t spmd__lane_slot_bytes(const struct lane *lane);

/* Memory of all slots, in bytes, of a lane that has this part alone. */
int64_t spmd__lane_slots(const struct view *part, size_t element);

/* Begins a run. */
void spmd__lane_begin(struct lane *lane, char *base);

/* Sends or receives the next message, if there is one, by the free slot number `slot`; and after it
 * has left the slot, or has arrived. */
spmd_status spmd__lane_post(struct lane *lane, int slot, MPI_Comm comm, MPI_Request *request);
void spmd__lane_finish(struct lane *lane, int slot);

/* Copies all parts from the peer's block, which lies `shown`, by the lane's way. */
void spmd__lane_read(struct lane *lane, const struct shown *shown);

#endif
