/* map/collective.h - what all collectives on blocks begin with. See spmd/collective.h. */
#ifndef MAP_COLLECTIVE_H
#define MAP_COLLECTIVE_H

#include <spmd/collective.h>

#include "array/array.h"
#include "map/ctx.h"

/* The element type that a collective gives for one. */
typedef spmd_dtype result_dtype(spmd_dtype dtype);

/* Begins a collective that works element by element: finds the group along `axes`, and checks the
 * blocks. `dtype` NULL: the result is of the same type. */
spmd_status spmd__collective_begin(spmd_ctx *ctx, const char *call, const spmd_block *in,
                                   const char *axes, result_dtype *dtype, const spmd_block *out,
                                   struct group **group);

/* Whether `out` is a block for a result of this type. */
spmd_status spmd__collective_check_out(const char *call, const spmd_block *in,
                                       const spmd_block *out, spmd_dtype dtype, spmd_shape shape);

/* The sharding of `in` if it is an input of the body, whose parts can all be computed; else NULL.
 */
const spmd_sharding *spmd__collective_sharding(const spmd_ctx *ctx, const spmd_block *in);

#endif
