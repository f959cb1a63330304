/* io/checksum.h - checksums of datasets: attribute "spmd_checksum", a u64 (core/checksum.h). */
#ifndef IO_CHECKSUM_H
#define IO_CHECKSUM_H

#include "io/file.h"

#define CHECKSUM_ATTRIBUTE "spmd_checksum"

/* Local. The checksum that a dataset has from when it was written; whether it has one. */
spmd_status spmd__checksum_get(const char *name, hid_t dataset, uint64_t *checksum, bool *stored);

/* Collective, no agreement. Gives a new dataset its checksum. */
spmd_status spmd__checksum_set(const spmd_file *file, const char *name, hid_t dataset,
                               uint64_t checksum);

/* Collective, no agreement. Takes the checksum of a dataset away, if it has one. */
spmd_status spmd__checksum_drop(const spmd_file *file, const char *name, hid_t dataset);

/* Collective over the members of `mesh`, no agreement. The checksum of an array from what its
 * blocks add to it: those of replicas count once. */
spmd_status spmd__checksum_sum(const spmd_mesh *mesh, const spmd_block *block, uint64_t *checksum);

/* Collective, ends in an agreement. That the blocks of all ranks, a whole dataset in its own type,
 * have the checksum that is wanted. */
spmd_status spmd__checksum_verify(const spmd_file *file, const char *name, uint64_t wanted,
                                  const spmd_block *block);

/* Local. Fails with SPMD_ERR_FILE where the checksum found is not the wanted one. */
spmd_status spmd__checksum_compare(const char *path, const char *name, uint64_t found,
                                   uint64_t wanted);

#endif
