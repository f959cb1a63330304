/* array/contributions.h - contributions of ranks become values: the first step of a reshard
 * (core/steps.h).
 *
 *     spmd__contributions_open       collective over the members of the mesh
 *     spmd__contributions_prepare    local: all memory but scratch
 *     spmd__contributions_add_up     collective over the group, any number of times */
#ifndef ARRAY_CONTRIBUTIONS_H
#define ARRAY_CONTRIBUTIONS_H

#include "array/array.h"
#include "core/arena.h"
#include "core/steps.h"

struct contributions {
    const spmd_sharding *from; /* borrowed, and so are the steps */
    const struct steps *steps;
    spmd_dtype dtype;
    struct group *group; /* whose contributions are added up, this rank's among them */
    int64_t count;       /* elements of this rank's */
    int64_t *counts;     /* [members] of the part that each gets; NULL: each gets all */
    spmd_box *boxes;     /* [members] the parts */
    spmd_box box;        /* what this rank's block holds */
    void *packed;        /* the parts one after the other; NULL: they lie so */
    struct arena scratch;
};

/* Of arrays that lie as `from` says, from which the steps lead. Both must last. */
spmd_status spmd__contributions_open(const spmd_sharding *from, const struct steps *steps,
                                     struct contributions *contributions);

/* Local. Whether the parts of `position`'s block that a reduce-scatter deals out lie one after the
 * other, so that it needs no packing. */
bool spmd__contributions_in_order(const struct axes *axes, const struct spec *from,
                                  const struct steps *steps, spmd_shape shape, size_t element,
                                  int64_t position);

/* Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__contributions_prepare(struct contributions *contributions, spmd_dtype dtype,
                                        spmd_shape shape);

/* `block` is this rank's, `values` has room for what it holds in the end; they do not overlap. */
spmd_status spmd__contributions_add_up(struct contributions *contributions, const void *block,
                                       void *values);

/* Local. Fine for one that was never opened. */
void spmd__contributions_free(struct contributions *contributions);

#endif
