/* array/exchange.c - moving parts of blocks between ranks.
 *
 * Between this rank and each peer there is a lane in each direction. Its parts go through it one
 * after the other, as messages of at most MESSAGE_BYTES: small parts travel together, large
 * ones in pieces. A message that is one dense piece is sent from, or received into, its place;
 * others are packed into a slot of the lane. Both sides know the extents of all parts, hence
 * cut the same messages, though one side may pack what the other does not.
 *
 * On a node, a rank that offers its block sends nothing: its peers read from it. Whether it lies
 * where they can is seen in its slot (comm/node.h), so a block that does not goes by messages. */
#include "array/exchange.h"

#include <stdlib.h>

#include "comm/mpi.h"
#include "core/copy.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/pool.h"

#define MESSAGE_BYTES ((int64_t)1 << 18)

/* Messages of a lane under way at a time: one is packed while another one travels. */
enum { DEPTH = 2 };

/* A part in the order of the lanes: by how far the peer stands after this rank, so that not all
 * ranks begin with the same peer; then as added. */
struct stop {
    int distance;
    const struct transfer *transfer;
};

/* The parts begin ... end - 1 of a lane; or, of a part that is cut, one piece. */
struct message {
    int begin;
    int end;
    int64_t piece;
    int64_t bytes;
};

struct lane {
    bool sending;
    bool near; /* the peer can read what it gets here, or be read by this rank */
    bool read; /* in this run: it is, so no messages go */
    int peer;
    char *base; /* what its parts are offsets from, in this run */
    int nparts;
    const struct stop *parts; /* [nparts] */
    int next_part;            /* where the next message begins */
    int64_t next_piece;
    struct message message[DEPTH]; /* under way */
    char *slot[DEPTH];             /* NULL where every message is dense */
};

