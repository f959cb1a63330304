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

/* Local. As spmd_mesh_free. */
void spmd_sharding_free(spmd_sharding **sharding);

/* Local. Its mesh (borrowed), and its spec's canonical text, as snprintf does. */
spmd_mesh *spmd_sharding_mesh(const spmd_sharding *sharding);
int spmd_sharding_format(char *buffer, size_t size, const spmd_sharding *sharding);

/* Local. Writes the type of an array that lies so, "f32[8@x,4@(y,z),3]", as snprintf does. */
int spmd_sharding_format_type(char *buffer, size_t size, const spmd_sharding *sharding,
                              spmd_dtype dtype, spmd_shape shape);

/* Local. Prints who holds what of an array of `shape`: a picture, a table of the ranks and a
 * summary, in 80 columns, as `spmd layout` does. spmd/layout.h has other forms. */
spmd_status spmd_sharding_print(const spmd_sharding *sharding, spmd_shape shape, FILE *stream);

/* Local. The mesh axes that dimension `dim` is split along, major first; returns how many there
 * are, 0 for a dimension that is not split. */
int spmd_sharding_axes(const spmd_sharding *sharding, int dim, int axes[SPMD_MAX_AXES]);

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

/* Local. True if every rank holds the whole array, whatever its shape. */
bool spmd_sharding_is_fully_replicated(const spmd_sharding *sharding);

/* Local. True if both lay every array of `ndim` dimensions on the same ranks in the same way:
 * P(x) and P(x,-) do, and axes of size 1 do not count. */
bool spmd_sharding_is_equivalent(const spmd_sharding *a, const spmd_sharding *b, int ndim);

#ifdef __cplusplus
}
#endif

#endif
