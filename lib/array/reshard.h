/* array/reshard.h - from one sharding to another: the steps of a plan and of its runs. */
#ifndef ARRAY_RESHARD_H
#define ARRAY_RESHARD_H

#include <spmd/reshard.h>

#include "array/array.h"
#include "array/contributions.h"
#include "array/exchange.h"
#include "array/reshard_collective.h"
#include "comm/bridge.h"
#include "core/route.h"

struct spmd_reshard_call {
    spmd_sharding *from, *to; /* held */
    spmd_sharding *seen;      /* held: of an input that was last found to lie as `from` says */
    spmd_dtype dtype;
    spmd_shape shape;
    bool nothing; /* has to be done */
    struct steps steps;
    struct bridge bridge;
    struct contributions contributions;   /* where the steps reduce, on ranks that have some */
    bool moves;                           /* values do; else a sum is made where it stays */
    void *values;                         /* what they are moved from; NULL: the source's block */
    struct exchange exchange;             /* parts are offsets from the blocks' first bytes */
    struct reshard_collective collective; /* if it has a group, it moves them */
    bool first; /* this rank gets values, where others along some axes get zeros */
    bool ran;   /* values have moved, so that it is known by which way */
};

/* As spmd_reshard_to, but the ranks are known to have passed the same arguments: where the array
 * lies so already, nothing is communicated at all. */
spmd_status spmd__reshard(spmd_array *array, const spmd_sharding *sharding, spmd_array **out);

/* The same into the memory of `target`, in whose block the array's own may lie, at the place that
 * it has in there: then only what others hold is moved. */
spmd_status spmd__reshard_into(const spmd_array *array, spmd_array *target);

/* A digest of what a reshard is from and to, for agreements. */
uint64_t spmd__reshard_digest(const spmd_sharding *from, const spmd_sharding *to, spmd_dtype dtype,
                              spmd_shape shape);

/* Collective over the array's mesh, before ranks go their ways: those where nothing moves do not
 * wait for those that want something else. Fails if there is no sharding. */
spmd_status spmd__reshard_agree_on_call(const spmd_array *array, const spmd_sharding *sharding,
                                        spmd_status status);

/* A plan in its steps: begin, then draft, which is local, then agree on how it went, then any
 * number of moves, then end. All but draft and end are collective over both meshes. Ranks that only
 * the target has learn type and shape in `begin`. */
spmd_status spmd__reshard_begin(const spmd_sharding *from, const spmd_sharding *to,
                                spmd_dtype dtype, spmd_shape shape, spmd_reshard_call *plan);
spmd_status spmd__reshard_draft(spmd_reshard_call *plan);
spmd_status spmd__reshard_agree(const spmd_reshard_call *plan, spmd_status status);
spmd_status spmd__reshard_move(spmd_reshard_call *plan, const spmd_block *from,
                               const spmd_block *to);
void spmd__reshard_end(spmd_reshard_call *plan);

/* Local, of a plan that has begun: the way of what moves between its boxes, given where positions
 * of the target stand on the source's mesh (core/route.h). Points into the plan. */
struct route spmd__reshard_route(const spmd_reshard_call *plan, route_home *home, const void *map);

#endif
