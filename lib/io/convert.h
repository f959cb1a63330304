/* io/convert.h - elements as a file has them, made elements of ours. */
#ifndef IO_CONVERT_H
#define IO_CONVERT_H

#include <spmd/types.h>

#include "io/h5.h"

/* Local. Converts `count` elements of type `stored` in place, as HDF5 does when it reads; `data`
 * has room for as many of either type. */
spmd_status spmd__convert(hid_t stored, spmd_dtype dtype, int64_t count, void *data);

/* HDF5 does not make bools of integers. It clips them to a narrower type, so that what is not 0
 * stays so: makes bools of `count` i8. */
void spmd__convert_to_bools(int64_t count, void *data);

#endif
