/* io/descriptor.c - the descriptor by which HDF5 reads a file. */
#include "io/descriptor.h"

int spmd__io_descriptor(hid_t dataset)
{
    hid_t file = H5Iget_file_id(dataset), access = H5Fget_access_plist(file);
    int *handle = NULL;
    if (H5Pget_driver(access) != H5FD_SEC2 ||
        H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&handle) < 0)
        handle = NULL;
    H5Pclose(access);
    H5Fclose(file);
    return handle ? *handle : -1;
}
