/* array/stands.h - where the ranks of two meshes stand in each of them. No rank is asked. */
#ifndef ARRAY_STANDS_H
#define ARRAY_STANDS_H

#include "comm/mesh.h"

/* The positions of a rank, -1 in a mesh that it is not of. */
struct stand {
    int64_t from, to;
};

struct stands {
    const spmd_mesh *from, *to; /* borrowed */
    int *homes;    /* [positions of `to`] the same rank's position in `from`, -1 if it has none;
                      NULL: the same, as far as that goes */
    int64_t count; /* of ranks, numbered as in spmd_reshard_count */
};

/* Local. Fails with SPMD_ERR_MEMORY. */
spmd_status spmd__stands_open(const spmd_mesh *from, const spmd_mesh *to, struct stands *stands);
void spmd__stands_close(struct stands *stands);

/* Where a rank stands; and the reverse, -1 of one that is of neither mesh. */
struct stand spmd__stands_find(const struct stands *stands, int64_t rank);
int64_t spmd__stands_number(const struct stands *stands, struct stand stand);

/* Where this rank stands. */
struct stand spmd__stands_self(const struct stands *stands);

/* The position in `from` of the rank at a position of `to`, -1 if it has none. */
int64_t spmd__stands_home(const struct stands *stands, int64_t position);

#endif
