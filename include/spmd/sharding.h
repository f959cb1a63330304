/* spmd/sharding.h - a mesh and a partition spec: who holds what.
 *
 * A spec says for each dimension of an array along which mesh axes it is split:
 *
 *     P(x, -)        dim 0 along x, dim 1 not split
 *     P((x,y))       dim 0 along x and y, x major
 *     P()            nothing split: every rank holds everything
 *
 * Along axes that a spec does not name, blocks are replicated. A dimension of n elements split over
 * p parts gives part i the range that starts at i*(n/p) + min(i, n%p): sizes differ by at most one,
 * and may be 0. Several axes split one after the other, major first. (JAX instead refuses
 * sizes that do not divide; see spmd_mesh_set_strict.) */
#ifndef SPMD_SHARDING_H
#define SPMD_SHARDING_H

#include <stdio.h>

#include <spmd/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spmd_sharding spmd_sharding;

/* Local. Checks the spec's text against the mesh. Also read: PartitionSpec(...), quoted names,
 * None for -, a missing P( ). Fails with SPMD_ERR_SYNTAX, or SPMD_ERR_SPEC for an axis that
 * the mesh does not have or that stands twice. */
spmd_status spmd_sharding_create(spmd_mesh *mesh, const char *spec, spmd_sharding **sharding);

/* Local. The same without a text: for each of `ndim` dimensions an entry, "x" or "x,y" (x major),
 * "?" if it is open, NULL or "" if it is not split; `unreduced` lists axes along which blocks are
 * contributions that add up by `kind`, NULL or "" for none. Fails also with SPMD_ERR_ARGUMENT.
 *
 *     const char *const entries[] = {"x", NULL, "y,z"};
 *     spmd_sharding_create_entries(mesh, 3, entries, NULL, SPMD_SUM, &sharding)
 *
 * is P(x, -, (y,z)). */
spmd_status spmd_sharding_create_entries(spmd_mesh *mesh, int ndim, const char *const entries[],
                                         const char *unreduced, spmd_reduction kind,
                                         spmd_sharding **sharding);

/* Collective over the communicator that `mesh` was made from; local if `mesh` is abstract. The
 * whole array at one position, and nothing elsewhere: P() on a mesh device=1 of that rank alone.
 * Fails with SPMD_ERR_ARGUMENT for NULL or a position that the mesh does not have,
 * SPMD_ERR_DISAGREE if ranks name different ones. */
spmd_status spmd_sharding_create_single(spmd_mesh *mesh, int64_t position,
                                        spmd_sharding **sharding);

/* Local. As spmd_mesh_free. */
void spmd_sharding_free(spmd_sharding **sharding);

/* Local. Its mesh (borrowed), and its spec's canonical text, as snprintf does. */
spmd_mesh *spmd_sharding_mesh(const spmd_sharding *sharding);
int spmd_sharding_format(char *buffer, size_t size, const spmd_sharding *sharding);

/* Local. Writes the type of an array that lies so, "f32[8@x,4@(y,z),3]", as snprintf does. */
int spmd_sharding_format_type(char *buffer, size_t size, const spmd_sharding *sharding,
                              spmd_dtype dtype, spmd_shape shape);

/* Local. Prints who holds what of an array of `shape`: a picture, a table of the ranks and a
 * summary, in 80 columns, as `spmd layout` does. spmd/layout.h has other forms. Fails as
 * spmd_layout_print. */
spmd_status spmd_sharding_print(const spmd_sharding *sharding, spmd_shape shape, FILE *stream);

/* Local. How many entries its spec has; dimensions behind them are not split. */
int spmd_sharding_nentries(const spmd_sharding *sharding);

/* Local. The mesh axes that dimension `dim` is split along, major first; returns how many there
 * are, 0 for a dimension that is not split. */
int spmd_sharding_axes(const spmd_sharding *sharding, int dim, int axes[SPMD_MAX_AXES]);

/* Local. The unreduced axes, in mesh order; returns how many there are. How contributions along
 * them add up; SPMD_SUM if there are none. */
int spmd_sharding_unreduced(const spmd_sharding *sharding, int axes[SPMD_MAX_AXES]);
spmd_reduction spmd_sharding_reduction(const spmd_sharding *sharding);

/* Local. Whether an array of this shape can lie so. Fails with SPMD_ERR_SPEC if the spec is
 * longer than the rank or, when strict, if a split dimension does not divide. */
