/* io/string.h - texts, as HDF5 keeps them in attributes and datasets. */
#ifndef IO_STRING_H
#define IO_STRING_H

#include "core/error.h"
#include "io/h5.h"

/* The HDF5 type, to be closed, of a text of ours: UTF-8 of one fixed length, with its closing NUL.
 * Parallel HDF5 writes no other. */
hid_t spmd__string_type(const char *text);

/* Whether `object`, an attribute or a dataset, is one text. */
bool spmd__string_is(hid_t object);

/* Local. Its text, whatever its length, padding and characters are, for the caller to free(). Fails
 * with SPMD_ERR_FILE and the reason alone. */
spmd_status spmd__string_read(hid_t object, char **text);

#endif
