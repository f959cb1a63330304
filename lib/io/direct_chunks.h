/* io/direct_chunks.h - what io/direct.c does for chunks. */
#ifndef IO_DIRECT_CHUNKS_H
#define IO_DIRECT_CHUNKS_H

#include "io/file.h"

/* Local. Reads this rank's block of a dataset that holds its type, if that lies in chunks without
 * filters, and if it pays or is `forced`. *done tells whether; if not, nothing was touched. */
spmd_status spmd__direct_read_chunks(const spmd_file *file, const char *name, hid_t dataset,
                                     bool forced, const spmd_block *block, bool *done);

#endif
