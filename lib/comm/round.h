/* comm/round.h - rounds in which the members of a group, all on one node, read each other's blocks,
 * and write each other's results (comm/node.h):
 *
 *     spmd__round_open(group, bytes, scratch, &round)
 *     if (round.node) {
 *         spmd__round_begin(&round, block, result, true, &all)
 *         ... if all: spmd__round_take, spmd__round_look; if round.writes: rooms ...
 *         spmd__round_end(&round)                           all have read and written
 *     }
 *
 * Collective over the group, which is open; one opening serves several rounds. */
#ifndef COMM_ROUND_H
#define COMM_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/mesh.h"
#include "core/arena.h"
#include "core/copy.h"

/* A member's block in a round. */
struct sight {
    const char *data; /* where it lies here; NULL: it is to be fetched */
    struct shown shown;
};

struct round {
    const struct group *group;
    struct node *node;    /* NULL: not all members are near, or MPI does so few bytes better */
    int64_t bytes;        /* about so many are read from each */
    struct sight *sights; /* [size of the group] */
    char **rooms;         /* [size of the group] the members' results, here */
    bool writes;          /* these can be written: all are in pools */
};

/* `bytes` in all; all members say the same. */
spmd_status spmd__round_open(const struct group *group, int64_t bytes, struct arena *scratch,
                             struct round *round);

/* How the members write so many bytes together. */
enum stores spmd__round_stores(const struct round *round, int64_t bytes);

/* Whether the others may read memory of this rank's. */
bool spmd__round_reads(const struct round *round, const void *block);

/* Shows `block` to the others, where it can be read and `well` holds; and `result`, for them to
 * write, unless it is NULL. *all says whether all members show their blocks; they find the same. */
spmd_status spmd__round_begin(struct round *round, const void *block, void *result, bool well,
                              bool *all);

/* Bytes `at` and on of a member's block: where they lie, or in `scratch`. */
const char *spmd__round_look(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                             void *scratch);

/* The same bytes, copied to where they go. */
void spmd__round_take(const struct round *round, int64_t member, int64_t at, int64_t bytes,
                      char *to, enum stores stores);

/* Waits until all have read and written; what this rank has written is there before the others hear
 * of it. */
spmd_status spmd__round_end(struct round *round);

#endif
