/* io/pad.h - datasets as arrays that are larger. */
#ifndef IO_PAD_H
#define IO_PAD_H

#include "io/file.h"

/* Collective. Reads a dataset of shape `inner` as an array of `shape` under `sharding`, which has
 * as many dimensions, none of them smaller: its elements stand at the beginning, zeros behind. Else
 * as spmd_dataset_read. */
spmd_status spmd__pad_read(spmd_file *file, const char *name, spmd_shape inner,
                           const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                           spmd_array **array);

#endif
