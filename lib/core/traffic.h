/* core/traffic.h - how much a reshard between two layouts of one mesh moves; in elements. */
#ifndef CORE_TRAFFIC_H
#define CORE_TRAFFIC_H

#include "core/route.h"

/* Of one position, or of all. Sums over many positions may exceed 64 bits, so they are floating;
 * they are exact below 2^53. */
struct traffic {
    double kept; /* by positions that had it already */
    double received;
    double sent;
};

/* Of one position. */
struct traffic spmd__traffic_of(const struct route *route, int64_t position);

/* Of all positions together, and the most that one of them receives: core/census.h. False where
 * that cannot be told. */
bool spmd__traffic_total(const struct route *route, struct traffic *total, double *most_received);

#endif
