/* map/reduce.h - what the reductions of blocks have in common. */
#ifndef MAP_REDUCE_H
#define MAP_REDUCE_H

#include "map/collective.h"

/* Local. Fails with SPMD_ERR_DTYPE where the elements of `in` have no maximum. */
spmd_status spmd__reduce_check_order(const struct operation *op);

/* psum, pmean, pmax, pmin among members that are here, `joint` of their kinds; group NULL: these
 * are all. */
spmd_status spmd__reduce_members(struct operation *const ops[], int64_t n, struct group *group);

#endif
