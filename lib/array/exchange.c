/* array/exchange.c - moving parts of blocks between ranks.
 *
 * Between this rank and each peer there is a lane in each direction (array/lane.h). On a node, a
 * rank that offers its block may not have to send: its peers read from it (comm/node.h). Which of
 * them do is seen on both sides from where the block lies and what the lane has; the others get
 * messages. */
#include "array/exchange.h"

#include <stdlib.h>

#include "array/lane.h"
#include "comm/mpi.h"
#include "core/mem.h"
#include "core/pool.h"

struct staging {
    struct stop *sends;    /* [sends.count], those to this rank itself first */
    struct stop *receives; /* [receives.count] */
    int nown;              /* parts from this rank to itself */
    int nlanes;
    struct lane *lanes; /* [nlanes], receiving ones first */
    enum stores stores; /* of what comes */
    char *slots;
    MPI_Request *requests; /* [nlanes * LANE_DEPTH] */
    int *done;             /* [nlanes * LANE_DEPTH] */
};

static spmd_status add(struct transfers *transfers, const struct transfer *transfer)
{
    if (spmd__view_size(&transfer->part) == 0)
        return SPMD_OK;
    if (transfers->count == transfers->room) {
        int room = transfers->room ? transfers->room * 2 : 16;
        void *list = realloc(transfers->list, (size_t)room * sizeof *transfers->list);
        if (!list)
            return spmd_fail(SPMD_ERR_MEMORY, "no memory for a list of %d transfers", room);
        transfers->list = list;
        transfers->room = room;
    }
    transfers->list[transfers->count++] = *transfer;
    return SPMD_OK;
}

spmd_status spmd__exchange_send(struct exchange *exchange, int peer, struct view part)
{
    return add(&exchange->sends, &(struct transfer){.peer = peer, .part = part});
}

spmd_status spmd__exchange_receive(struct exchange *exchange, int peer, struct view part)
{
    return add(&exchange->receives, &(struct transfer){.peer = peer, .part = part});
}

spmd_status spmd__exchange_read(struct exchange *exchange, int peer, struct view part,
                                struct view there)
{
    return add(&exchange->receives, &(struct transfer){peer, part, true, there});
}

static int64_t bytes_of(const struct exchange *exchange, const struct transfer *transfer)
{
    return spmd__view_size(&transfer->part) * (int64_t)exchange->element;
}

/* The first messages of a lane. */
static spmd_status post_first(const struct exchange *exchange, int index)
{
    const struct staging *staging = exchange->staging;
    for (int slot = 0; slot < LANE_DEPTH; slot++)
        TRY(spmd__lane_post(&staging->lanes[index], slot, exchange->comm,
                            &staging->requests[index * LANE_DEPTH + slot]));
    return SPMD_OK;
}

/* Begins all lanes, with those messages of which it is known that they go. */
static spmd_status begin_lanes(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    bool in_pool = spmd__pool_offset(exchange->from) >= 0;
    for (int i = 0; i < staging->nlanes; i++) {
        struct lane *lane = &staging->lanes[i];
        spmd__lane_begin(lane, lane->sending ? exchange->from : exchange->to);
        if (lane->near && lane->sending)
            lane->way = spmd__node_way(exchange->node, in_pool, lane->bytes, lane->runs);
        if (lane->way == WAY_MESSAGES && (lane->sending || !lane->near))
            TRY(post_first(exchange, i));
    }
    return SPMD_OK;
}

/* Whether what goes to `to` is there already. */
static bool is_in_place(const struct view *to, const struct view *from)
{
    bool same = to->data == from->data;
    for (int d = 0; d < to->ndim; d++)
        same = same && (to->extent[d] == 1 || to->stride[d] == from->stride[d]);
    return same;
}

