/* io/damage.h - whether a dataset's elements can be, and have been, what a read takes them for.
 *
 * HDF5 believes what old-format metadata says, and reads zeros behind the end of a file that became
 * shorter while it was open. */
#ifndef IO_DAMAGE_H
#define IO_DAMAGE_H

#include "io/file.h"

/* Local. Before elements of a file that is read are touched: that a dataset without chunks has as
 * many bytes in the file as its type and its shape need. */
spmd_status spmd__damage_check(const spmd_file *file, const char *name, hid_t dataset);

/* Local. After elements were read, with what came of it: the same `status`, but where the file was
 * cut short meanwhile. */
spmd_status spmd__damage_confirm(const spmd_file *file, const char *name, spmd_status status);

#endif
