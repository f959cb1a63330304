/* map/halo_exchange.c - borders on their way.
 *
 * Waiting for it, a dimension goes after the other, the last one first, and takes along what the
 * ones before have filled: so corners come around the corner, with two messages a dimension, and
 * whole rows go at the end, from where they lie. In two phases there is nobody to go on with the
 * next dimension while the body computes: all of the border comes directly from who holds it,
 * corners in messages of their own, and nothing is left for the end but to unpack.
 *
 * Both cut a block into rectangles, by the pieces of one dimension or of all. Who receives and who
 * sends find the same rectangles between them in the same order, so one tag is enough. */
#include "comm/mpi.h"
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
    int nrequests; /* that MPI will give */
};

/* A part of the padded block, where it lies in the padded block of the other member, and who that
 * is. */
struct rectangle {
    spmd_box here, there;
    int64_t member;
    int borders; /* dimensions in which it is a border's; 0: the interior, which does not move */
};

static int pieces_of(int64_t bytes)
{
    return (int)((bytes + MPI_PIECE_BYTES - 1) / MPI_PIECE_BYTES);
}

static spmd_status add(struct exchange *exchange, struct message_list *list,
                       const struct rectangle *rectangle)
{
    void *memory;
    TRY(spmd__arena_take(exchange->arena, sizeof(struct message), &memory));
    struct message *message = memory;
    message->next = NULL;
    message->rank = (int)rectangle->member;
    message->view = spmd__view_part(&exchange->view, &exchange->whole, &rectangle->here);
    message->bytes = spmd__view_size(&message->view) * (int64_t)exchange->element;
    if (list == &exchange->copies) {
        message->source = spmd__view_part(&exchange->view, &exchange->whole, &rectangle->there);
    } else {
        message->packed = !spmd__view_is_dense(&message->view, exchange->element);
        message->data = message->view.data;
        if (message->packed) {
            TRY(spmd__arena_take(exchange->arena, (size_t)message->bytes, &memory));
            message->data = memory;
        }
        exchange->nrequests += pieces_of(message->bytes);
    }
    if (list->last)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
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
    exchange->receives = exchange->sends = exchange->copies = (struct message_list){NULL, NULL};
    exchange->nrequests = 0;
    TRY(cut(exchange, HALO_RECEIVE, 0, &rectangle));
    return cut(exchange, HALO_SEND, 0, &rectangle);
}

/* Begins a message in the pieces that MPI can count; `next` is where its requests go. */
static spmd_status post_message(const struct exchange *exchange, enum halo_way way,
                                const struct message *message, MPI_Request **next)
{
    for (int64_t at = 0; at < message->bytes; at += MPI_PIECE_BYTES) {
        int64_t left = message->bytes - at;
        int count = (int)(left < MPI_PIECE_BYTES ? left : MPI_PIECE_BYTES);
        if (way == HALO_SEND)
            TRY_MPI(MPI_Isend(message->data + at, count, MPI_BYTE, message->rank, TAG_HALO,
                              exchange->comm, (*next)++));
        else
            TRY_MPI(MPI_Irecv(message->data + at, count, MPI_BYTE, message->rank, TAG_HALO,
                              exchange->comm, (*next)++));
    }
    return SPMD_OK;
}

/* What a message packs, as it lies between. */
static struct view packed_view(const struct exchange *exchange, const struct message *message)
{
    spmd_shape shape = spmd_shape_make(message->view.ndim, message->view.extent);
    return spmd__view_dense(message->data, exchange->element, shape);
}

/* Begins all that is listed; what stays on this rank is done when it returns. `requests` is
 * [nrequests]. */
static spmd_status post(const struct exchange *exchange, MPI_Request requests[])
{
    for (const struct message *m = exchange->receives.first; m; m = m->next)
        TRY(post_message(exchange, HALO_RECEIVE, m, &requests));
    for (const struct message *m = exchange->sends.first; m; m = m->next) {
        if (m->packed) {
            struct view to = packed_view(exchange, m);
            spmd__view_copy(&to, &m->view, exchange->element);
        }
        TRY(post_message(exchange, HALO_SEND, m, &requests));
    }
    for (const struct message *m = exchange->copies.first; m; m = m->next)
        spmd__view_copy(&m->view, &m->source, exchange->element);
    return SPMD_OK;
}

static void unpack(const struct exchange *exchange)
{
    for (const struct message *m = exchange->receives.first; m; m = m->next)
        if (m->packed) {
            struct view from = packed_view(exchange, m);
            spmd__view_copy(&m->view, &from, exchange->element);
        }
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
    void *requests;
    TRY(list_messages(exchange, UINT32_C(1) << dim, box));
    TRY(spmd__arena_take(exchange->arena, (size_t)exchange->nrequests * sizeof(MPI_Request),
                         &requests));
    TRY(post(exchange, requests));
    TRY_MPI(MPI_Waitall(exchange->nrequests, requests, MPI_STATUSES_IGNORE));
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
    TRY(spmd__arena_take(&request->arena, sizeof(struct exchange), &request->state));
    struct exchange *exchange = request->state;
    *exchange = make_exchange(op, group, &request->arena);
    TRY(list_messages(exchange, plan->bordered, &plan->interior));
    TRY(spmd__request_reserve(request, exchange->nrequests));
    request->finish = finish;
    return post(exchange, request->pending);
}
