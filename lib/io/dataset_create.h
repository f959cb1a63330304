/* io/dataset_create.h - new datasets. */
#ifndef IO_DATASET_CREATE_H
#define IO_DATASET_CREATE_H

#include "io/file.h"

/* What a new dataset shall be. */
struct creation {
    spmd_file *file;
    const char *name;
    spmd_dtype dtype;
    spmd_shape shape;
    spmd_shape part; /* that one rank will write */
    const spmd_dataset_options *options;
    bool overwritten; /* all of it, at once */
};

/* Local. The options to go by; that they can be followed; and their digest. */
const spmd_dataset_options *spmd__options_or_none(const spmd_dataset_options *options);
spmd_status spmd__options_check(const spmd_dataset_options *options, spmd_dtype dtype,
                                spmd_shape shape);
uint64_t spmd__options_digest(const spmd_dataset_options *options, spmd_dtype dtype,
                              spmd_shape shape);

/* Collective, with agreements but none at the end. Makes the dataset, with the groups in its name
 * and with room for it; *begun once the file is no longer as it was. */
spmd_status spmd__dataset_make(const struct creation *creation, bool *begun, hid_t *dataset);

#endif
