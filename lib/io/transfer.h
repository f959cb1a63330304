/* io/transfer.h - a block from or to its place in a dataset. */
#ifndef IO_TRANSFER_H
#define IO_TRANSFER_H

#include "io/file.h"

enum direction { FROM_FILE, TO_FILE };

/* Local. Moves this rank's block. */
spmd_status spmd__transfer(const spmd_file *file, const char *name, hid_t dataset,
                           enum direction direction, const spmd_block *block);

#endif
