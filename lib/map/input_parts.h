/* map/input_parts.h - how long the members' parts of a body's input are, without asking them. */
#ifndef MAP_INPUT_PARTS_H
#define MAP_INPUT_PARTS_H

#include "array/array.h"
#include "map/ctx.h"

/* How `block` lies, if it is an input of the body whose parts can be computed for all members of
 * the group; else NULL. */
const spmd_sharding *spmd__input_sharding(const spmd_ctx *ctx, const spmd_block *block,
                                          const struct group *group);

/* Whether members' parts can have different extents along a dimension of `n` elements. */
bool spmd__input_parts_differ(const spmd_sharding *sharding, const struct group *group, int dim,
                              int64_t n);

/* The extent of a member's part along it. */
int64_t spmd__input_part(const spmd_sharding *sharding, const struct group *group, int dim,
                         int64_t n, int64_t member);

#endif
