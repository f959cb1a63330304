/* map/parts.h - a dense block as parts along a dimension, one for each member of a group.
 *
 * Where parts travel they stand one after the other, each dense. They do so in the block itself if
 * nothing stands before the dimension; else they are packed, and unpacked. */
#ifndef MAP_PARTS_H
#define MAP_PARTS_H

#include "core/arena.h"
#include "core/view.h"
#include "map/collective.h"

struct parts {
    spmd_shape shape; /* of the block */
    size_t element;
    int dim;
    bool thin;      /* of an untiled collective: a part is one index, and goes without dim */
    int64_t count;  /* of parts */
    int64_t *first; /* [count + 1] part k is first[k] to first[k + 1] along dim */
};

/* Takes parts of `extent` [count] along the dimension; NULL: all 1. shape.dim[dim] is set to their
 * sum. */
spmd_status spmd__parts_take(struct arena *arena, struct parts *parts, const int64_t extent[]);

/* The extents [size] of the parts that an extent is split into for a group's members, as the
 * layout's rule says for the group's axes one after the other; for a part of such a group, or for
 * the instances of a vmap (group NULL), for the members at once. */
void spmd__parts_split(const struct group *group, int64_t size, int64_t extent, int64_t extents[]);

/* The extent of one of them. */
int64_t spmd__parts_split_one(const struct group *group, int64_t size, int64_t extent,
                              int64_t index);

/* Bytes of one index along a dimension of such a block; 0 also where they do not fit in 63 bits,
 * which happens where there is no index. */
int64_t spmd__parts_slab(spmd_shape shape, int dim, size_t element);

/* Tells a block that is part `index` of `whole` its place in it. Only parts of different extents
 * need one: where members' blocks may differ, their extents have to be asked for. */
void spmd__parts_place(const struct parts *parts, const spmd_block *whole, int64_t index,
                       spmd_block *part);

int64_t spmd__parts_bytes(const struct parts *parts, int64_t index);
bool spmd__parts_in_order(const struct parts *parts);
struct view spmd__parts_view(const struct parts *parts, void *data, int64_t index);

/* The bytes [count] of all parts. */
spmd_status spmd__parts_all_bytes(const struct parts *parts, struct arena *arena, int64_t **bytes);

/* Where the parts that come are to stand one after the other: in `data`, the block, if they do so
 * there, else in the arena. */
spmd_status spmd__parts_room(const struct parts *parts, struct arena *arena, void *data,
                             void **packed);

void spmd__parts_pack(const struct parts *parts, const void *data, void *packed);

/* From there to the block; nothing is left to do where it is the block itself. */
void spmd__parts_unpack(const struct parts *parts, const void *packed, void *data);

#endif