/* Copies what this rank has for itself; `within` one block it is one part at most. */
static void copy_own(const struct exchange *exchange, bool within)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nown; i++) {
        struct view to = spmd__view_at(&staging->receives[i].transfer->part, exchange->to);
        struct view from = spmd__view_at(&staging->sends[i].transfer->part, exchange->from);
        if (is_in_place(&to, &from))
            continue;
        if (within)
            spmd__view_compact(&to, &from, exchange->element);
        else
            spmd__view_copy_by(&to, &from, exchange->element, staging->stores);
    }
}

bool spmd__exchange_is_own(const struct exchange *exchange)
{
    return exchange->receives.count == 0 ||
           (exchange->receives.count == 1 && exchange->staging->nown == 1);
}

/* Reads the blocks of near ranks; those that are not to be read come by messages after all. */
static spmd_status read_near(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nlanes; i++) {
        struct lane *lane = &staging->lanes[i];
        struct shown shown;
        if (!lane->near || lane->sending)
            continue;
        TRY(spmd__node_await(exchange->node, lane->peer, &shown));
        lane->way = spmd__node_way(exchange->node, shown.mapped, lane->bytes, lane->runs);
        if (lane->way == WAY_MESSAGES)
            TRY(post_first(exchange, i));
        else
            spmd__lane_read(lane, &shown);
    }
    spmd__node_finish(exchange->node);
    return SPMD_OK;
}

/* Until near ranks have read what they get from here, or have seen that it comes by messages. */
static spmd_status await_readers(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nlanes; i++)
        if (staging->lanes[i].sending && staging->lanes[i].near)
            TRY(spmd__node_await_reader(exchange->node, staging->lanes[i].peer));
    return SPMD_OK;
}

static spmd_status pass_messages(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    int count = staging->nlanes * LANE_DEPTH;
    for (;;) {
        int ndone;
        TRY_MPI(MPI_Waitsome(count, staging->requests, &ndone, staging->done, MPI_STATUSES_IGNORE));
        if (ndone == MPI_UNDEFINED)
            return SPMD_OK;
        for (int i = 0; i < ndone; i++) {
            struct lane *lane = &staging->lanes[staging->done[i] / LANE_DEPTH];
            int slot = staging->done[i] % LANE_DEPTH;
            spmd__lane_finish(lane, slot);
            TRY(spmd__lane_post(lane, slot, exchange->comm, &staging->requests[staging->done[i]]));
        }
    }
}

spmd_status spmd__exchange_run(struct exchange *exchange)
{
    struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nlanes * LANE_DEPTH; i++)
        staging->requests[i] = MPI_REQUEST_NULL;
    if (exchange->node)
        spmd__node_offer(exchange->node, exchange->offered ? exchange->from : NULL, NULL);
    bool within = exchange->from && exchange->from == exchange->to;
    TRY(begin_lanes(exchange));
    if (!within)
        copy_own(exchange, false);
    if (exchange->node)
        TRY(read_near(exchange));
    TRY(pass_messages(exchange));
    if (exchange->node)
        TRY(await_readers(exchange));
    if (within)
        copy_own(exchange, true);
    return SPMD_OK;
}

struct moved spmd__exchange_moved(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    struct moved moved = {0};
    for (int i = 0; i < staging->nlanes; i++) {
        const struct lane *lane = &staging->lanes[i];
        if (!lane->sending)
            *(lane->way == WAY_POOL    ? &moved.pool
              : lane->way == WAY_READV ? &moved.readv
                                       : &moved.messages) += lane->bytes;
    }
    return moved;
}

static int compare_stops(const void *left, const void *right)
{
    const struct stop *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->transfer < b->transfer ? -1 : a->transfer > b->transfer;
}

static spmd_status sort_stops(const struct transfers *transfers, int rank, int size,
                              struct stop **out)
{
    struct stop *stops;
    TRY(spmd__alloc((size_t)transfers->count, sizeof *stops, &stops));
    for (int i = 0; i < transfers->count; i++) {
        const struct transfer *transfer = &transfers->list[i];
        stops[i] = (struct stop){(transfer->peer - rank + size) % size, transfer};
    }
    qsort(stops, (size_t)transfers->count, sizeof *stops, compare_stops);
    *out = stops;
    return SPMD_OK;
}

