/* io/cast.h - arrays of one element type made arrays of another one. */
#ifndef IO_CAST_H
#define IO_CAST_H

#include <spmd/array.h>

/* Collective. Takes over the hold on `array`: *out is the array itself, if it is of this type, or
 * else another one with its elements converted as HDF5 does when it reads. */
spmd_status spmd__cast(spmd_array *array, spmd_dtype dtype, spmd_array **out);

#endif
