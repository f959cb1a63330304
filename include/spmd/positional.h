/* spmd/positional.h - shardings without names: a grid of devices, reshaped, transposed, replicated
 * until it looks as the array is to be cut (JAX's PositionalSharding).
 *
 *     spmd_grid grid;
 *     SPMD_TRY(spmd_grid_make(8, &grid));                          8 devices in a row
 *     SPMD_TRY(spmd_grid_reshape(&grid, SPMD_SHAPE(4, 2), &grid)); 4 rows of 2
 *     SPMD_TRY(spmd_grid_replicate(&grid, 0, &grid));              1 row of 2, 4 replicas of each
 *     SPMD_TRY(spmd_sharding_create_positional(MPI_COMM_WORLD, &grid, &sharding));
 *
 * Dimension d of an array is split into as many parts as dimension d of the grid has devices, or
 * sets of replicas; dimensions behind are not split. What comes out is a sharding as any other:
 * here P(-, dim1) on mesh replicas=4,dim1=2. Device p is position p, whatever the grid looks like:
 * a transposed grid is a mesh whose axes are named in another order. Where a dimension joins parts
 * of several axes, these split it one after the other. Results go to *out, which may be the grid
 * that is read. */
#ifndef SPMD_POSITIONAL_H
#define SPMD_POSITIONAL_H

#include <spmd/sharding.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value: copy it, keep it, there is nothing to free. Made by the calls below only. */
typedef struct spmd_grid {
    spmd_shape shape;
    /* The devices are numbered row-major over `naxes` axes. Dimension d of the grid runs over the
     * axes axis[first[d]] ... axis[first[d + 1] - 1], major first; those in no dimension hold
     * replicas. */
    int naxes;
    int64_t size[SPMD_MAX_AXES]; /* [naxes] at least 2 */
    int first[SPMD_MAX_DIMS + 1];
    int axis[SPMD_MAX_AXES];
} spmd_grid;

/* Local. A row of devices 0 ... ndevices - 1. Fails with SPMD_ERR_ARGUMENT for less than one. */
spmd_status spmd_grid_make(int64_t ndevices, spmd_grid *out);

/* Local. The same devices, or sets of replicas, in row-major order, in another shape (NumPy's
 * reshape); one extent may be SPMD_INFER. Fails with SPMD_ERR_SHAPE if the numbers differ, or if
 * no axes lie so: where it cuts or joins a dimension of a transposed grid unevenly, as 2x3
 * transposed to 3x2 and then read as 2x3. */
spmd_status spmd_grid_reshape(const spmd_grid *grid, spmd_shape shape, spmd_grid *out);

/* Local. Dimension d becomes what perm[d] was (NumPy's transpose); NULL reverses them (.T). Fails
 * with SPMD_ERR_ARGUMENT. */
spmd_status spmd_grid_transpose(const spmd_grid *grid, const int perm[], spmd_grid *out);

/* Local. Dimension `dim`, or all with SPMD_ALL_DIMS, becomes 1: its devices hold replicas, as
 * .replicate(dim, keepdims=True). Reshape drops it for keepdims=False. Fails with SPMD_ERR_ARGUMENT
 * if there is no such dimension. */
#define SPMD_ALL_DIMS (-1)
spmd_status spmd_grid_replicate(const spmd_grid *grid, int dim, spmd_grid *out);

/* Collective over `comm`. Device d is rank d of `comm`; ranks behind the last device are idle. The
 * mesh is new, with axes dim0, dim1, ..., replicas (and dim0_1, ... where several axes lie along
 * one dimension). A grid without split dimensions gives P(), for arrays of any rank. Fails with
 * SPMD_ERR_MESH if the ranks are too few. The second call is local, on an abstract mesh. */
spmd_status spmd_sharding_create_positional(MPI_Comm comm, const spmd_grid *grid,
                                            spmd_sharding **sharding);
spmd_status spmd_sharding_create_positional_abstract(const spmd_grid *grid,
                                                     spmd_sharding **sharding);

#ifdef __cplusplus
}
#endif

#endif
