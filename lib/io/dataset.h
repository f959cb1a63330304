/* io/dataset.h - what calls on a dataset begin with. */
#ifndef IO_DATASET_H
#define IO_DATASET_H

#include "io/file.h"

/* Collective. spmd__file_enter with a name that must be a dataset's; a failure tells it, too. */
spmd_status spmd__dataset_enter(const spmd_file *file, const char *call, const char *name,
                                spmd_status status, uint64_t digest);

/* Local. Whether there is a place for the result. */
spmd_status spmd__output_check(const void *output);

#endif
