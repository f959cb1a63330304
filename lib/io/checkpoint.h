/* io/checkpoint.h - how calls on checkpoints begin. */
#ifndef IO_CHECKPOINT_H
#define IO_CHECKPOINT_H

#include <spmd/checkpoint.h>

/* Collective over the members. Agrees on each rank's `status` so far, that there is a directory's
 * name, and that all make the same `call` with the same arguments, of which `digest` tells. */
spmd_status spmd__checkpoint_enter(spmd_mesh *mesh, const char *call, spmd_status status,
                                   const char *directory, uint64_t digest);

#endif