struct staging {
    struct stop *sends;    /* [sends.count], those to this rank itself first */
    struct stop *receives; /* [receives.count] */
    int nown;              /* parts from this rank to itself */
    int nlanes;
    struct lane *lanes; /* [nlanes], receiving ones first */
    bool past_cache;    /* what comes is too much for the caches */
    char *slots;
    MPI_Request *requests; /* [nlanes * DEPTH] */
    int *done;             /* [nlanes * DEPTH] */
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

/* How a part is cut: a piece is one index in each dimension before `dim`, one of `cuts` ranges of
 * this one, and all of the later ones. dim -1: it is not cut. */
struct cutting {
    int dim;
    int64_t cuts;
    int64_t pieces;
};

static struct cutting cut_part(const struct view *part, size_t element)
{
    int dim = part->ndim - 1;
    int64_t bytes = (int64_t)element; /* of one index of dimension `dim` */
    while (dim >= 0 && bytes * part->extent[dim] <= MESSAGE_BYTES)
        bytes *= part->extent[dim--];
    if (dim < 0)
        return (struct cutting){-1, 1, 1};
    int64_t each = MESSAGE_BYTES / bytes;
    struct cutting cutting = {.dim = dim, .cuts = (part->extent[dim] + each - 1) / each};
    cutting.pieces = cutting.cuts;
    for (int d = 0; d < dim; d++)
        cutting.pieces *= part->extent[d];
    return cutting;
}

static struct view piece_of(const struct view *part, const struct cutting *cutting, int64_t index)
{
    struct view piece = *part;
    if (cutting->dim < 0)
        return piece;
    int64_t lo = 0, hi = part->extent[cutting->dim];
    spmd__layout_split(cutting->cuts, index % cutting->cuts, &lo, &hi);
    piece.extent[cutting->dim] = hi - lo;
    piece.data += lo * part->stride[cutting->dim];
    index /= cutting->cuts;
    for (int d = cutting->dim - 1; d >= 0; d--) {
        piece.extent[d] = 1;
        piece.data += index % part->extent[d] * part->stride[d];
        index /= part->extent[d];
    }
    return piece;
}

/* A part where it lies. */
static struct view placed(const struct view *part, char *base)
{
    struct view view = *part;
    view.data = base + (intptr_t)part->data;
    return view;
}

static const struct view *part_of(const struct lane *lane, int index)
{
    return &lane->parts[index].transfer->part;
}

static int64_t bytes_of(const struct view *view, size_t element)
{
    return spmd__view_size(view) * (int64_t)element;
}

/* Takes the next message of a lane that has one. */
static struct message take_message(struct lane *lane, size_t element)
{
    struct cutting cutting = cut_part(part_of(lane, lane->next_part), element);
    struct message message = {.begin = lane->next_part, .end = lane->next_part + 1};
    struct view first = piece_of(part_of(lane, message.begin), &cutting, lane->next_piece);
    message.piece = lane->next_piece;
    message.bytes = bytes_of(&first, element);
    if (cutting.pieces > 1) {
        if (++lane->next_piece < cutting.pieces)
            return message;
        lane->next_piece = 0;
    } else {
        for (; message.end < lane->nparts; message.end++) {
            int64_t bytes = bytes_of(part_of(lane, message.end), element);
            if (message.bytes + bytes > MESSAGE_BYTES)
                break;
            message.bytes += bytes;
        }
    }
    lane->next_part = message.end;
    return message;
}

/* What a message has of the part `index`. */
static struct view message_part(const struct lane *lane, const struct message *message, int index,
                                size_t element)
{
    struct view part = placed(part_of(lane, index), lane->base);
    struct cutting cutting = cut_part(&part, element);
    return piece_of(&part, &cutting, message->piece);
}

/* The place of a message that needs no packing, else NULL. */
static char *in_place(const struct lane *lane, const struct message *message, size_t element)
{
    struct view only = message_part(lane, message, message->begin, element);
    bool dense = message->end == message->begin + 1 && spmd__view_is_dense(&only, element);
    return dense ? only.data : NULL;
}

/* Copies a message from its places to `packed`, or from there to its places. */
static void copy_message(const struct lane *lane, const struct message *message, char *packed,
                         size_t element)
{
    for (int i = message->begin; i < message->end; i++) {
        struct view part = message_part(lane, message, i, element);
        spmd_shape extents = spmd_shape_make(part.ndim, part.extent);
        struct view dense = spmd__view_dense(packed, element, extents);
        spmd__view_copy(lane->sending ? &dense : &part, lane->sending ? &part : &dense, element);
        packed += bytes_of(&part, element);
    }
}

/* Sends or receives the next message of a lane, if there is one, by its free slot. */
static spmd_status post(const struct exchange *exchange, struct lane *lane, int slot,
                        MPI_Request *request)
{
    if (lane->next_part == lane->nparts)
        return SPMD_OK;
    struct message message = take_message(lane, exchange->element);
    char *data = in_place(lane, &message, exchange->element);
    lane->message[slot] = message;
    if (!data) {
        data = lane->slot[slot];
        if (lane->sending)
            copy_message(lane, &message, data, exchange->element);
    }
    if (lane->sending)
        TRY_MPI(MPI_Isend(data, (int)message.bytes, MPI_BYTE, lane->peer, TAG_EXCHANGE,
                          exchange->comm, request));
    else
        TRY_MPI(MPI_Irecv(data, (int)message.bytes, MPI_BYTE, lane->peer, TAG_EXCHANGE,
                          exchange->comm, request));
    return SPMD_OK;
}

/* A message has arrived, or has left its slot. */
static void finish(const struct exchange *exchange, struct lane *lane, int slot)
{
    const struct message *message = &lane->message[slot];
    if (!lane->sending && !in_place(lane, message, exchange->element))
        copy_message(lane, message, lane->slot[slot], exchange->element);
}

/* The first messages of a lane. */
static spmd_status open_lane(const struct exchange *exchange, int index)
{
    const struct staging *staging = exchange->staging;
    struct lane *lane = &staging->lanes[index];
    lane->next_part = 0;
    lane->next_piece = 0;
    lane->base = lane->sending ? exchange->from : exchange->to;
    for (int slot = 0; slot < DEPTH; slot++)
        TRY(post(exchange, lane, slot, &staging->requests[index * DEPTH + slot]));
    return SPMD_OK;
}

/* Opens the lanes of which it is known that messages go. */
static spmd_status open_lanes(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    bool offered = exchange->offered && spmd__pool_offset(exchange->from) >= 0;
    for (int i = 0; i < staging->nlanes; i++) {
        struct lane *lane = &staging->lanes[i];
        lane->read = lane->near && lane->sending && offered;
        if (!lane->near || (lane->sending && !lane->read))
            TRY(open_lane(exchange, i));
    }
    return SPMD_OK;
}

/* Copies a part from where it lies, here or in another rank's block, to its place. */
static void copy_part(const struct exchange *exchange, const struct view *to, struct view from)
{
    struct view target = placed(to, exchange->to);
    if (exchange->staging->past_cache)
        spmd__view_copy_past_cache(&target, &from, exchange->element);
    else
        spmd__view_copy(&target, &from, exchange->element);
}

static void copy_own(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nown; i++)
        copy_part(exchange, &staging->receives[i].transfer->part,
                  placed(&staging->sends[i].transfer->part, exchange->from));
}

/* The same within one block: the one part that this rank gets. */
static void compact_own(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nown; i++) {
        struct view to = placed(&staging->receives[i].transfer->part, exchange->to);
        struct view from = placed(&staging->sends[i].transfer->part, exchange->from);
        spmd__view_compact(&to, &from, exchange->element);
    }
}

bool spmd__exchange_is_own(const struct exchange *exchange)
{
    return exchange->receives.count == 0 ||
           (exchange->receives.count == 1 && exchange->staging->nown == 1);
}

