/* core/cost.h - what moving data costs, and so which way it goes.
 *
 * A table of a few numbers has fixed defaults, measured on one node of two cores. Those of another
 * machine are read from a text, which `spmd bench --calibrate` writes:
 *
 *     # anything
 *     message_latency = 1.5e-6
 *     pool_from = inf             # never
 */
#ifndef CORE_COST_H
#define CORE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/copy.h"
#include "core/error.h"
#include "core/move.h"

/* The one list of costs: X(name, default, least value, what it is). */
#define COST_MAP(X)                                                                              \
    X(message_latency, 1e-6, 0, "seconds that a message takes, however short")                   \
    X(message_rate, 3.5e9, 1, "bytes per second of a reshard by messages")                       \
    X(collective_latency, 1e-6, 0, "seconds of one round of a collective of MPI")                \
    X(collective_rate, 2e9, 1, "bytes per second of a reshard by a collective of MPI")           \
    X(pool_from, 65536, 0, "bytes from which collectives of bodies read the members' blocks")    \
    X(readv_from, 32768, 0, "bytes of a peer's own memory from which they are read there")       \
    X(readv_run, 2048, 0, "... if its runs are, on the average, of so many bytes")               \
    X(stream_from, spmd__costs_half_cache(), 0,                                                  \
      "bytes written on a node from which stores go past the caches; half of the largest cache") \
    X(stream_all_from, 16, 0, "ranks writing on a node from which all of these do, and not half")

struct costs {
#define COST_FIELD(name, initial, least, meaning) double name;
    COST_MAP(COST_FIELD)
#undef COST_FIELD
};

struct costs spmd__costs_default(void);

/* Half of the largest cache of a core, which it may have in common with others, in bytes. */
double spmd__costs_half_cache(void);

/* Reads lines "name = value"; what is not named has its default. Fails with SPMD_ERR_SYNTAX. The
 * same from a file, which may fail with SPMD_ERR_FILE, too. */
spmd_status spmd__costs_parse(const char *text, struct costs *costs);
spmd_status spmd__costs_read(const char *path, struct costs *costs);

/* A move among ranks, an all-gather or an all-to-all. */
struct cost_move {
    enum move_kind kind;
    int64_t ranks;
    bool even;    /* all parts are of one size */
    double bytes; /* that the one who gets most gets from the others */
};

/* Seconds that it takes by messages between each two, and by MPI's collective for it. */
double spmd__cost_messages(const struct costs *costs, const struct cost_move *move);
double spmd__cost_collective(const struct costs *costs, const struct cost_move *move);

/* How so many ranks of a node write that many bytes together. */
enum stores spmd__cost_stores(const struct costs *costs, double bytes, int64_t ranks);

#endif
