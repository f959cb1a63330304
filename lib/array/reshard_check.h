/* array/reshard_check.h - what is looked at before the run of a plan. */
#ifndef ARRAY_RESHARD_CHECK_H
#define ARRAY_RESHARD_CHECK_H

#include "array/reshard.h"

/* Local. Whether the arrays of a run are as the plan wants them. */
spmd_status spmd__reshard_check(spmd_reshard_call *plan, int count, spmd_array *const in[],
                                spmd_array *const out[]);

/* Whether runs are watched: then this rank meets the others before one, and leaves behind it. */
bool spmd__reshard_is_watched(const spmd_reshard_call *plan);

/* Collective over both meshes where SPMD_CHECK=1, as comm/mesh.h's spmd__mesh_meet; `status` is
 * what this rank has found. */
spmd_status spmd__reshard_meet(const spmd_reshard_call *plan, int count, spmd_status status);
void spmd__reshard_leave(const spmd_reshard_call *plan);

#endif
