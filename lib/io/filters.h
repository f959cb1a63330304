/* io/filters.h - what packs the chunks of a dataset. */
#ifndef IO_FILTERS_H
#define IO_FILTERS_H

#include "io/file.h"

/* A filter, as the dataset tells of it. */
struct used_filter {
    H5Z_filter_t id;
    unsigned value; /* the first of its parameters: of deflate, the level; 0: it has none */
    char name[80];  /* "": of no name */
};

/* All of a dataset's, in the order in which they are applied. */
struct pipeline {
    int count;
    struct used_filter filter[H5Z_MAX_NFILTERS];
};

/* Local. Those that a creation property list asks for. */
struct pipeline spmd__pipeline_of(hid_t creation);

/* Local. That this HDF5 has all filters of a dataset. */
spmd_status spmd__filters_check(const spmd_file *file, const char *name, hid_t dataset);

/* Local. That it has deflate. */
spmd_status spmd__filter_check_deflate(void);

/* Local. How many a dataset has. */
int spmd__filters_count(hid_t dataset);

#endif
