/* io/rounds.h - collective writes into chunks. */
#ifndef IO_ROUNDS_H
#define IO_ROUNDS_H

#include "io/file.h"

/* Collective. Writes the blocks of the array that `slab` of a chunked dataset is, each from its
 * replica 0. Ends in an agreement. */
spmd_status spmd__rounds_write(spmd_file *file, const char *name, hid_t dataset,
                               const spmd_hyperslab *slab, const spmd_block *block);

#endif
