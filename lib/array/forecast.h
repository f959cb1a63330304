/* array/forecast.h - what a reshard does at any rank, and in all, by arithmetic: no rank is asked,
 * and none is needed. */
#ifndef ARRAY_FORECAST_H
#define ARRAY_FORECAST_H

#include "array/array.h"
#include "core/route.h"
#include "core/steps.h"

/* One of the steps of a reshard that there are, in their order. */
struct step {
    struct move move;
    const struct axes *axes; /* of the mesh that the array lies on after it */
    struct spec spec;        /* how */
};

enum { MOST_STEPS = 3 }; /* reduce, move, fill */

struct forecast {
    const spmd_sharding *from, *to; /* borrowed */
    spmd_dtype dtype;
    spmd_shape shape;
    struct steps steps;
    struct route route; /* of what is moved */
    int *homes;    /* [positions of `to`] the same rank's position in `from`, -1 if it has none;
                      NULL: the same, as far as that goes */
    int64_t ranks; /* of both meshes */
    int count;
    struct step step[MOST_STEPS]; /* one of a kind NOTHING if nothing has to be done */
};

/* What one rank does in one step. */
struct flow {
    int64_t kept, received, sent; /* bytes */
    int64_t sources, targets;     /* ranks that it receives from, and sends to */
    int64_t slots;                /* bytes of memory for messages */
};

/* Its memory in a run, in bytes. */
struct memory {
    int64_t source, target;
    int64_t packed; /* the source once more, part after part */
    int64_t values; /* what contributions have added up to, before it moves on */
    int64_t slots;
};

/* Local; the shardings must last. Whether nothing has to be done is known to those who plan. Fails
 * with SPMD_ERR_MEMORY. Points into itself: not to be copied. */
spmd_status spmd__forecast_begin(const spmd_sharding *from, const spmd_sharding *to,
                                 spmd_dtype dtype, spmd_shape shape, bool nothing,
                                 struct forecast *forecast);
void spmd__forecast_end(struct forecast *forecast);

/* Where a rank stands: its positions in both meshes, -1 in one that it is not of. Ranks are
 * numbered as in spmd_reshard_count. */
struct stand {
    int64_t from, to;
};
struct stand spmd__forecast_stand(const struct forecast *forecast, int64_t rank);
struct stand spmd__forecast_self(const struct forecast *forecast);

/* The reverse; -1 of a rank that is of neither mesh. */
int64_t spmd__forecast_number(const struct forecast *forecast, struct stand stand);

/* What a rank does in step `index`. Fails with SPMD_ERR_SHAPE for more than 2^63 - 1 bytes. */
spmd_status spmd__forecast_flow(const struct forecast *forecast, int index, struct stand stand,
                                struct flow *flow);

/* Adds an amount of a rank to its others, and fails alike. */
spmd_status spmd__forecast_add(int64_t *sum, int64_t amount);

/* Its memory, but for the slots of messages. */
struct memory spmd__forecast_memory(const struct forecast *forecast, struct stand stand);

/* What all ranks do in step `index`, in bytes. False where that cannot be told. */
struct total {
    double kept, moved;
};
bool spmd__forecast_total(const struct forecast *forecast, int index, struct total *total);

#endif
