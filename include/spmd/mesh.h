/* spmd/mesh.h - named axes over MPI ranks.
 *
 * A mesh is an n-dimensional grid of ranks whose axes have names. Its text is "x=4,y=2": the
 * first axis is major, so rank r has coordinates (r / 2, r % 2). One size may be "*": as many
 * as the ranks allow. A mesh that is smaller than the communicator uses its first ranks; the
 * others are idle: they may make every call on the mesh, and each succeeds there at once. */
#ifndef SPMD_MESH_H
#define SPMD_MESH_H

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
#define SPMD_INFER (-1)
spmd_status spmd_mesh_create_sizes(MPI_Comm comm, int naxes, const char *const names[],
                                   const int64_t sizes[], spmd_mesh **mesh);

/* Local. A mesh without ranks: it answers every question about who would hold what, for any
 * size, and needs no MPI. */
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
bool spmd_mesh_equal(const spmd_mesh *a, const spmd_mesh *b); /* names, sizes and ranks */

/* Local. This rank's position, row-major over the grid; -1 on idle ranks and abstract meshes. */
int64_t spmd_mesh_position(const spmd_mesh *mesh);

/* Local. Coordinates [naxes] of a position. Fails with SPMD_ERR_ARGUMENT. */
spmd_status spmd_mesh_coordinates(const spmd_mesh *mesh, int64_t position, int64_t coordinates[]);

/* Local after first use; then collective over the ranks that differ along `axes` only. The
 * communicator of these ranks, in the order of the axes as given (first is major): "model",
 * "x,y". Owned by the mesh: do not free it. MPI_COMM_NULL on idle ranks, and on failure
 * (see spmd_error_message): unknown axis, axis given twice. */
MPI_Comm spmd_mesh_comm(spmd_mesh *mesh, const char *axes);

/* Local. Writes the mesh's text ("x=4,y=2") as snprintf does; returns the length it needs. */
int spmd_mesh_format(char *buffer, size_t size, const spmd_mesh *mesh);

/* Local. Asks for JAX's strictness: every split dimension must divide evenly, else placing an
 * array fails with SPMD_ERR_SPEC. Also asked for by SPMD_STRICT=1 in the environment. */
void spmd_mesh_set_strict(spmd_mesh *mesh, bool strict);

/* Collective over the mesh. Every rank says how it fared and learns the worst: all return
 * SPMD_OK, or all the status and the message of the lowest failing rank. An idle rank gets its
 * own status back. */
spmd_status spmd_agree(spmd_mesh *mesh, spmd_status status);

#ifdef __cplusplus
}
#endif

#endif
