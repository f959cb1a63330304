/* array/lane.c - what goes from one rank to another in an exchange, cut into messages.
 *
 * The parts of a lane go one after the other, as messages of at most MESSAGE_BYTES: small parts
 * travel together, large ones in pieces. A message that is one dense piece is sent from, or
 * received into, its place; others are packed into a slot of the lane. Both sides know the extents
 * of all parts, hence cut the same messages, though one side may pack what the other does not. */
#include "array/lane.h"

#include "comm/mpi.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/runs.h"

#define MESSAGE_BYTES ((int64_t)1 << 18)

static const struct view *part_of(const struct lane *lane, int index)
{
    return &lane->parts[index].transfer->part;
}

static int64_t bytes_of(const struct lane *lane, const struct view *view)
{
    return spmd__view_size(view) * (int64_t)lane->element;
}

/* A part in the sender's block. */
static const struct view *source_of(const struct lane *lane, int index)
{
    const struct transfer *transfer = lane->parts[index].transfer;
    return lane->sending ? &transfer->part : &transfer->there;
}

static int64_t count_runs(const struct lane *lane, const struct view *view)
{
    struct runs runs = spmd__runs_of(view, view, lane->element);
    return spmd__runs_count(&runs);
}

/* Shorter runs are copied once more in less time than the system takes for each. */
enum { LEAST_RUN = 1 << 11 };

