/* array/reshard.h - from one sharding to another, for callers that have agreed already. */
#ifndef ARRAY_RESHARD_H
#define ARRAY_RESHARD_H

#include "array/array.h"

/* As spmd_reshard_to, but the ranks are known to have passed the same arguments: where the array
 * lies so already, nothing is communicated at all. */
spmd_status spmd__reshard(spmd_array *array, const spmd_sharding *sharding, spmd_array **out);

#endif
