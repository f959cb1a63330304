/* map/replication.h - the check that blocks promised equal are equal. */
#ifndef MAP_REPLICATION_H
#define MAP_REPLICATION_H

#include <spmd/array.h>

/* Collective over the members. Compares the blocks of output `index` of a shard_map along the axes
 * that its sharding does not name. Each rank returns its own verdict, to be agreed on:
 * SPMD_ERR_REPLICATION where its block differs from replica 0's. */
spmd_status spmd__replication_check(const spmd_sharding *sharding, const spmd_block *block,
                                    int index);

#endif
