/* map/reduce.h - reductions among members that are all here: the instances of a vmap. */
#ifndef MAP_REDUCE_H
#define MAP_REDUCE_H

#include "map/collective.h"

/* As `local` of a kind; `mean`: the sum divided by n. */
spmd_status spmd__reduce_locally(struct operation *const ops[], int64_t n, spmd_reduction reduction,
                                 bool mean);

#endif
