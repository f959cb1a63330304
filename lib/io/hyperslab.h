/* io/hyperslab.h - which elements of a dataset the elements of an array are. */
#ifndef IO_HYPERSLAB_H
#define IO_HYPERSLAB_H

#include <spmd/io.h>

#include "io/h5.h"

/* Local. What of a dataset of `shape` is meant by `asked` (NULL: all of it), with every count
 * known. Fails with SPMD_ERR_SHAPE, or SPMD_ERR_ARGUMENT if it is no hyperslab at all. */
spmd_status spmd__hyperslab_resolve(const spmd_hyperslab *asked, spmd_shape shape,
                                    spmd_hyperslab *slab);

/* The shape of the array that it is, and a digest of it (may be NULL). */
spmd_shape spmd__hyperslab_shape(const spmd_hyperslab *slab);
uint64_t spmd__hyperslab_digest(const spmd_hyperslab *slab);

/* Whether its elements are all that lie between the first and the last of each dimension; then the
 * block of that array as one of the dataset. */
bool spmd__hyperslab_is_box(const spmd_hyperslab *slab);
spmd_block spmd__hyperslab_shift(const spmd_hyperslab *slab, const spmd_block *block);

/* Where `extent` elements from index `lo` of that array on lie: the dataset's space, to be closed,
 * with these selected. At least one dimension. */
hid_t spmd__hyperslab_select(hid_t dataset, const spmd_hyperslab *slab, const int64_t lo[],
                             const hsize_t extent[]);

#endif
