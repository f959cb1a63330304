/* io/way.h - by which calls elements move from and to files, and the setting that forces one. */
#ifndef IO_WAY_H
#define IO_WAY_H

/* In the order of SPMD_IO's words. */
enum io_way {
    IO_AUTO,   /* by pread and pwrite where that can be done and pays, else by HDF5 */
    IO_DIRECT, /* a dataset that cannot be moved so is an error */
    IO_HDF5
};

#endif
