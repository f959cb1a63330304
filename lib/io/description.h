/* io/description.h - what a dataset's elements are, and how many. */
#ifndef IO_DESCRIPTION_H
#define IO_DESCRIPTION_H

#include "io/file.h"

/* Local. The extents of a dataset, which has at most SPMD_MAX_DIMS. */
spmd_shape spmd__dataset_shape(hid_t dataset);

struct description {
    spmd_dtype dtype;
    spmd_shape shape;
};

/* Local. Fails with SPMD_ERR_FILE where it cannot be an array of ours. */
spmd_status spmd__dataset_describe(const spmd_file *file, const char *name, hid_t dataset,
                                   struct description *about);

#endif
