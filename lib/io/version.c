/* io/version.c - which HDF5 library is in use. */
#include <spmd/io.h>

#include "io/h5.h"

void spmd_io_version(int *major, int *minor, int *release, bool *parallel)
{
    unsigned version[3] = {0};
    H5get_libversion(&version[0], &version[1], &version[2]);
    *major = (int)version[0];
    *minor = (int)version[1];
    *release = (int)version[2];
#ifdef H5_HAVE_PARALLEL
    *parallel = true;
#else
    *parallel = false;
#endif
}
