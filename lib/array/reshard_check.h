/* array/reshard_check.h - what is looked at before the run of a plan. */
#ifndef ARRAY_RESHARD_CHECK_H
#define ARRAY_RESHARD_CHECK_H

#include "array/reshard.h"

/* Local. Whether the arrays of a run are as the plan wants them. */
spmd_status spmd__reshard_check(const spmd_reshard_call *plan, int count, spmd_array *const in[],
                                spmd_array *const out[]);

/* The mesh that has the ranks of both; NULL: neither has all. */
spmd_mesh *spmd__reshard_mesh(const spmd_reshard_call *plan);

/* Collective over both meshes where SPMD_CHECK=1: comm/mesh.h's spmd__mesh_meet, for a run that is
 * watched; `status` is what this rank found. */
spmd_status spmd__reshard_meet(const spmd_reshard_call *plan, int count, spmd_status status);

#endif
