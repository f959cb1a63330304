/* array/reshard.h - from one sharding to another: what has to move, found by arithmetic. */
#ifndef ARRAY_RESHARD_H
#define ARRAY_RESHARD_H

#include "array/array.h"
#include "array/exchange.h"
#include "comm/bridge.h"

/* Local. Adds to `exchange` what this rank sends of `from` and receives into `to`: the same array
 * on the meshes of `bridge`. Each element comes from exactly one of its copies: the receiver
 * itself if it has one, else the copy that stands where the receiver stands along the axes that
 * hold copies; so the pulls spread over all copies. */
spmd_status spmd__reshard_plan(const struct bridge *bridge, const spmd_array *from,
                               const spmd_array *to, struct exchange *exchange);

#endif
