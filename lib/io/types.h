/* io/types.h - element types and their HDF5 types. */
#ifndef IO_TYPES_H
#define IO_TYPES_H

#include <spmd/types.h>

#include "io/h5.h"

/* The HDF5 type, to be closed, of our element type in memory and in new files. Complex numbers,
 * bools and half floats are stored as h5py does. */
hid_t spmd__type_create(spmd_dtype dtype);

/* Our element type for one found in a file; SPMD_DTYPE_NONE if it is none of ours. And what such a
 * type is called. */
spmd_dtype spmd__type_dtype(hid_t type);
const char *spmd__type_noun(hid_t type);

/* Whether it is one of the types from i8 to u64. */
bool spmd__type_is_integer(spmd_dtype dtype);

/* Whether elements can be converted while they are read. */
bool spmd__type_converts(spmd_dtype from, spmd_dtype to);

#endif
