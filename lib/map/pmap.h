/* map/pmap.h - a pmap that knows what to call its arguments. See spmd/map.h. */
#ifndef MAP_PMAP_H
#define MAP_PMAP_H

#include <spmd/map.h>

#include "map/argument.h"

/* Collective over the mesh: spmd_pmap of a call whose messages name arguments so; NULL: they have
 * numbers. */
spmd_status spmd__pmap_call(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user, int nin,
                            spmd_array *const in[], const int in_axes[], int nout,
                            spmd_array *out[], const int out_axes[],
                            const spmd_shard_map_options *options, const struct names *names);

#endif
