/* core/block.h - parts of arrays as bodies see them. See spmd/types.h. */
#ifndef CORE_BLOCK_H
#define CORE_BLOCK_H

#include <spmd/types.h>

/* Whether there can be such a block: programs make their own ones, too. Its type and shape are
 * those of some array, and where it has elements it has memory. Fails with SPMD_ERR_DTYPE,
 * SPMD_ERR_SHAPE or SPMD_ERR_ARGUMENT, and a message that calls it `name`. */
spmd_status spmd__block_check(const spmd_block *block, const char *name);

/* Bytes of its elements. */
size_t spmd__block_bytes(const spmd_block *block);

/* The box of global indices that it holds. */
spmd_box spmd__block_box(const spmd_block *block);

/* Whether its elements stand one after the other in memory, in row-major order. */
bool spmd__block_is_dense(const spmd_block *block);

#endif