/* Counts the parts that stand at the same distance as the first of `stops`. */
static int count_alike(const struct stop *stops, int count)
{
    int alike = 0;
    while (alike < count && stops[alike].distance == stops[0].distance)
        alike++;
    return alike;
}

/* Makes a lane for each peer of `stops`, after those that are there. */
static void add_lanes(const struct exchange *exchange, bool sending, const struct stop *stops,
                      int count)
{
    struct staging *staging = exchange->staging;
    for (int i = 0, n; i < count; i += n) {
        n = count_alike(stops + i, count - i);
        const struct transfer *first = stops[i].transfer;
        bool shown = sending ? exchange->offered : first->readable;
        bool near = shown && spmd__node_has(exchange->node, first->peer);
        if (stops[i].distance == 0)
            continue;
        struct lane *lane = &staging->lanes[staging->nlanes++];
        *lane = spmd__lane_make(sending, near, exchange->element, stops + i, n);
        lane->stores = staging->stores;
    }
}

static spmd_status alloc_slots(struct staging *staging)
{
    int64_t bytes = 0;
    for (int i = 0; i < staging->nlanes; i++)
        bytes += LANE_DEPTH * spmd__lane_slot_bytes(&staging->lanes[i]);
    void *slots;
    TRY(spmd__alloc_block((size_t)bytes, &slots));
    staging->slots = slots;
    char *at = slots;
    for (int i = 0; i < staging->nlanes; i++)
        for (int slot = 0; slot < LANE_DEPTH; slot++) {
            staging->lanes[i].slot[slot] = at;
            at += spmd__lane_slot_bytes(&staging->lanes[i]);
        }
    return SPMD_OK;
}

/* By what the ranks of the node receive. */
static enum stores choose_stores(const struct exchange *exchange)
{
    int64_t bytes = 0;
    for (int i = 0; i < exchange->receives.count; i++)
        bytes += bytes_of(exchange, &exchange->receives.list[i]);
    int ranks = spmd__node_size(exchange->node);
    return spmd__cost_stores(exchange->costs, (double)bytes * ranks, ranks);
}

spmd_status spmd__exchange_prepare(struct exchange *exchange)
{
    int rank, size, nsends = exchange->sends.count, nreceives = exchange->receives.count;
    struct staging *staging;
    TRY_MPI(MPI_Comm_rank(exchange->comm, &rank));
    TRY_MPI(MPI_Comm_size(exchange->comm, &size));
    TRY(spmd__alloc(1, sizeof *staging, &staging));
    exchange->staging = staging;
    TRY(sort_stops(&exchange->sends, rank, size, &staging->sends));
    TRY(sort_stops(&exchange->receives, rank, size, &staging->receives));
    if (nsends > 0 && staging->sends[0].distance == 0)
        staging->nown = count_alike(staging->sends, nsends);
    TRY(spmd__alloc((size_t)nsends + (size_t)nreceives, sizeof *staging->lanes, &staging->lanes));
    staging->stores = choose_stores(exchange);
    add_lanes(exchange, false, staging->receives, nreceives);
    add_lanes(exchange, true, staging->sends, nsends);
    size_t requests = (size_t)staging->nlanes * LANE_DEPTH;
    TRY(spmd__alloc(requests, sizeof *staging->requests, &staging->requests));
    TRY(spmd__alloc(requests, sizeof *staging->done, &staging->done));
    return alloc_slots(staging);
}

void spmd__exchange_free(struct exchange *exchange)
{
    struct staging *staging = exchange->staging;
    if (staging) {
        free(staging->sends);
        free(staging->receives);
        free(staging->lanes);
        free(staging->slots);
        free(staging->requests);
        free(staging->done);
        free(staging);
    }
    free(exchange->sends.list);
    free(exchange->receives.list);
    *exchange = (struct exchange){.comm = MPI_COMM_NULL};
}
