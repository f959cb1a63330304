/* io/attribute.h - text attributes of datasets, groups and files. */
#ifndef IO_ATTRIBUTE_H
#define IO_ATTRIBUTE_H

#include "io/file.h"

/* The type that an array had as it was written to a dataset, with its sharding. */
#define SHARDING_ATTRIBUTE "spmd_sharding"

/* Collective, no agreement. Sets a text attribute, in place of an old one. */
spmd_status spmd__attribute_write(const spmd_file *file, const char *name, hid_t object,
                                  const char *attribute, const char *text);

#endif
