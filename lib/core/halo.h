/* core/halo.h - who holds the border of a block, along one dimension. Arithmetic only.
 *
 * A dimension is split among members by the layout's rule, and lies on a line; if it is periodic,
 * on one that repeats: index -1 is the last element, held by the last member. On the line a border
 * is the next elements on one side of the member's range, be they of one neighbour, of several, or
 * of the member itself. Empty members hold nothing, have no border, and cost nothing.
 *
 *     struct halo_walk walk = spmd__halo_walk(&line, HALO_RECEIVE, HALO_LO);
 *     while (spmd__halo_next(&walk, &piece))
 *         ...
 */
#ifndef CORE_HALO_H
#define CORE_HALO_H

#include "core/axes.h"

/* One dimension of a block that is padded: `lo` elements, its range [begin, end), `hi` elements. */
struct halo_line {
    int nparts;
    int64_t parts[SPMD_MAX_AXES]; /* [nparts] what it is split into, one after the other */
    int64_t extent;               /* of the whole dimension */
    bool periodic;
    int64_t lo, hi;
    int64_t begin, end; /* of this member, not empty */
};

/* The range of member `index` of a line whose parts and extent are set. */
void spmd__halo_range(const struct halo_line *line, int64_t index, int64_t *begin, int64_t *end);

/* Which elements of the padded block there are at all: beyond the ends of a line that is not
 * periodic there is nothing. Counted from the first element of the border, as all that follows. */
void spmd__halo_filled(const struct halo_line *line, int64_t *lo, int64_t *hi);

/* A part of the padded block that one member sends, or gets. */
struct halo_piece {
    int64_t member;
    int64_t lo, hi;
    int64_t there; /* where a part that is received begins in the member's padded block */
};

/* Along the line, the nearest member first: what the border on `side` receives; or what others,
 * who are on the other side, receive in theirs on `side`. So the pieces from one member to another
 * come in the same order on both, those of HALO_LO before those of HALO_HI. */
enum halo_way { HALO_RECEIVE, HALO_SEND };
enum halo_side { HALO_LO, HALO_HI };
struct halo_walk {
    const struct halo_line *line;
    enum halo_way way;
    bool up;
    int64_t at;    /* how far it has come */
    int64_t until; /* it is over */
};
struct halo_walk spmd__halo_walk(const struct halo_line *line, enum halo_way way,
                                 enum halo_side side);
bool spmd__halo_next(struct halo_walk *walk, struct halo_piece *piece);

#endif
