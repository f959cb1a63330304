/* io/pad.h - datasets as arrays that are larger. */
#ifndef IO_PAD_H
#define IO_PAD_H

#include "io/file.h"

/* Collective. Reads a dataset as an array of `shape` under `sharding`, which has no dimension that
 * is smaller: its elements stand at the beginning, zeros behind. Else as spmd_dataset_read. */
spmd_status spmd__pad_read(spmd_file *file, const char *name, const spmd_sharding *sharding,
                           spmd_dtype dtype, spmd_shape shape, spmd_array **array);

#endif
