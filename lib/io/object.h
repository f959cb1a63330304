/* io/object.h - what lies at a name in a file. */
#ifndef IO_OBJECT_H
#define IO_OBJECT_H

#include "io/file.h"

/* Local. Whether `name` can be the name of a dataset. */
spmd_status spmd__name_check(const char *name);

/* Collective, no agreement. The object at `name`; negative if there is none. */
spmd_status spmd__object_open(const spmd_file *file, const char *name, hid_t *object);

/* Collective, no agreement. Whether the object at `name`, if there is one, is of this type. */
bool spmd__object_is(hid_t file, const char *name, H5I_type_t type);

/* Collective, no agreement. The dataset at `name`. Its absence is a failure that lists what the
 * file has instead. */
spmd_status spmd__dataset_open(const spmd_file *file, const char *name, hid_t *dataset);

/* Collective, no agreement. That a dataset can be made at `name`. */
spmd_status spmd__dataset_check_free(const spmd_file *file, const char *name);

/* Local. The properties, to be closed, of the link to something new at `name`: groups on the way
 * are made, and what is not ASCII is UTF-8. */
hid_t spmd__object_link(const char *name);

#endif
