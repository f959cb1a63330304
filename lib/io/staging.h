/* io/staging.h - how an array lies while it moves between memory and a file. */
#ifndef IO_STAGING_H
#define IO_STAGING_H

#include "io/transfer.h"

/* Local. The sharding, to be freed, in which an array under `sharding` moves from or to a dataset:
 * this one; or, if its parts would be torn there, one by rows. */
spmd_status spmd__staging_choose(hid_t dataset, enum direction direction,
                                 const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                                 spmd_sharding **staging);

#endif
