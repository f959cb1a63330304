/* core/hybrid.h - meshes over nodes and the ranks inside of each: which rank stands where. */
#ifndef CORE_HYBRID_H
#define CORE_HYBRID_H

#include "core/axes.h"

/* Where a rank runs. */
struct place {
    int leader;    /* the lowest rank on the same node */
    char host[60]; /* the node's name, for messages */
};

/* Reads the sizes over nodes and those inside of a node, as spmd_mesh_create_hybrid says, for
 * `ranks` ranks that run at places [ranks]. Gives the mesh, and the rank at each of its positions;
 * free() them. Fails with SPMD_ERR_SYNTAX, SPMD_ERR_MESH or SPMD_ERR_MEMORY. */
spmd_status spmd__hybrid_arrange(const char *nodes, const char *local, const struct place places[],
                                 int ranks, struct axes *axes, int **members);

#endif
