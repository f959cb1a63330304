/* io/seal_text.h - the text of a seal, and the sums in it. */
#ifndef IO_SEAL_TEXT_H
#define IO_SEAL_TEXT_H

#include "io/seal.h"

/* The first bytes of all checkpoints. */
#define SEAL_MARK "spmd checkpoint "

/* Writes the text of a seal into its block [seal->block_bytes], which is zeros. */
spmd_status spmd__seal_format(const struct seal *seal, char *block);

/* How long the block of a seal is: from the first bytes of a file, with a NUL behind them. Fails
 * with SPMD_ERR_FILE where they are none. */
enum { SEAL_HEAD_BYTES = 80 };
spmd_status spmd__seal_parse_head(const char *name, const char *head, int64_t *block_bytes);

/* Reads a block [block_bytes + 1], into which names will lead; it is changed. */
spmd_status spmd__seal_parse(const char *name, char *block, int64_t block_bytes, struct seal *seal);

/* What an open file adds to sums of its bytes: those from `lo` to `hi`; all that `rest` is of.
 * Gives 0, or an errno, or IO_ENDED (io/cause.h). */
int spmd__seal_add_bytes(int fd, int64_t lo, int64_t hi, uint64_t *sum);
int spmd__seal_add_rest(int fd, const struct seal *seal, uint64_t *sum);

#endif
