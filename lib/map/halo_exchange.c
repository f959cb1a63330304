/* map/halo_exchange.c - borders on their way.
 *
 * Waiting for it, a dimension goes after the other, the last one first, and takes along what the
 * ones before have filled: so corners come around the corner, with two messages a dimension, and
 * whole rows go at the end, from where they lie. In two phases there is nobody to go on with the
 * next dimension while the body computes: all of the border comes directly from who holds it,
 * corners in messages of their own, and nothing is left for the end but to unpack.
 *
 * Both cut a block into rectangles, by the pieces of one dimension or of all. Who receives and who
 * sends find the same rectangles between them in the same order. */
#include "comm/parcels.h"
#include "core/view.h"
#include "map/halo.h"
#include "map/request.h"

/* A rectangle between two ranks; or within one, if the line comes back to it. */
struct message {
    struct message *next;
    int rank;
    struct view view;   /* in the padded block */
    struct view source; /* of one within this rank: where it is copied from */
    bool packed;
    char *data; /* where MPI reads or writes: in the padded block, or packed */
    int64_t bytes;
};

struct message_list {
    struct message *first, *last;
    int64_t count;
};

struct exchange {
    const struct halo_plan *plan;
    struct view view; /* the padded block */
    spmd_box whole;
    size_t element;
    struct arena *arena;
    MPI_Comm comm;
    uint32_t cut; /* the dimensions whose borders move, as bits */
    struct message_list receives, sends, copies;
};

/* A part of the padded block, where it lies in the padded block of the other member, and who that
 * is. */
struct rectangle {
    spmd_box here, there;
    int64_t member;
    int borders; /* dimensions in which it is a border's; 0: the interior, which does not move */
};

static spmd_status add(struct exchange *exchange, struct message_list *list,
                       const struct rectangle *rectangle)
{
    struct message *message;
    TRY(spmd__arena_take(exchange->arena, 1, sizeof *message, &message));
    message->next = NULL;
    message->rank = (int)rectangle->member;
    message->view = spmd__view_part(&exchange->view, &exchange->whole, &rectangle->here);
    message->bytes = spmd__view_size(&message->view) * (int64_t)exchange->element;
    if (list == &exchange->copies) {
        message->source = spmd__view_part(&exchange->view, &exchange->whole, &rectangle->there);
    } else {
        message->packed = !spmd__view_is_dense(&message->view, exchange->element);
        message->data = message->view.data;
        if (message->packed)
            TRY(spmd__arena_take(exchange->arena, (size_t)message->bytes, 1, &message->data));
    }
    if (list->last)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
    list->count++;
    return SPMD_OK;
}

static spmd_status add_rectangle(struct exchange *exchange, enum halo_way way,
                                 const struct rectangle *rectangle)
{
    if (rectangle->borders == 0)
        return SPMD_OK;
    if (way == HALO_SEND)
        return rectangle->member == exchange->plan->member
                   ? SPMD_OK
                   : add(exchange, &exchange->sends, rectangle);
    return add(exchange,
               rectangle->member == exchange->plan->member ? &exchange->copies
                                                           : &exchange->receives,
               rectangle);
}

static spmd_status cut(struct exchange *exchange, enum halo_way way, int dim,
                       struct rectangle *rectangle);

/* The pieces of one border, each with all that the further dimensions make of it. */
static spmd_status cut_border(struct exchange *exchange, enum halo_way way, enum halo_side side,
                              int dim, const struct rectangle *whole)
{
    const struct halo_dim *along = &exchange->plan->dim[dim];
    struct halo_walk walk = spmd__halo_walk(&along->line, way, side);
    struct halo_piece piece;
    while (spmd__halo_next(&walk, &piece)) {
        struct rectangle part = *whole;
        part.borders++;
        part.member += (piece.member - along->index) * along->stride;
        part.here.lo[dim] = piece.lo;
        part.here.hi[dim] = piece.hi;
        part.there.lo[dim] = piece.there;
        part.there.hi[dim] = piece.there + piece.hi - piece.lo;
        TRY(cut(exchange, way, dim + 1, &part));
    }
    return SPMD_OK;
}

/* Cuts a rectangle of the padded block along the dimensions from `dim` on: what it is there, and
 * the borders beside it. */
static spmd_status cut(struct exchange *exchange, enum halo_way way, int dim,
                       struct rectangle *rectangle)
{
    if (dim == exchange->plan->ndim)
        return add_rectangle(exchange, way, rectangle);
    TRY(cut(exchange, way, dim + 1, rectangle));
    if (!(exchange->cut >> dim & 1))
        return SPMD_OK;
    TRY(cut_border(exchange, way, HALO_LO, dim, rectangle));
    return cut_border(exchange, way, HALO_HI, dim, rectangle);
}

