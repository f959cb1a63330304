/* array/array.h - the insides of shardings and arrays. */
#ifndef ARRAY_ARRAY_H
#define ARRAY_ARRAY_H

#include <spmd/array.h>

#include "comm/collective.h"
#include "comm/mesh.h"
#include "core/layout.h"

struct spmd_sharding {
    int holds;
    spmd_mesh *mesh; /* held */
    struct spec spec;
};

struct spmd_array {
    int holds;
    spmd_sharding *sharding; /* held */
    spmd_dtype dtype;
    spmd_shape shape;   /* global; -1 where an idle rank cannot know */
    spmd_block block;   /* this rank's; unused on idle ranks */
    spmd_array *lender; /* held: whose data the block borrows; NULL: it is the array's own */
};

/* Local. Whether there is a place for a new sharding. */
spmd_status spmd__sharding_check_place(spmd_sharding *const *sharding);

spmd_sharding *spmd__sharding_hold(const spmd_sharding *sharding);

/* Local. A sharding of a spec that was made for the axes of `mesh`, which is held. */
spmd_status spmd__sharding_make(spmd_mesh *mesh, const struct spec *spec, spmd_sharding **sharding);

/* Local. The same sharding, held once more; of unreduced axes, that of the values which
 * contributions along them add up to. */
spmd_status spmd__sharding_of_values(const spmd_sharding *sharding, spmd_sharding **values);

/* Collective over the members of `mesh`, whose hold it takes over: a sharding of `spec` on it, if
 * all can make one and it is the same for all. */
spmd_status spmd__sharding_settle(spmd_mesh *mesh, const struct spec *spec,
                                  spmd_sharding **sharding);

/* The box of `shape` that `position` holds; the arguments have been checked. */
spmd_box spmd__sharding_box_of(const spmd_sharding *sharding, spmd_shape shape, int64_t position);

/* Local. Whether a mesh has ranks that can hold arrays; whether there is a place for a new one. */
spmd_status spmd__array_check_mesh(const spmd_mesh *mesh);
spmd_status spmd__array_check_place(spmd_array *const *out);

/* Local. Whether host memory of `count` elements has room for the whole array, for `call`. */
spmd_status spmd__array_check_host(const spmd_array *array, const char *call, const void *host,
                                   int64_t count);

/* Local. Whether there may be such an array: type, shape, spec; on a mesh that has ranks, and on an
 * abstract one as well. */
spmd_status spmd__array_check_type(const spmd_sharding *sharding, spmd_dtype dtype,
                                   spmd_shape shape);
spmd_status spmd__array_check_layout(const spmd_sharding *sharding, spmd_dtype dtype,
                                     spmd_shape shape);

/* Local. Says once for each mesh, from position 0, that an array leaves ranks without elements. */
void spmd__array_note_empty(const spmd_array *array);

/* Local. Whether values can be placed so: along unreduced axes they become contributions. And: of
 * an array whose values stand in all blocks, keeps the contributions that add up to them, the first
 * along the unreduced axes; the others become zeros. */
spmd_status spmd__array_check_values(const spmd_sharding *sharding);
void spmd__array_count_once(spmd_array *array);

/* Collective over the array's mesh. The array itself, held once more, or if it is unreduced what
 * its contributions add up to, under the same partitions. */
spmd_status spmd__array_values(spmd_array *array, spmd_array **values);

/* Local. Checks that an array may be so (type, shape, spec) and makes it, with a zeroed block. No
 * agreement. */
spmd_status spmd__array_alloc(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape,
                              spmd_array **array);

/* The same with what happens to stand in the block, for those who write all of it. */
spmd_status spmd__array_alloc_unset(const spmd_sharding *sharding, spmd_dtype dtype,
                                    spmd_shape shape, spmd_array **array);

/* Local. Tells a block its place in an array of `shape` that lies so. */
void spmd__array_place(const spmd_sharding *sharding, spmd_shape shape, spmd_block *block);

/* Local. An array that is nothing yet; and what it, or one that nobody else holds, becomes: the
 * block is its own from then on, and what it had before is not freed. */
spmd_status spmd__array_blank(spmd_array **array);
void spmd__array_become(spmd_array *array, const spmd_sharding *sharding, spmd_shape shape,
                        const spmd_block *block);

/* Local. The block of `lender` as this rank's part of another array, of `shape` under `sharding`;
 * it may outlive the lender's other holds. */
spmd_status spmd__array_lend(spmd_array *lender, const spmd_sharding *sharding, spmd_shape shape,
                             spmd_array **array);

/* Collective over the sharding's mesh: ends a call that made `array` here with `status`. On success
 * everywhere *out = array; else `array` (may be NULL) is freed. Its type, and what `digest` was
 * made of, must be the same everywhere. Notes once where ranks hold nothing. */
spmd_status spmd__array_settle(const spmd_sharding *sharding, spmd_status status, uint64_t digest,
                               spmd_array *array, spmd_array **out);

/* Local. What this rank's block adds to the global extents: each dimension is the sum over the
 * parts that the spec splits it into, and so over the shares of all members. */
spmd_shape spmd__array_share(const spmd_sharding *sharding, spmd_shape local);

/* Local. Whether this rank's block is the part of `global` that the layout's rule gives it. */
spmd_status spmd__array_check_parts(const spmd_sharding *sharding, spmd_shape local,
                                    spmd_shape global);

/* Local. What an idle rank gets where only members can know the shape. */
spmd_status spmd__array_unknown(const spmd_sharding *sharding, spmd_dtype dtype, int ndim,
                                spmd_array **array);

/* A digest of what makes an array's type, for agreements. */
uint64_t spmd__array_digest(const spmd_sharding *sharding, spmd_dtype dtype, spmd_shape shape);

#endif