spmd_status spmd_sharding_check(const spmd_sharding *sharding, spmd_shape shape);

/* Local. The box of the array of shape `global` that the rank at `position` holds, and its
 * extents. Cost: O(dims). Fails as spmd_sharding_check, or with SPMD_ERR_ARGUMENT. */
spmd_status spmd_sharding_box(const spmd_sharding *sharding, spmd_shape global, int64_t position,
                              spmd_box *box);
spmd_status spmd_sharding_shard_shape(const spmd_sharding *sharding, spmd_shape global,
                                      int64_t position, spmd_shape *shape);

/* Local. The boxes [size of the mesh] of all positions: JAX's devices_indices_map. */
spmd_status spmd_sharding_indices_map(const spmd_sharding *sharding, spmd_shape global,
                                      spmd_box boxes[]);

/* Local. How many earlier positions hold the same part: 0 is its owner. -1 if out of range. */
int64_t spmd_sharding_replica(const spmd_sharding *sharding, int64_t position);

/* Local. The position of replica 0 of the part at `position`. -1 if out of range. */
int64_t spmd_sharding_owner(const spmd_sharding *sharding, int64_t position);

/* Local. All positions that hold the part at `position`, itself among them, in order: replica 0, 1,
 * ... Writes the first `capacity` of them, and returns how many there are. -1 if out of range.
 * Cost: O(those written). */
int64_t spmd_sharding_replicas(const spmd_sharding *sharding, int64_t position, int64_t capacity,
                               int64_t positions[]);

/* Local. Visits each position whose part of an array of shape `global` meets `box`, with what they
 * have in common; owners visits of each part the owner alone, so that the visits tile `box`. Cost:
 * O(visits). Fails as spmd_sharding_check, with SPMD_ERR_ARGUMENT if `box` is not inside the
 * array, or as soon as a visit fails, with its status. */
typedef spmd_status spmd_holder_visit(int64_t position, const spmd_box *common, void *user);
spmd_status spmd_sharding_holders(const spmd_sharding *sharding, spmd_shape global,
                                  const spmd_box *box, spmd_holder_visit *visit, void *user);
spmd_status spmd_sharding_owners(const spmd_sharding *sharding, spmd_shape global,
                                 const spmd_box *box, spmd_holder_visit *visit, void *user);

/* Local. The number of indices of dimension `dim` that some of `positions` [npositions] hold:
 * JAX's num_addressable_indices of a process with several devices. `positions` may be NULL if there
 * are none. Fails as spmd_sharding_box. */
spmd_status spmd_sharding_num_addressable_indices(const spmd_sharding *sharding, spmd_shape global,
                                                  int dim, int64_t npositions,
                                                  const int64_t positions[], int64_t *indices);

/* Local. JAX's local_to_global_shape: the extents of an array of which a process, of those that
 * each hold several positions, has `local`. `process` [size of the mesh] says whose each position
 * is, by any number from 0. A dimension is uniform if all processes hold equally many parts of it,
 * and any two of them the same parts or none in common: then its extent is that of `local` times
 * the number of different sets of parts; else it is -1. Cost: O(p log p) for each dimension, of p
 * positions. Fails with SPMD_ERR_SPEC if the spec is longer than the rank or open (strictness does
 * not count), SPMD_ERR_ARGUMENT for NULL or a process below 0, SPMD_ERR_SHAPE if an extent is above
 * 2^63 - 1. */
spmd_status spmd_sharding_local_to_global(const spmd_sharding *sharding, spmd_shape local,
                                          const int process[], spmd_shape *global);

/* Local. True if every rank holds the whole array, whatever its shape. */
bool spmd_sharding_is_fully_replicated(const spmd_sharding *sharding);

/* Local. True if meshes and specs are the same values: P((x)) is P(x), and P(()) is P(-), but P(x)
 * is not P(x,-). */
bool spmd_sharding_equal(const spmd_sharding *a, const spmd_sharding *b);

/* Local. True if both lay every array of `ndim` dimensions on the same ranks in the same way:
 * P(x) and P(x,-) do, and axes of size 1 do not count. On strict meshes only arrays whose split
 * dimensions divide are meant, and two axes do what one of the product of their sizes does. */
bool spmd_sharding_is_equivalent(const spmd_sharding *a, const spmd_sharding *b, int ndim);

#ifdef __cplusplus
}
#endif

#endif
