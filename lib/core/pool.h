/* core/pool.h - memory of array blocks: used again and again, and open to the node's processes.
 *
 * Fresh pages cost five times the copy into them. So large blocks come from one file in memory,
 * which never shrinks: what is given back is taken again, warm. Another process of the node can map
 * the file, and read or write a block where it lies (comm/node.h). Small blocks, and all where the
 * system refuses such a file, come from the heap. */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spmd/error.h>

#include "core/peer_file.h"

/* Blocks of at least so many bytes lie in the pool. */
enum { POOL_LEAST_BYTES = 1 << 15 };

/* Memory of `bytes`, aligned to BLOCK_ALIGNMENT; zeroed, or with what happens to stand in it. Fails
 * with SPMD_ERR_MEMORY. */
spmd_status spmd__pool_take(size_t bytes, bool zeroed, void **memory);

/* Gives it back. NULL is accepted. */
void spmd__pool_give(void *memory);

/* Gives back whole pages of a block behind its first `bytes`. Memory of the heap stays whole. */
void spmd__pool_shrink(void *memory, size_t bytes);

/* Where memory lies in the pool's file; -1 if it is from the heap. */
int64_t spmd__pool_offset(const void *memory);

/* The file, for other processes to map. descriptor -1: there is none. */
struct peer_file spmd__pool_file(void);

/* The pool's beginning is no block's: a page for the mark of the file, then this room for what the
 * process shows to others, zeroed at first. NULL: there is no pool. */
enum { POOL_FRONT_BYTES = 1 << 15 };
void *spmd__pool_front(void);

/* How large a pool may become on a system with so many bytes of memory, 0 if that is not known: as
 * large as that; but so that the pools of a process for each processor, all of which each of them
 * maps, fill no more than half of the address space (programs have 47 bits of it). */
uint64_t spmd__pool_addresses(uint64_t memory, int64_t processors);

/* Why the system gave no memory for the pool, or for a block that should lie in it, as errno says
 * it; 0: it always has. */
int spmd__pool_refusal(void);

#endif
