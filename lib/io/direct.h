/* io/direct.h - blocks of contiguous datasets by pread and pwrite, and of chunked ones by preadv,
 * past HDF5. */
#ifndef IO_DIRECT_H
#define IO_DIRECT_H

#include "io/transfer.h"

/* Local. Moves this rank's block, whose elements are of `type`, if the dataset lies in one piece in
 * the file, holds the same type, and the block lies in it in long runs. *done tells whether; if
 * not, nothing was touched. */
spmd_status spmd__direct_move(const spmd_file *file, const char *name, hid_t dataset, hid_t type,
                              enum direction direction, const spmd_block *block, bool *done);

/* Local. The same for reading one that holds the block's type in chunks without filters, if that
 * pays or is `forced`. */
spmd_status spmd__direct_read_chunks(const spmd_file *file, const char *name, hid_t dataset,
                                     bool forced, const spmd_block *block, bool *done);

/* Local. Before chunks are written, which HDF5 does: fails where SPMD_IO forbids that. */
spmd_status spmd__direct_check_chunks(const spmd_file *file, const char *name);

#endif
