/* array/gather.h - parts of an array, copied to memory of one rank or of all. */
#ifndef ARRAY_GATHER_H
#define ARRAY_GATHER_H

#include "array/array.h"
#include "array/exchange.h"

/* A part that is wanted, and where its elements go; `to` is read on receiving ranks only. */
struct wanted {
    spmd_box box;
    struct view to;
};

/* Local. Prepares `exchange` to copy the parts [count], the same on all ranks, to the rank at
 * position `root`, or to all with SPMD_ALL. */
spmd_status spmd__gather_prepare(const spmd_array *array, int64_t root, int count,
                                 const struct wanted wanted[], struct exchange *exchange);

#endif
