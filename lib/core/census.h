/* core/census.h - what all positions keep and receive in a reshard, without asking each of them.
 *
 * Coordinates are chosen axis by axis. Those next to each other that leave the ranges of both
 * layouts alike, but for a shift of both, are taken as one; and where the ranges of a dimension do
 * not meet, whatever is chosen next, nobody looks further. So an all-to-all costs a few looks, and
 * a transposition of 256 x 256 blocks some thousands, not 65,536. */
#ifndef CORE_CENSUS_H
#define CORE_CENSUS_H

#include "core/route.h"

struct census {
    int64_t visits;       /* states that were looked at */
    double kept;          /* elements, by all positions that have them already */
    double most_received; /* by one position */
};

/* Of a route on one mesh. False where that would take too many visits. */
bool spmd__census_take(const struct route *route, struct census *census);

#endif
