/* core/cost.c - what moving data costs: defaults, and the arithmetic on them. */
#include "core/cost.h"

#include <math.h>
#include <unistd.h>

double spmd__costs_half_cache(void)
{
    static long cache; /* asking may take longer than making a mesh */
    if (cache == 0)
        cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0) /* it is not known */
        cache = 1 << 25;
    return (double)cache / 2;
}

struct costs spmd__costs_default(void)
{
    return (struct costs){
#define COST_DEFAULT(name, initial, least, meaning) .name = initial,
        COST_MAP(COST_DEFAULT)
#undef COST_DEFAULT
    };
}

/* Rounds in which everybody has heard of everybody: each one doubles who has. */
static double rounds(int64_t ranks)
{
    int count = 0;
    while (count < 62 && (int64_t)1 << count < ranks)
        count++;
    return count;
}

double spmd__cost_messages(const struct costs *costs, const struct cost_move *move)
{
    return (double)(move->ranks - 1) * costs->message_latency + move->bytes / costs->message_rate;
}

double spmd__cost_collective(const struct costs *costs, const struct cost_move *move)
{
    double seconds = move->bytes / costs->collective_rate, steps = rounds(move->ranks);
    double quick = steps * costs->collective_latency;
    if (move->kind == MOVE_ALL_GATHER)
        return quick + seconds;
    /* Each part goes by itself; or, if all are alike, in each of few rounds half of all travels on
     * (Bruck's algorithm). */
    double plain = (double)(move->ranks - 1) * costs->collective_latency + seconds;
    return move->even ? fmin(plain, quick + seconds * fmax(steps / 2, 1)) : plain;
}

enum stores spmd__cost_stores(const struct costs *costs, double bytes, int64_t ranks)
{
    if (bytes <= costs->stream_from)
        return STORES_CACHED;
    return (double)ranks < costs->stream_all_from ? STORES_MIXED : STORES_PAST_CACHE;
}
