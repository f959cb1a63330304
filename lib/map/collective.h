/* map/collective.h - what all collectives of a body have in common. See spmd/collective.h.
 *
 * A call is an operation: its kind, blocks and arguments. Kinds are rows, one for each collective,
 * beside the code that does it:
 *
 *     spmd_psum(ctx, in, axes, out)
 *         fills an operation, of kind psum
 *     spmd__collective_run
 *         finds the group; instances of a named vmap first come together (map/vmap.h)
 *         kind->check     what can be said without asking anybody
 *         meet            under SPMD_CHECK=1 the members compare what they are about to do
 *         kind->run       among the ranks of the group, or
 *         kind->local     among members that are all here: the instances of a vmap
 */
#ifndef MAP_COLLECTIVE_H
#define MAP_COLLECTIVE_H

#include <spmd/collective.h>

#include "array/array.h"
#include "map/ctx.h"

struct operation_kind;

struct operation {
    const struct operation_kind *kind;
    spmd_ctx *ctx;
    const spmd_block *in;
    spmd_block *out; /* NULL: a member whose result is not wanted here */
    const char *axes;
    int dim;    /* of kinds that have one; `check` makes it count from 0 */
    int to_dim; /* the same: where all_to_all joins */
    spmd_tiling tiling;
    int64_t source;    /* pbroadcast's */
    int64_t count;     /* of a list's entries */
    const void *list;  /* ppermute's pairs, pshuffle's permutation, ragged_all_to_all's slices */
    size_t list_bytes; /* of the list, where it must last to the end of a split phase */
    /* Found by `check`: dimensions, as bits, along which members' blocks may differ. */
    uint32_t free_dims;
};

struct operation_kind {
    const char *name;
    bool own_lists; /* members have different lists */
    bool joins;     /* tiled ones join members' blocks, which may differ along that dimension */

    /* Of kinds that reduce: how; and whether the sum is divided by the group's size. */
    spmd_reduction reduction;
    bool mean;

    /* Local. Checks the arguments for a group of `size`, resolves dims, finds free_dims. Whether
     * `out` fits may need the others' word: then `run` checks it. Group NULL: among the members
     * are instances of vmaps. */
    spmd_status (*check)(struct operation *op, const struct group *group, int64_t size);

    /* Adds what members must agree on besides name, axes and block: ", dim 0 to dim 1, tiled". NULL
     * where there is nothing. */
    void (*describe)(const struct operation *op, struct text *text);

    /* Collective over the group, which is open. */
    spmd_status (*run)(struct operation *op, struct group *group);

    /* Begins the same without waiting: all memory comes from, and what pends goes into, `request`
     * (map/request.h). NULL: the kind has no split phase. */
    spmd_status (*start)(struct operation *op, struct group *group, spmd_request *request);

    /* Local. The same among members that are all here, ops [n] in their order, checked. Those
     * without `out` only bring their `in`. Scratch memory is the first one's. NULL: the kind is
     * never called over the axis of a vmap. */
    spmd_status (*local)(struct operation *const ops[], int64_t n);

    /* The shape of the result of member `index` of `size`, of kinds for which it can be asked
     * beforehand. Collective over the group, which is open; group NULL: the members are instances
     * of a vmap, whose blocks are equal. */
    spmd_status (*shape)(const struct operation *op, const struct group *group, int64_t size,
                         int64_t index, spmd_shape *shape);

    /* Collective over the group, which is open. The same among the members of all its ranks, each
     * of which has n here. NULL: what all members bring is gathered, then it is local. */
    spmd_status (*joint)(struct operation *const ops[], int64_t n, struct group *group);
};

/* One along a dimension, or from one to another. */
struct operation spmd__operation_along(const struct operation_kind *kind, spmd_ctx *ctx,
                                       const spmd_block *in, const char *axes, int dim, int to_dim,
                                       spmd_tiling tiling, spmd_block *out);

spmd_status spmd__collective_run(struct operation *op);

/* What spmd_all_gather_shape and the like give; `out` is not looked at. */
spmd_status spmd__collective_shape(struct operation *op, spmd_shape *shape);

/* The parts of a run, for those that go another way. */

/* Local. Whether the arguments are right for a member of this group, which has `size`; NULL: the
 * members are instances of vmaps, or these as well as ranks. */
spmd_status spmd__collective_check(struct operation *op, const struct group *group, int64_t size);

/* Local. The same for who asks for a shape: `out` is not looked at, nor is memory. */
spmd_status spmd__collective_check_shape(struct operation *op, const struct group *group,
                                         int64_t size);

/* Local. Finds the group, of ranks alone, and checks. */
spmd_status spmd__collective_prepare(struct operation *op, struct group **group);

/* Where ranks are watched: tells what this one is about to do, and waits for the others where that
 * is checked. spmd__group_leave ends it. */
spmd_status spmd__collective_meet(const struct operation *op, struct group *group);

/* "psum over x of f32[3,?]", and what the kind adds: what the members compare. `phase` goes behind
 * the name. The axes are told as the caller wrote them or, where `group` is not NULL, in the one
 * way that does not depend on that. */
void spmd__collective_describe(const struct operation *op, const struct group *group,
                               const char *phase, struct text *text);

/* Whether `out` is a dense block of this type; `in` is dense. */
spmd_status spmd__collective_check_out(const struct operation *op, spmd_dtype dtype,
                                       spmd_shape shape);

/* Members' blocks must be equal but along free_dims. Whether inputs of the body are so is known
 * without asking. */
spmd_status spmd__collective_check_equal(const struct operation *op, const struct group *group);

/* Some collectives need groups of the same size. */
spmd_status spmd__collective_check_even(const struct operation *op, const struct group *group);

/* Resolves a dimension that may count from the end, of `ndim`. */
spmd_status spmd__collective_resolve_dim(const struct operation *op, int ndim, int *dim);

/* Of `local`: elements from `first` on of the result, the same for all that want it. */
void spmd__collective_give(struct operation *const ops[], int64_t n, int64_t first, int64_t count,
                           const void *elements);

/* Whether members' blocks may differ along dimension `dim` of `in`: where its place in the global
 * array is known. As a bit for free_dims. */
uint32_t spmd__collective_free_dim(const struct operation *op, int dim);

/* The extents of the members' blocks along such a dimension, in the arena: computed for inputs of
 * the body, else asked for; of others this block's. Group NULL: as for others. And those of members
 * that are all here. */
spmd_status spmd__collective_extents(const struct operation *op, const struct group *group,
                                     int64_t size, int dim, struct arena *arena, int64_t **extents);
spmd_status spmd__collective_local_extents(struct operation *const ops[], int64_t n, int dim,
                                           int64_t **extents);

/* The data of `in` to read while `out` is written: a copy where it is the same memory. And those
 * [n] of members that are all here. */
spmd_status spmd__collective_keep_input(const struct operation *op, struct arena *arena,
                                        const void **data);
spmd_status spmd__collective_keep_inputs(struct operation *const ops[], int64_t n,
                                         const void ***data);

#endif
