/* io/transfer.h - a block from or to its place in a dataset. */
#ifndef IO_TRANSFER_H
#define IO_TRANSFER_H

#include "io/file.h"

enum direction { FROM_FILE, TO_FILE };

/* MPI-IO takes less than 2 GiB in one call: larger blocks go in pieces of at most this many bytes.
 * It is a variable for tests. */
extern int64_t spmd__io_piece_bytes;

/* Local. Moves this rank's block of the array that `slab` of the dataset is. */
spmd_status spmd__transfer(const spmd_file *file, const char *name, hid_t dataset,
                           enum direction direction, const spmd_hyperslab *slab,
                           const spmd_block *block);

#endif