/* Lists what moves along the dimensions of `dims`, of all that `box` has in the others. */
static spmd_status list_messages(struct exchange *exchange, uint32_t dims, const spmd_box *box)
{
    struct rectangle rectangle = {.here = *box, .there = *box, .member = exchange->plan->member};
    exchange->cut = dims;
    exchange->receives = exchange->sends = exchange->copies = (struct message_list){NULL, NULL, 0};
    TRY(cut(exchange, HALO_RECEIVE, 0, &rectangle));
    return cut(exchange, HALO_SEND, 0, &rectangle);
}

/* What a message packs, as it lies between. */
static struct view packed_view(const struct exchange *exchange, const struct message *message)
{
    spmd_shape shape = spmd_shape_make(message->view.ndim, message->view.extent);
    return spmd__view_dense(message->data, exchange->element, shape);
}

static void pack(const struct exchange *exchange)
{
    for (const struct message *m = exchange->sends.first; m; m = m->next)
        if (m->packed) {
            struct view to = packed_view(exchange, m);
            spmd__view_copy(&to, &m->view, exchange->element);
        }
}

static void unpack(const struct exchange *exchange)
{
    for (const struct message *m = exchange->receives.first; m; m = m->next)
        if (m->packed) {
            struct view from = packed_view(exchange, m);
            spmd__view_copy(&m->view, &from, exchange->element);
        }
}

static spmd_status make_parcels(const struct exchange *exchange, const struct message_list *list,
                                struct parcel **parcels)
{
    TRY(spmd__arena_take(exchange->arena, (size_t)list->count, sizeof **parcels, parcels));
    struct parcel *parcel = *parcels;
    for (const struct message *m = list->first; m; m = m->next)
        *parcel++ = (struct parcel){m->rank, m->data, m->bytes};
    return SPMD_OK;
}

/* Begins all that is listed; what stays on this rank is done when it returns. */
static spmd_status begin(const struct exchange *exchange, struct pending *pending)
{
    struct parcel *sends, *receives;
    pack(exchange);
    TRY(make_parcels(exchange, &exchange->sends, &sends));
    TRY(make_parcels(exchange, &exchange->receives, &receives));
    TRY(spmd__parcels_move(exchange->comm, exchange->sends.count, sends, exchange->receives.count,
                           receives, exchange->arena, pending));
    for (const struct message *m = exchange->copies.first; m; m = m->next)
        spmd__view_copy(&m->view, &m->source, exchange->element);
    return SPMD_OK;
}

static struct exchange make_exchange(const struct operation *op, struct group *group,
                                     struct arena *arena)
{
    return (struct exchange){.plan = op->list,
                             .view = spmd__view_block(op->out),
                             .whole = spmd_box_whole(spmd_block_shape(op->out)),
                             .element = spmd_dtype_size(op->out->dtype),
                             .arena = arena,
                             .comm = group->comm};
}

/* Moves the borders of dimension `dim` of the part `box` of the padded blocks. */
static spmd_status exchange_dim(struct exchange *exchange, int dim, const spmd_box *box)
{
    struct pending pending;
    TRY(list_messages(exchange, UINT32_C(1) << dim, box));
    TRY(begin(exchange, &pending));
    TRY(spmd__pending_wait(&pending));
    unpack(exchange);
    return SPMD_OK;
}

spmd_status spmd__halo_run(struct operation *op, struct group *group)
{
    const struct halo_plan *plan = op->list;
    if (plan->empty || !plan->bordered)
        return SPMD_OK;
    struct exchange exchange = make_exchange(op, group, op->ctx->arena);
    spmd_box box = plan->interior;
    for (int d = plan->ndim - 1; d >= 0; d--) {
        if (!(plan->bordered >> d & 1))
            continue;
        struct arena_mark mark = spmd__arena_mark(exchange.arena);
        TRY(exchange_dim(&exchange, d, &box));
        spmd__arena_reset(exchange.arena, mark);
        box.lo[d] = plan->filled.lo[d];
        box.hi[d] = plan->filled.hi[d];
    }
    return SPMD_OK;
}

static spmd_status finish(spmd_request *request)
{
    unpack(request->state);
    return SPMD_OK;
}

spmd_status spmd__halo_start(struct operation *op, struct group *group, spmd_request *request)
{
    const struct halo_plan *plan = op->list;
    if (plan->empty || !plan->bordered)
        return SPMD_OK;
    struct exchange *exchange;
    TRY(spmd__arena_take(&request->arena, 1, sizeof *exchange, &exchange));
    request->state = exchange;
    *exchange = make_exchange(op, group, &request->arena);
    TRY(list_messages(exchange, plan->bordered, &plan->interior));
    request->finish = finish;
    return begin(exchange, &request->pending);
}
