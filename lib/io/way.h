/* io/way.h - by which calls elements move from and to files, and the setting that forces one. */
#ifndef IO_WAY_H
#define IO_WAY_H

#include "core/error.h"

enum io_way {
    IO_AUTO,   /* by pread and pwrite where that can be done and pays, else by HDF5 */
    IO_DIRECT, /* a dataset that cannot be moved so is an error */
    IO_HDF5
};

/* Local. What SPMD_IO in the environment says. Fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd__io_way_read(enum io_way *way);

#endif
