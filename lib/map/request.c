/* map/request.c - collectives in two phases: what _start begins and spmd_wait ends.
 *
 * Under SPMD_CHECK=1 a start must not wait for the other members, and what it would do is not to
 * begin before they have said that they do the same. So a start only records the operation. The
 * first wait, or collective that waits by itself, runs all that was started before it, in the order
 * of the starts, by the blocking way. Members start in the same order and may wait in any: so the
 * order of the starts is the one in which they meet. */
#include "map/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/mem.h"

spmd_status spmd__request_reserve(spmd_request *request, int count)
{
    void *pending;
    TRY(spmd__arena_take(&request->arena, (size_t)count * sizeof *request->pending, &pending));
    request->pending = pending;
    request->npending = count;
    for (int i = 0; i < count; i++)
        request->pending[i] = MPI_REQUEST_NULL;
    return SPMD_OK;
}

void spmd__request_pend(spmd_request *request, const struct pending *pending)
{
    request->npending = pending->count;
    request->pending = pending->request;
}

/* The place where the call of the body keeps requests to use again. */
static spmd_request **spare_of(spmd_ctx *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx->spare;
}

static void free_request(spmd_request *request)
{
    spmd__arena_free(&request->arena);
    free(request);
}

/* An empty request: one that was used before, or a new one. */
static spmd_status take_request(spmd_ctx *ctx, spmd_request **out)
{
    spmd_request **spare = spare_of(ctx), *request = *spare;
    if (request)
        *spare = request->next;
    else
        TRY(spmd__alloc(1, sizeof *request, &request));
    *request = (spmd_request){.arena = request->arena};
    *out = request;
    return SPMD_OK;
}

static void give_back(spmd_request *request)
{
    spmd_request **spare = spare_of(request->op.ctx);
    spmd__arena_reset(&request->arena, (struct arena_mark){0});
    request->next = *spare;
    *spare = request;
}

void spmd__requests_free(spmd_request **spare)
{
    while (*spare) {
        spmd_request *request = *spare;
        *spare = request->next;
        free_request(request);
    }
}

static spmd_status copy(spmd_request *request, const void *from, size_t bytes, const void **to)
{
    void *memory;
    TRY(spmd__arena_take(&request->arena, bytes, &memory));
    *to = memcpy(memory, from, bytes);
    return SPMD_OK;
}

static bool is_input(const spmd_ctx *ctx, const spmd_block *block)
{
    for (int k = 0; k < ctx->nin; k++)
        if (ctx->in[k] == block)
            return true;
    return false;
}

/* The caller's blocks, text and list may be gone before the wait, though not the data. Inputs of
 * the body stay, and are known by their address. */
static spmd_status keep_operation(spmd_request *request, const struct operation *op)
{
    const void *axes = NULL;
    request->op = *op;
    request->in = *op->in;
    request->out = *op->out;
    if (!is_input(op->ctx, op->in))
        request->op.in = &request->in;
    request->op.out = &request->out;
    if (op->list_bytes > 0)
        TRY(copy(request, op->list, op->list_bytes, &request->op.list));
    TRY(copy(request, op->axes, strlen(op->axes) + 1, &axes));
    request->op.axes = axes;
    return SPMD_OK;
}

static spmd_status begin(spmd_request *request, const struct operation *op)
{
    struct group *group = request->group;
    TRY(keep_operation(request, op));
    request->place = spmd__place();
    request->deferred = spmd__watch_checks(group->real->mesh->watch);
    if (request->deferred)
        return SPMD_OK;
    TRY(spmd__group_open(group));
    return op->kind->start(&request->op, group, request);
}

static void add_open(spmd_request *request)
{
    spmd_request **link = &request->op.ctx->open;
    while (*link)
        link = &(*link)->next;
    *link = request;
}

static void remove_open(spmd_request *request)
{
    spmd_request **link = &request->op.ctx->open;
    while (*link != request)
        link = &(*link)->next;
    *link = request->next;
}

