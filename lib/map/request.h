/* map/request.h - collectives in two phases: what _start begins and spmd_wait ends.
 *
 * A kind with a split phase begins in its `start`: it takes all memory that must last from
 * request->arena, leaves in `finish` what is to be done when the data is there, and has a call of
 * comm begin:
 *
 *     TRY(spmd__arena_take(&request->arena, bytes, 1, &request->state));
 *     request->finish = round_and_store;
 *     return spmd__all_reduce_start(..., &request->arena, &request->pending);
 */
#ifndef MAP_REQUEST_H
#define MAP_REQUEST_H

#include "comm/pending.h"
#include "map/collective.h"

struct spmd_request {
    spmd_request *next;  /* among the open ones of a body, or among the spare ones */
    struct operation op; /* with blocks, text and list of its own */
    spmd_block in, out;
    struct group *group;
    struct arena arena;
    struct pending pending; /* in the arena */

    /* What is left to do when nothing is pending; called once. NULL: nothing. */
    spmd_status (*finish)(spmd_request *request);
    void *state; /* of the kind */

    uint64_t number; /* under SPMD_CHECK=1, among those that the group has begun */
};

/* Begins an operation, whose kind has a split phase. Collective where a group is used for the
 * first time; else it waits for nobody. */
spmd_status spmd__request_start(struct operation *op, spmd_request **request);

/* After the body, with its `status`: ends the requests that it left open. They fail it. */
spmd_status spmd__requests_end(spmd_ctx *ctx, spmd_status status);

/* Frees the requests that a call has kept to use again. */
void spmd__requests_free(spmd_request **spare);

#endif
