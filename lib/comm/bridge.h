/* comm/bridge.h - the way between two meshes: one communicator for the ranks of both. */
#ifndef COMM_BRIDGE_H
#define COMM_BRIDGE_H

#include "comm/mesh.h"

struct bridge {
    spmd_mesh *from;
    spmd_mesh *to;
    MPI_Comm comm;     /* the ranks of both meshes; MPI_COMM_NULL on all others */
    MPI_Comm control;  /* the same for agreements */
    spmd_mesh *lender; /* the mesh that comm is of; NULL: none */
    bool owned;        /* comm was made for this bridge */
    bool checks;       /* then: one of the meshes is checked (SPMD_CHECK=1) */
    int origin;        /* rank in comm of position 0 of `from` */
    bool newcomers;    /* some ranks of `to` are not in `from` */
    int *from_ranks;   /* [positions of `from`] ranks in comm; NULL: positions are ranks */
    int *to_ranks;     /* [positions of `to`] */
    int *homes;        /* [positions of `to`] the same rank's position in `from`, or one to take
                          its place; NULL: the same */
};

/* Collective over the ranks of both meshes, fine on others. Fails, on all alike, where some rank of
 * one mesh cannot know the other one. */
spmd_status spmd__bridge_open(spmd_mesh *from, spmd_mesh *to, struct bridge *bridge);

/* Local, on all ranks. Finds for each position of `to`, another mesh than `from`, where the same
 * rank stands in that, negative where it does not; the caller frees the list. And which position of
 * `from`, of that size, takes the place of the one it has not. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__bridge_homes(const spmd_mesh *from, const spmd_mesh *to, int **homes);
int64_t spmd__bridge_stand_in(int64_t size, int64_t position);

/* Local. Fills the lists of ranks. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__bridge_map(struct bridge *bridge);

/* Collective over the ranks of both meshes. */
void spmd__bridge_close(struct bridge *bridge);

int spmd__bridge_from_rank(const struct bridge *bridge, int64_t position);
int spmd__bridge_to_rank(const struct bridge *bridge, int64_t position);
int64_t spmd__bridge_home(const struct bridge *bridge, int64_t position);

#endif
