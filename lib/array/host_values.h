/* array/host_values.h - whether all ranks have the same host array. */
#ifndef ARRAY_HOST_VALUES_H
#define ARRAY_HOST_VALUES_H

#include "array/array.h"

/* Collective over the members of the array's mesh, which is checked (SPMD_CHECK=1). Whether `host`,
 * all of the array, is the same on all of them, byte by byte; else it fails with
 * SPMD_ERR_DISAGREE. */
spmd_status spmd__host_values_compare(const spmd_array *array, const void *host);

#endif