struct lane spmd__lane_make(bool sending, bool near, size_t element, const struct stop *parts,
                            int nparts)
{
    struct lane lane = {.sending = sending,
                        .near = near,
                        .way = WAY_MESSAGES,
                        .peer = parts[0].transfer->peer,
                        .element = element,
                        .nparts = nparts,
                        .parts = parts};
    int64_t own_runs = 0;
    for (int i = 0; i < nparts; i++) {
        lane.bytes += bytes_of(&lane, part_of(&lane, i));
        own_runs += count_runs(&lane, part_of(&lane, i));
        lane.runs += near ? count_runs(&lane, source_of(&lane, i)) : 0;
    }
    lane.scattered = lane.bytes < own_runs * LEAST_RUN;
    return lane;
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

/* Takes the next message of a lane that has one. */
static struct message take_message(struct lane *lane)
{
    struct cutting cutting = cut_part(part_of(lane, lane->next_part), lane->element);
    struct message message = {.begin = lane->next_part, .end = lane->next_part + 1};
    struct view first = piece_of(part_of(lane, message.begin), &cutting, lane->next_piece);
    message.piece = lane->next_piece;
    message.bytes = bytes_of(lane, &first);
    if (cutting.pieces > 1) {
        if (++lane->next_piece < cutting.pieces)
            return message;
        lane->next_piece = 0;
    } else {
        for (; message.end < lane->nparts; message.end++) {
            int64_t bytes = bytes_of(lane, part_of(lane, message.end));
            if (message.bytes + bytes > MESSAGE_BYTES)
                break;
            message.bytes += bytes;
        }
    }
    lane->next_part = message.end;
    return message;
}

/* What a message has of one of its parts, as this lies here or on the other side. */
static struct view message_part(const struct lane *lane, const struct message *message,
                                const struct view *part, const char *base)
{
    struct view whole = spmd__view_at(part, base);
    struct cutting cutting = cut_part(&whole, lane->element);
    return piece_of(&whole, &cutting, message->piece);
}

/* The same of part number `index`, here. */
static struct view own_part(const struct lane *lane, const struct message *message, int index)
{
    return message_part(lane, message, part_of(lane, index), lane->base);
}

/* The place of a message that needs no packing, else NULL. */
static char *in_place(const struct lane *lane, const struct message *message)
{
    struct view only = own_part(lane, message, message->begin);
    bool dense = message->end == message->begin + 1 && spmd__view_is_dense(&only, lane->element);
    return dense ? only.data : NULL;
}

static void copy(const struct lane *lane, const struct view *to, const struct view *from)
{
    spmd__view_copy_by(to, from, lane->element, lane->stores);
}

static void pack(const struct lane *lane, const struct message *message, char *packed)
{
    for (int i = message->begin; i < message->end; i++) {
        struct view part = own_part(lane, message, i);
        packed = spmd__view_pack(&part, packed, lane->element);
    }
}

static void unpack(const struct lane *lane, const struct message *message, char *packed)
{
    for (int i = message->begin; i < message->end; i++) {
        struct view part = own_part(lane, message, i);
        struct view dense = spmd__view_like(&part, packed, lane->element);
        copy(lane, &part, &dense);
        packed += bytes_of(lane, &part);
    }
}

/* A slot for messages of so many bytes together. */
static int64_t slot_bytes(int64_t bytes)
{
    bytes = bytes < MESSAGE_BYTES ? bytes : MESSAGE_BYTES;
    return (bytes + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
}

int64_t spmd__lane_slot_bytes(const struct lane *lane)
{
    bool in_place = lane->nparts == 1 && spmd__view_is_dense(part_of(lane, 0), lane->element);
    return in_place ? 0 : slot_bytes(lane->bytes);
}

int64_t spmd__lane_slots(const struct view *part, size_t element)
{
    bool in_place = spmd__view_is_dense(part, element);
    return in_place ? 0 : LANE_DEPTH * slot_bytes(spmd__view_size(part) * (int64_t)element);
}

void spmd__lane_begin(struct lane *lane, char *base)
{
    lane->next_part = 0;
    lane->next_piece = 0;
    lane->base = base;
}

spmd_status spmd__lane_post(struct lane *lane, int slot, MPI_Comm comm, MPI_Request *request)
{
    if (lane->next_part == lane->nparts)
        return SPMD_OK;
    struct message message = take_message(lane);
    char *data = in_place(lane, &message);
    lane->message[slot] = message;
    if (!data) {
        data = lane->slot[slot];
        if (lane->sending)
            pack(lane, &message, data);
    }
    if (lane->sending)
        TRY_MPI(
            MPI_Isend(data, (int)message.bytes, MPI_BYTE, lane->peer, TAG_EXCHANGE, comm, request));
    else
        TRY_MPI(
            MPI_Irecv(data, (int)message.bytes, MPI_BYTE, lane->peer, TAG_EXCHANGE, comm, request));
    return SPMD_OK;
}

void spmd__lane_finish(struct lane *lane, int slot)
{
    const struct message *message = &lane->message[slot];
    if (!lane->sending && !in_place(lane, message))
        unpack(lane, message, lane->slot[slot]);
}

/* Reads a message that the peer does not send. */
static void fetch_message(const struct lane *lane, const struct message *message,
                          const struct shown *shown)
{
    char *place = in_place(lane, message), *packed = place ? place : lane->slot[0];
    for (int i = message->begin; i < message->end; i++) {
        struct view part = message_part(lane, message, source_of(lane, i), shown->address);
        struct view dense = spmd__view_like(&part, packed, lane->element);
        spmd__node_fetch(shown, &dense, &part, lane->element);
        packed += bytes_of(lane, &part);
    }
    if (!place)
        unpack(lane, message, lane->slot[0]);
}

void spmd__lane_read(struct lane *lane, const struct shown *shown)
{
    bool reads = lane->way == WAY_READV;
    if (reads && lane->scattered) {
        while (lane->next_part < lane->nparts) {
            struct message message = take_message(lane);
            fetch_message(lane, &message, shown);
        }
        return;
    }
    for (int i = 0; i < lane->nparts; i++) {
        struct view to = spmd__view_at(part_of(lane, i), lane->base);
        struct view from =
            spmd__view_at(source_of(lane, i), reads ? shown->address : shown->mapped);
        if (reads)
            spmd__node_fetch(shown, &to, &from, lane->element);
        else
            copy(lane, &to, &from);
    }
}
