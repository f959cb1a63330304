/* io/landing.h - where the elements of an array land as they are read.
 *
 *     spmd__landing_make(dataset, sharding, ..., &landing)      on each rank
 *     ... read landing.part's block ...
 *     status = spmd__landing_agree(&landing, status, digest)    together
 *     ... check it ...
 *     spmd__landing_deliver(&landing, &array)
 *
 * No element is read twice: of equal blocks each rank reads a part, in the place that it has in the
 * block, and takes the rest from the others. Where blocks are so torn in the file that their pieces
 * cost more than moving them again, rows are read. */
#ifndef IO_LANDING_H
#define IO_LANDING_H

#include "array/array.h"
#include "io/h5.h"

struct landing {
    const spmd_sharding *sharding; /* that the array shall have */
    spmd_array *whole;             /* under it; NULL: made when all has been read */
    spmd_array *part;              /* what ranks read: in the block of `whole`, or elsewhere */
};

/* Local. For an array that `dataset`, or a part of it, is. Checks that there may be such an array.
 * The same on all ranks, but for memory. */
spmd_status spmd__landing_make(hid_t dataset, const spmd_sharding *sharding, spmd_dtype dtype,
                               spmd_shape shape, struct landing *landing);

/* Collective over the sharding's mesh. Agrees on `status`, of making and reading, and on `digest`.
 * After a failure the landing is gone; it may be a zeroed one. */
spmd_status spmd__landing_agree(struct landing *landing, spmd_status status, uint64_t digest);

/* Collective. Brings every element to where it belongs. What the landing has is gone then. */
spmd_status spmd__landing_deliver(struct landing *landing, spmd_array **out);

/* Local. Without an array. */
void spmd__landing_free(struct landing *landing);

#endif
