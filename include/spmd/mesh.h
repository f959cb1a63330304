/* spmd/mesh.h - named axes over MPI ranks.
 *
 * A mesh is an n-dimensional grid of ranks whose axes have names. Its text is "x=4,y=2": the
 * first axis is major, so rank r has coordinates (r / 2, r % 2). One size may be "*": as many
 * as the ranks allow. A mesh that is smaller than the communicator uses its first ranks, or those
 * that spmd_mesh_create_ranks names; the others are idle: they may make every call on the mesh,
 * and each succeeds there at once. Messages call a rank by its number in that communicator. */
#ifndef SPMD_MESH_H
#define SPMD_MESH_H

#include <stdio.h>

#include <mpi.h>

#include <spmd/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_mesh spmd_mesh;

/* Collective over `comm`. Makes a mesh; `comm` is duplicated and may be freed at once.
 * Fails with SPMD_ERR_SYNTAX, or SPMD_ERR_MESH if the ranks are too few ("x=4,y=2 needs 8
 * ranks, this job has 1"), a name stands twice, or "*" does not divide. */
spmd_status spmd_mesh_create(MPI_Comm comm, const char *text, spmd_mesh **mesh);

/* Collective over `comm`. The same from names [naxes] and sizes [naxes]; one size may be
 * SPMD_INFER. */
spmd_status spmd_mesh_create_sizes(MPI_Comm comm, int naxes, const char *const names[],
                                   const int64_t sizes[], spmd_mesh **mesh);

/* Collective over `comm`. Position p of the mesh is rank ranks[p] of `comm`: any order, and any
 * subset. `ranks` [positions of the mesh] is copied. Fails as spmd_mesh_create does, and with
 * SPMD_ERR_MESH for a rank that `comm` does not have or that stands twice. */
spmd_status spmd_mesh_create_ranks(MPI_Comm comm, const char *text, const int ranks[],
                                   spmd_mesh **mesh);

/* Collective over `comm`. A mesh that knows which ranks share a node (JAX's
 * create_hybrid_device_mesh). Each axis has size nodes x local: its outer part goes over nodes, its
 * inner one stays inside of a node. `nodes` has the sizes over nodes, "data=2,stage=2", `local`
 * those inside of a node, "data=4,model=2"; an axis that one of them leaves out has size 1 there,
 * so an axis of `local` alone never leaves a node. One size of each may be "*": what the nodes,
 * or the ranks of a node, allow. The mesh's axes are those of `nodes`, then those that only
 * `local` has; here "data=8,stage=2,model=2". Nodes, and ranks on a node, are taken in the order
 * of their ranks, each text's first axis major. All nodes are used; a node may have ranks to
 * spare, which are idle, if every node has. Fails with SPMD_ERR_SYNTAX or SPMD_ERR_MESH. */
spmd_status spmd_mesh_create_hybrid(MPI_Comm comm, const char *nodes, const char *local,
                                    spmd_mesh **mesh);

/* Collective over the communicator that `mesh` was made from; local if it is abstract. The part of
 * a mesh at some coordinates, "x=1" or "x=1,z=0": the other axes in their order. Where none is
 * left it has one position, on an axis of size 1 with the name of the one fixed last. Ranks that
 * stand elsewhere are idle on it. It may outlive `mesh`, and is as strict. Fails with
 * SPMD_ERR_SYNTAX, or SPMD_ERR_MESH for an unknown axis, one given twice, a coordinate that it
 * does not have. */
spmd_status spmd_mesh_sub(spmd_mesh *mesh, const char *coordinates, spmd_mesh **sub);

/* Local. A mesh without ranks: it answers every question about who would hold what, for any
 * size, and needs no MPI. Fails with SPMD_ERR_SYNTAX, or SPMD_ERR_MESH for "*", which has no ranks
 * to count, or a name that stands twice. */
spmd_status spmd_mesh_create_abstract(const char *text, spmd_mesh **mesh);

