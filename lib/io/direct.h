/* io/direct.h - blocks of datasets from and to their place in the file, past HDF5. */
#ifndef IO_DIRECT_H
#define IO_DIRECT_H

#include "io/transfer.h"

/* Local. Moves this rank's block, whose elements are of `type`, if the dataset holds the same type
 * and lies in the file in one piece, or, to be read, in chunks without filters; of either, if the
 * block lies there in long runs. *done tells whether; if not, nothing was touched. Where SPMD_IO
 * asks for it, short runs move so, too, and what cannot fails with SPMD_ERR_FILE. */
spmd_status spmd__direct_move(const spmd_file *file, const char *name, hid_t dataset, hid_t type,
                              enum direction direction, const spmd_block *block, bool *done);

/* Local. Before chunks are written, which HDF5 does: fails where SPMD_IO forbids that. */
spmd_status spmd__direct_check_chunks(const spmd_file *file, const char *name);

#endif
