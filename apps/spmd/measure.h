/* measure.h - what spmd bench times: calls of the library on all ranks, and rivals of theirs. */
#ifndef APPS_MEASURE_H
#define APPS_MEASURE_H

#include <spmd.h>
#include "contest.h"

/* A planned call of ours, and what does as much without us. */
struct measure {
    struct contender ours, rival;
    int64_t bytes; /* of the array that moves, or of a block that is sent or summed */
    spmd_reshard_call *reshard;
    spmd_shard_map_call *map;
    spmd_array *in, *out;
    int ranks, rank;
    int64_t (*ring)[2]; /* [ranks] each one's block goes to the next one */
    double *from, *to;  /* [count] the rival's */
    int count;
};

/* Collective. A mesh x=N of all ranks that is made as with SPMD_MOVE=way, and with this table of
 * costs; NULL: as the environment says. */
spmd_status measure_mesh(const char *way, const char *costs, spmd_mesh **mesh);

/* Collective over the mesh. A measure stays where it is until its end, also one that failed.
 *
 *   reshard  of doubles, beside memcpy of what this rank gets
 *   message  of `bytes` to the next rank, in a body, beside MPI_Sendrecv
 *   sum      of `bytes` over all ranks, in a body, beside MPI_Allreduce */
spmd_status measure_reshard(spmd_mesh *mesh, const char *from, const char *to, spmd_shape shape,
                            struct measure *measure);
spmd_status measure_message(spmd_mesh *mesh, int64_t bytes, struct measure *measure);
spmd_status measure_sum(spmd_mesh *mesh, int64_t bytes, struct measure *measure);
void measure_end(struct measure *measure);

#endif
