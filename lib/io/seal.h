/* io/seal.h - what stands in front of a checkpoint: a text that tells damage.
 *
 * HDF5 leaves room for a user block in front of a file, and asks nothing of it. A checkpoint has
 * its seal there, zeros behind it:
 *
 *     spmd checkpoint 1
 *     seal 49c6a9e1f3b5d207 of 512 bytes
 *     step 42
 *     file 9216 bytes
 *     rest 0b7d6f3c2a915e84
 *     data 2048 128 f32 8c14e5d07af3b296 layer1/w
 *
 * A data line has a dataset with a checksum of its own (io/checksum.h): where its elements stand,
 * how many bytes they are, their type, their checksum, and its name. `rest` is the checksum of all
 * other bytes of the file behind the block, `seal` that of those in the block behind its line: as
 * of a u8 array that is the file (core/checksum.h).
 *
 * So HDF5, which may crash on damaged metadata, is given none of a checkpoint; and elements can be
 * checked without HDF5, by all ranks together. */
#ifndef IO_SEAL_H
#define IO_SEAL_H

#include <spmd/tree.h>

#include "io/file.h"

/* The elements of one dataset. */
struct sealed_data {
    int64_t offset;
    int64_t bytes;
    spmd_dtype dtype;
    uint64_t checksum;
    char *name; /* the seal's */
};

struct seal {
    int64_t step;        /* of the checkpoint; -1: there is no seal */
    int64_t block_bytes; /* in front of what is HDF5's */
    int64_t file_bytes;
    uint64_t rest;
    int count;
    struct sealed_data *data; /* [count] by offset */
    char *text;               /* where names are */
};

/* A user block, as HDF5 takes it, with room for the seal of a file of this tree. */
int64_t spmd__seal_room(const spmd_tree *tree);

/* Local. Whether the file at `path` begins as checkpoints do, whatever has become of the rest.
 * Fails with SPMD_ERR_FILE where that cannot be read. */
spmd_status spmd__seal_begins(const char *path, bool *begins);

/* Local. Compares a file with its seal, all but the elements of datasets. On success both are
 * whole, or there is no seal: spmd__seal_free it. Fails with SPMD_ERR_FILE; messages call the file
 * `name`.
 */
spmd_status spmd__seal_check(const char *path, const char *name, struct seal *seal);

/* The same for a file that lies in memory. */
spmd_status spmd__seal_check_image(const void *bytes, size_t size, const char *name,
                                   struct seal *seal);

/* Local. Seals a file, all of which but its user block has been written, and gets the seal to the
 * disk. The file is closed. */
spmd_status spmd__seal_write(const char *path, const char *name, int64_t block_bytes, int64_t step);

/* Collective over the members of `mesh`, whose ranks return the same. Compares the elements of
 * datasets with the seal as well; each rank reads its share of them. */
spmd_status spmd__seal_verify(spmd_mesh *mesh, const char *path, const char *name);

void spmd__seal_free(struct seal *seal);

#endif
