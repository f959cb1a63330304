/* io/convert.h - elements as a file has them, made elements of ours. */
#ifndef IO_CONVERT_H
#define IO_CONVERT_H

#include <spmd/types.h>

#include "io/h5.h"

/* Local. Converts `count` elements of type `stored` in place, as HDF5 does when it reads; `data`
 * has room for as many of either type. */
spmd_status spmd__convert(hid_t stored, spmd_dtype dtype, int64_t count, void *data);

/* The HDF5 type, to be closed, in which elements of type `stored` and of `dtype` meet in memory:
 * i8, with *to_bool, for bools of what is none. */
hid_t spmd__convert_type(hid_t stored, spmd_dtype dtype, bool *to_bool);

/* HDF5 does not make bools of integers. It clips them to a narrower type, so that what is not 0
 * stays so: makes bools of `count` i8. */
void spmd__convert_to_bools(int64_t count, void *data);

#endif
