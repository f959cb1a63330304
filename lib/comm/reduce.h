/* comm/reduce.h - reductions of plain memory over a group, in 64-bit counts. They know elements, no
 * blocks and no bodies.
 *
 * Of f16 and bf16 the reduction is carried in f32, and rounded once. Max and min give NaN if there
 * is one, and are not of complex numbers. Sums of bool are logical or: count in i32 instead. What
 * takes `scratch` leaves there what it took. */
#ifndef COMM_REDUCE_H
#define COMM_REDUCE_H

#include <spmd/types.h>

#include "comm/mesh.h"
#include "comm/pending.h"

/* What goes through scratch memory goes in pieces of at most so many elements. */
enum { REDUCE_PIECE = 1 << 18 };
static inline int64_t spmd__reduce_piece(int64_t left)
{
    return left < REDUCE_PIECE ? left : REDUCE_PIECE;
}

/* Collective over the group, which is open. out[i] = the reduction of all members' in[i]; `in` may
 * be `out`. */
spmd_status spmd__all_reduce(const struct group *group, spmd_reduction reduction, spmd_dtype dtype,
                             const void *in, void *out, int64_t count, struct arena *scratch);

/* The same of parts: `in` has counts[m] elements for each member m, one part after the other; `out`
 * gets this member's. They do not overlap. */
spmd_status spmd__reduce_scatter(const struct group *group, spmd_reduction reduction,
                                 spmd_dtype dtype, const void *in, const int64_t counts[],
                                 void *out, struct arena *scratch);

/* Both without waiting, not of f16 and bf16: `scratch` must last until what pends was waited for.
 */
spmd_status spmd__all_reduce_start(const struct group *group, spmd_reduction reduction,
                                   spmd_dtype dtype, const void *in, void *out, int64_t count,
                                   struct arena *scratch, struct pending *pending);
spmd_status spmd__reduce_scatter_start(const struct group *group, spmd_reduction reduction,
                                       spmd_dtype dtype, const void *in, const int64_t counts[],
                                       void *out, struct arena *scratch, struct pending *pending);

#endif
