/* io/descriptor.h - the descriptor by which HDF5 reads a file. */
#ifndef IO_DESCRIPTOR_H
#define IO_DESCRIPTOR_H

#include "io/h5.h"

/* Local. HDF5's own descriptor of the file that has the dataset (a link may have led to another
 * one), the very file that was opened, whatever its name leads to by now; -1 if it is an image in
 * memory. It stays open as long as the dataset. */
int spmd__io_descriptor(hid_t dataset);

#endif
