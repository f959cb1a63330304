/* array/reshard_collective.h - the move of a reshard as one of MPI's collectives.
 *
 * Among many ranks that cannot read each other, MPI gathers and swaps small parts in fewer messages
 * than one between each two:
 *
 *     spmd__reshard_collective_open(...)                     decides, and finds the ranks
 *     spmd__reshard_collective_prepare(&way, &exchange)      in place of spmd__exchange_prepare
 *     spmd__reshard_collective_run(&way, &exchange)          and of spmd__exchange_run
 *     spmd__reshard_collective_free(&way)
 */
#ifndef ARRAY_RESHARD_COLLECTIVE_H
#define ARRAY_RESHARD_COLLECTIVE_H

#include "array/exchange.h"
#include "comm/mesh.h"
#include "core/arena.h"
#include "core/move.h"

/* What goes to each member of the group, or comes from it. */
struct reshard_parts {
    const struct transfer **part; /* [members] NULL: nothing */
    int64_t *bytes;               /* [members] */
    char *packed;                 /* one part after the other; NULL: they lie so in the block, */
    int64_t offset;               /* from here on */
};

struct reshard_collective {
    struct group *group; /* NULL: the move goes another way */
    enum move_kind kind;
    bool even;     /* all parts are of one size */
    int64_t total; /* bytes that all members get, or more */
    struct reshard_parts sends, receives;
    struct arena arena;
};

/* A move on one mesh, as all its ranks know it. */
struct reshard_move {
    spmd_mesh *mesh;
    struct node *node; /* of the mesh */
    const struct move *what;
    const struct spec *from, *to;
    spmd_shape shape;
    size_t element;
};

/* Collective over the mesh. Whether it is better done so, by arithmetic on what all ranks know:
 * then collective->group is the group to do it. */
spmd_status spmd__reshard_collective_open(const struct reshard_move *move,
                                          struct reshard_collective *collective);

/* Local. Takes what moves from the exchange's lists, which it needs as long as it runs. */
spmd_status spmd__reshard_collective_prepare(struct reshard_collective *collective,
                                             const struct exchange *exchange);

/* Bytes of memory that hold parts one after the other, of those that do not lie so. */
int64_t spmd__reshard_collective_packed(const struct reshard_collective *collective);

/* Collective over the group. */
spmd_status spmd__reshard_collective_run(struct reshard_collective *collective,
                                         const struct exchange *exchange);

void spmd__reshard_collective_free(struct reshard_collective *collective);

#endif