/* Local. Gives the handle back and sets it NULL; NULL is accepted, and so is a time after
 * MPI_Finalize. Arrays and shardings keep their mesh alive, so any order of freeing is right. */
void spmd_mesh_free(spmd_mesh **mesh);

/* Local. Questions about the grid. */
int spmd_mesh_naxes(const spmd_mesh *mesh);
const char *spmd_mesh_axis_name(const spmd_mesh *mesh, int axis);     /* NULL if out of range */
int64_t spmd_mesh_axis_size(const spmd_mesh *mesh, const char *name); /* -1: no such axis */
int64_t spmd_mesh_size(const spmd_mesh *mesh);                        /* number of positions */
bool spmd_mesh_is_abstract(const spmd_mesh *mesh);

/* Local. Whether names, sizes, and the ranks in their order are equal. */
bool spmd_mesh_equal(const spmd_mesh *a, const spmd_mesh *b);

/* Local. The rank at a position, in the communicator that the mesh was made from (of a body's
 * spmd_ctx_mesh, that the mesh around it was made from); -1 if the mesh is abstract or has no such
 * position. */
int spmd_mesh_rank(const spmd_mesh *mesh, int64_t position);

/* Local. This rank's position, row-major over the grid; -1 on idle ranks and abstract meshes. */
int64_t spmd_mesh_position(const spmd_mesh *mesh);

/* Local. Coordinates [naxes] of a position. Fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd_mesh_coordinates(const spmd_mesh *mesh, int64_t position, int64_t coordinates[]);

/* Local after first use; then collective over the ranks that differ along `axes` only. The
 * communicator of these ranks, in the order of the axes as given (first is major): "model",
 * "x,y". Owned by the mesh: do not free it. MPI_COMM_NULL on idle ranks, and on failure
 * (see spmd_error_message): unknown axis, axis given twice. */
MPI_Comm spmd_mesh_comm(spmd_mesh *mesh, const char *axes);

/* Local. How many communicators the mesh holds now on this rank: its own ones, one for each list of
 * axes in use, and one more for each that was an spmd_ctx_mesh. */
int spmd_mesh_comms(const spmd_mesh *mesh);

/* Local. Writes the mesh's text ("x=4,y=2") as snprintf does; returns the length it needs. */
int spmd_mesh_format(char *buffer, size_t size, const spmd_mesh *mesh);

/* Local. Prints its text and its ranks, from position 0: the last two axes as tables; of more than
 * 16 entries the first and last four. An abstract mesh prints its positions, on every rank.
 * Fails with SPMD_ERR_ARGUMENT or SPMD_ERR_FILE. */
spmd_status spmd_mesh_print(const spmd_mesh *mesh, FILE *stream);

/* Local; the same on all ranks. Asks for JAX's strictness: every split dimension must divide
 * evenly, else placing an array fails with SPMD_ERR_SPEC. Also asked for by SPMD_STRICT=1 in the
 * environment. */
void spmd_mesh_set_strict(spmd_mesh *mesh, bool strict);

/* Local. Leaves out the notes on how arrays lie: that ranks hold nothing, that a call reshards the
 * same input again. For programs that choose shardings for their users. */
void spmd_mesh_set_quiet(spmd_mesh *mesh, bool quiet);

/* Collective over the mesh. Every rank says how it fared and learns the worst: all return
 * SPMD_OK, or all the status and the message of the lowest failing rank. An idle rank gets its
 * own status back. */
spmd_status spmd_agree(spmd_mesh *mesh, spmd_status status);

/* Collective over the mesh. Every rank says yes or no and learns whether any of them said yes. A
 * signal may come to some ranks only, or between two steps of some: asked here, all stop after the
 * same step. An idle rank learns what it said itself. */
spmd_status spmd_any(spmd_mesh *mesh, bool here, bool *anywhere);

#ifdef __cplusplus
}
#endif

#endif