spmd_status spmd__request_start(struct operation *op, spmd_request **out)
{
    struct group *group;
    spmd_request *request;
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s_start needs a place for its request, it is NULL",
                         op->kind->name);
    TRY(spmd__collective_prepare(op, &group));
    TRY(take_request(op->ctx, &request));
    request->op.ctx = op->ctx;
    request->group = group;
    spmd_status status = begin(request, op);
    if (status != SPMD_OK) {
        give_back(request);
        return status;
    }
    add_open(request);
    *out = request;
    return SPMD_OK;
}

/* What a failure in somebody else's wait is kept as, for the request's own. */
static void keep_failure(spmd_request *request)
{
    const char *message = spmd_error_message();
    const void *kept = NULL;
    if (copy(request, message, strlen(message) + 1, &kept) == SPMD_OK)
        request->message = (char *)kept;
}

static void run_deferred(spmd_request *request)
{
    struct place here = spmd__place();
    request->deferred = false;
    spmd__place_restore(request->place);
    request->status = spmd__collective_among(&request->op, request->group);
    spmd__place_restore(here);
    if (request->status != SPMD_OK)
        keep_failure(request);
}

/* Runs the deferred ones up to `last`; NULL: all of this body. */
static void catch_up(spmd_ctx *ctx, const spmd_request *last)
{
    if (ctx->outer)
        catch_up(ctx->outer, NULL);
    for (spmd_request *request = ctx->open; request; request = request->next) {
        if (request->deferred)
            run_deferred(request);
        if (request == last)
            return;
    }
}

void spmd__requests_catch_up(spmd_ctx *ctx)
{
    catch_up(ctx, NULL);
}

/* Waits until nothing is pending, and does what is left to do. */
static spmd_status end_pending(spmd_request *request)
{
    spmd_status status = spmd__mpi_status(
        MPI_Waitall(request->npending, request->pending, MPI_STATUSES_IGNORE), "MPI_Waitall");
    if (status == SPMD_OK && request->finish)
        status = request->finish(request);
    return status;
}

static spmd_status wait_for(spmd_request *request)
{
    if (spmd__watch_checks(request->group->real->mesh->watch)) {
        catch_up(request->op.ctx, request);
        if (request->status == SPMD_OK)
            return SPMD_OK;
        return spmd_fail(request->status, "%s", request->message ? request->message : "");
    }
    TRY(spmd__collective_meet(&request->op, request->group));
    spmd_status status = end_pending(request);
    spmd__group_leave(request->group);
    return status;
}

spmd_status spmd_wait(spmd_request **handle)
{
    spmd_request *request = *handle;
    *handle = NULL;
    if (!request)
        return SPMD_OK;
    spmd_status status = wait_for(request);
    remove_open(request);
    give_back(request);
    return status;
}

/* Ends all that is open, with what failed the body as the thread's last failure: should the others
 * never begin the same, it is what the run ends with. */
static void end_open(spmd_ctx *ctx)
{
    while (ctx->open) {
        spmd_request *request = ctx->open;
        int rank = request->group->real->mesh->rank;
        if (spmd__wait_or_abort(request->npending, request->pending, rank) == SPMD_OK &&
            request->finish)
            request->finish(request);
        remove_open(request);
        give_back(request);
    }
}

spmd_status spmd__requests_end(spmd_ctx *ctx, spmd_status status)
{
    char message[ERROR_MESSAGE_BYTES];
    if (!ctx->open)
        return status;
    if (status == SPMD_OK) {
        catch_up(ctx, NULL);
        status = spmd_fail(SPMD_ERR_BODY,
                           "%s_start over %s was never waited for: end it by spmd_wait before the "
                           "body returns",
                           ctx->open->op.kind->name, ctx->open->op.axes);
    }
    snprintf(message, sizeof message, "%s", spmd_error_message());
    end_open(ctx);
    return spmd_fail(status, "%s", message);
}