static void read_lane(const struct exchange *exchange, const struct lane *lane, const void *block)
{
    for (int i = 0; i < lane->nparts; i++) {
        const struct transfer *transfer = lane->parts[i].transfer;
        copy_part(exchange, &transfer->part, placed(&transfer->there, (char *)block));
    }
}

/* Reads the blocks of near ranks; those that are not in the pool come by messages after all. */
static spmd_status read_near(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nlanes; i++) {
        struct lane *lane = &staging->lanes[i];
        const void *block;
        if (!lane->near || lane->sending)
            continue;
        TRY(spmd__node_await(exchange->node, lane->peer, &block));
        lane->read = block != NULL;
        if (block)
            read_lane(exchange, lane, block);
        else
            TRY(open_lane(exchange, i));
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

static spmd_status run_lanes(const struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    int count = staging->nlanes * DEPTH;
    for (;;) {
        int ndone;
        TRY_MPI(MPI_Waitsome(count, staging->requests, &ndone, staging->done, MPI_STATUSES_IGNORE));
        if (ndone == MPI_UNDEFINED)
            return SPMD_OK;
        for (int i = 0; i < ndone; i++) {
            struct lane *lane = &staging->lanes[staging->done[i] / DEPTH];
            int slot = staging->done[i] % DEPTH;
            finish(exchange, lane, slot);
            TRY(post(exchange, lane, slot, &staging->requests[staging->done[i]]));
        }
    }
}

spmd_status spmd__exchange_run(struct exchange *exchange)
{
    const struct staging *staging = exchange->staging;
    for (int i = 0; i < staging->nlanes * DEPTH; i++)
        staging->requests[i] = MPI_REQUEST_NULL;
    if (exchange->node)
        spmd__node_offer(exchange->node, exchange->offered ? exchange->from : NULL);
    bool within = exchange->from == exchange->to;
    TRY(open_lanes(exchange));
    if (!within)
        copy_own(exchange);
    if (exchange->node)
        TRY(read_near(exchange));
    TRY(run_lanes(exchange));
    if (exchange->node)
        TRY(await_readers(exchange));
    if (within)
        compact_own(exchange);
    return SPMD_OK;
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
        if (stops[i].distance != 0)
            staging->lanes[staging->nlanes++] =
                (struct lane){.sending = sending,
                              .near = shown && spmd__node_has(exchange->node, first->peer),
                              .peer = first->peer,
                              .nparts = n,
                              .parts = stops + i};
    }
}

/* Bytes of a slot of a lane; 0 where all messages are in place. */
static int64_t slot_bytes(const struct lane *lane, size_t element)
{
    int64_t bytes = 0;
    if (lane->nparts == 1 && spmd__view_is_dense(part_of(lane, 0), element))
        return 0;
    for (int i = 0; i < lane->nparts && bytes < MESSAGE_BYTES; i++)
        bytes += bytes_of(part_of(lane, i), element);
    bytes = bytes < MESSAGE_BYTES ? bytes : MESSAGE_BYTES;
    return (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
}

int64_t spmd__exchange_slots(const struct view *part, size_t element)
{
    struct transfer transfer = {.part = *part};
    struct stop stop = {.transfer = &transfer};
    struct lane lane = {.nparts = 1, .parts = &stop};
    return DEPTH * slot_bytes(&lane, element);
}

static spmd_status alloc_slots(struct staging *staging, size_t element)
{
    int64_t bytes = 0;
    for (int i = 0; i < staging->nlanes; i++)
        bytes += DEPTH * slot_bytes(&staging->lanes[i], element);
    void *slots;
    TRY(spmd__alloc_block((size_t)bytes, &slots));
    staging->slots = slots;
    char *at = slots;
    for (int i = 0; i < staging->nlanes; i++)
        for (int slot = 0; slot < DEPTH; slot++) {
            staging->lanes[i].slot[slot] = at;
            at += slot_bytes(&staging->lanes[i], element);
        }
    return SPMD_OK;
}

/* Whether what the ranks of the node receive is too much for their common cache. */
static bool is_past_cache(const struct exchange *exchange)
{
    int64_t bytes = 0;
    for (int i = 0; i < exchange->receives.count; i++)
        bytes += bytes_of(&exchange->receives.list[i].part, exchange->element);
    return (double)bytes * spmd__node_size(exchange->node) > exchange->costs->stream_from;
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
    add_lanes(exchange, false, staging->receives, nreceives);
    add_lanes(exchange, true, staging->sends, nsends);
    staging->past_cache = is_past_cache(exchange);
    size_t requests = (size_t)staging->nlanes * DEPTH;
    TRY(spmd__alloc(requests, sizeof *staging->requests, &staging->requests));
    TRY(spmd__alloc(requests, sizeof *staging->done, &staging->done));
    return alloc_slots(staging, exchange->element);
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
