/* io/filters.h - what packs the chunks of a dataset. */
#ifndef IO_FILTERS_H
#define IO_FILTERS_H

#include "io/file.h"

/* Local. That this HDF5 has all filters of a dataset. */
spmd_status spmd__filters_check(const spmd_file *file, const char *name, hid_t dataset);

/* Local. That it has deflate. */
spmd_status spmd__filter_check_deflate(void);

/* Local. How many a dataset has. */
int spmd__filters_count(hid_t dataset);

#endif
