/* h5file.h - HDF5 files that a command has open. */
#ifndef APPS_H5FILE_H
#define APPS_H5FILE_H

#include <spmd.h>

/* Collective. Ends what was done with a file: closes it, and so puts a new one in place; or, where
 * `status` is a failure, discards it and gives that back. */
static inline spmd_status h5file_end(spmd_file **file, spmd_status status)
{
    if (status == SPMD_OK)
        return spmd_file_close(file);
    spmd_file_discard(file);
    return status;
}

#endif
