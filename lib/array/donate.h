/* array/donate.h - arrays that are given up for a reshard. */
#ifndef ARRAY_DONATE_H
#define ARRAY_DONATE_H

#include "array/reshard.h"

/* Local. Whether the move of a drafted plan can end, on this rank, in the memory that it begins in:
 * nobody else holds the array, and this rank gets nothing from the others. */
bool spmd__donate_fits(const spmd_reshard_call *plan, const spmd_array *array);

/* As spmd__reshard_move, in the memory of an array that fits: it lies as the plan's `to` then. */
spmd_status spmd__donate_move(spmd_reshard_call *plan, spmd_array *array);

#endif
