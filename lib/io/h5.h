/* io/h5.h - HDF5, in the version of its interface that we are written for. */
#ifndef IO_H5_H
#define IO_H5_H

#define H5_USE_110_API
#include <hdf5.h>

/* Makes HDF5 calls without HDF5's own print-outs; its handler is put back. Not to be nested. */
#define QUIETLY(statement) \
    do {                   \
        H5E_BEGIN_TRY      \
        {                  \
            statement;     \
        }                  \
        H5E_END_TRY        \
    } while (0)

#endif
