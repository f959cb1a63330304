/* map/replication.h - the check that blocks promised equal are equal. */
#ifndef MAP_REPLICATION_H
#define MAP_REPLICATION_H

#include <spmd/array.h>

/* Local. This rank's share in the comparison of the blocks of output `index` of a shard_map along
 * the axes that its sharding does not name. The shares of all members, of all outputs, add up to 0
 * (modulo 2^64) if all blocks are as promised, and hardly ever else. */
uint64_t spmd__replication_share(const spmd_sharding *sharding, const spmd_block *block, int index);

/* Collective over the members, where the shares do not add up to 0. Each rank returns its own
 * verdict, to be agreed on: SPMD_ERR_REPLICATION where its block differs from replica 0's. Messages
 * call the output `name`. */
spmd_status spmd__replication_explain(const spmd_sharding *sharding, const spmd_block *block,
                                      const char *name);

#endif
