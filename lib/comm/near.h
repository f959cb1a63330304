/* comm/near.h - large collectives among ranks that can read each other's blocks (comm/node.h).
 *
 * Each is collective over a group that is open. *done says whether it has been done: it has not if
 * some member is on another node, if the memory of some member is not to be read, or if so few
 * bytes are better done by MPI; all members find the same. Results are the same bits at each call:
 * contributions add up in the order of the members. */
#ifndef COMM_NEAR_H
#define COMM_NEAR_H

#include <spmd/types.h>

#include "comm/mesh.h"
#include "core/arena.h"

/* What becomes of elements. */
struct near_reduction {
    spmd_reduction reduction;
    spmd_dtype dtype;
    int64_t divisor; /* of the sums: the result is a mean; 0: it is not */
};

/* As spmd__all_reduce, spmd__reduce_scatter (comm/reduce.h) and spmd__all_gather
 * (comm/collective.h). */
spmd_status spmd__near_all_reduce(const struct group *group, struct near_reduction what,
                                  const void *in, void *out, int64_t count, struct arena *scratch,
                                  bool *done);
spmd_status spmd__near_reduce_scatter(const struct group *group, struct near_reduction what,
                                      const void *in, const int64_t counts[], void *out,
                                      struct arena *scratch, bool *done);
spmd_status spmd__near_all_gather(const struct group *group, const void *in, const int64_t bytes[],
                                  void *out, struct arena *scratch, bool *done);

/* To each member goes a part of `each` bytes, where they lie one after the other. */
spmd_status spmd__near_all_to_all(const struct group *group, int64_t each, const void *in,
                                  void *out, struct arena *scratch, bool *done);

#endif
