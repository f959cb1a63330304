/* map/reduce.h - reductions among members that are here: the instances of a vmap. */
#ifndef MAP_REDUCE_H
#define MAP_REDUCE_H

#include "map/collective.h"

/* As `joint` of a kind; group NULL: as `local`. `mean`: the sum divided by the number of members.
 */
spmd_status spmd__reduce_members(struct operation *const ops[], int64_t n, struct group *group,
                                 spmd_reduction reduction, bool mean);

#endif
