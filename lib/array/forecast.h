/* array/forecast.h - what a reshard does at any rank, and in all, by arithmetic on its plan: no
 * rank is asked, and none is needed. */
#ifndef ARRAY_FORECAST_H
#define ARRAY_FORECAST_H

#include "array/reshard.h"
#include "array/stands.h"
#include "core/route.h"

/* One of the steps of a reshard that there are, in their order. */
struct step {
    struct move move;
    const struct axes *axes; /* of the mesh that the array lies on after it */
    struct spec spec;        /* how */
};

enum { MOST_STEPS = 3 }; /* reduce, move, fill */

struct forecast {
    const spmd_reshard_call *plan; /* borrowed */
    struct stands stands;          /* of the ranks of both meshes */
    int count;
    struct step step[MOST_STEPS]; /* one of a kind NOTHING if nothing has to be done */
};

/* Local; the plan must last. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__forecast_begin(const spmd_reshard_call *plan, struct forecast *forecast);
void spmd__forecast_end(struct forecast *forecast);

/* Who takes what from whom where values move. Points into the forecast and its plan. */
struct route spmd__forecast_route(const struct forecast *forecast);

/* What one rank does in one step. */
struct flow {
    int64_t kept, received, sent; /* bytes */
    int64_t sources, targets;     /* ranks that it receives from, and sends to */
    int64_t slots;                /* bytes of memory for messages */
};

/* What a rank does in step `index`. Fails with SPMD_ERR_SHAPE for more than 2^63 - 1 bytes. */
spmd_status spmd__forecast_flow(const struct forecast *forecast, int index, struct stand stand,
                                struct flow *flow);

/* Adds an amount of a rank to its others, and fails alike. */
spmd_status spmd__forecast_add(int64_t *sum, int64_t amount);

/* Its memory in a run, in bytes. */
struct memory {
    int64_t source, target;
    int64_t packed; /* the source once more, part after part */
    int64_t values; /* what contributions have added up to, before it moves on */
    int64_t slots;
};

/* Its memory, but for the slots of messages. */
struct memory spmd__forecast_memory(const struct forecast *forecast, struct stand stand);

/* What all ranks do in step `index`, in bytes. False where that cannot be told. */
struct total {
    double kept, moved;
};
bool spmd__forecast_total(const struct forecast *forecast, int index, struct total *total);

#endif
