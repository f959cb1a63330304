/* map/request.c - collectives in two phases: what _start begins and spmd_wait ends.
 *
 * Under SPMD_CHECK=1 a start tells the other members what it begins, and a wait looks whether all
 * have begun the same. By then data is on its way, into memory of the body: so a mistake that is
 * found there ends the run. */
#include "map/request.h"

#include <stdlib.h>
#include <string.h>

#include "comm/agree.h"
#include "comm/mpi.h"
#include "core/mem.h"
#include "map/vmap.h"

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
    TRY(spmd__arena_take(&request->arena, bytes, 1, &memory));
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

enum { WHAT_BYTES = 256 };

static void describe(const spmd_request *request, char what[WHAT_BYTES])
{
    struct text text = spmd__text_begin(what, WHAT_BYTES);
    spmd__collective_describe(&request->op, request->group, "_start", &text);
}

/* A group's first use waits for its members. */
static spmd_status open_together(struct group *group, const char *what)
{
    TRY(spmd__group_meet(group, what));
    spmd_status status = spmd__group_open(group);
    spmd__group_leave(group);
    return status;
}

static spmd_status announce(spmd_request *request, struct group *group)
{
    char what[WHAT_BYTES];
    if (!group->real->mesh->watch)
        return spmd__group_open(group);
    describe(request, what);
    if (group->real->comm == MPI_COMM_NULL)
        TRY(open_together(group, what));
    TRY(spmd__group_open(group));
    return spmd__group_announce(group, what, &request->number);
}

static spmd_status begin(spmd_request *request, const struct operation *op)
{
    TRY(keep_operation(request, op));
    TRY(spmd__vmap_check_counts(op->ctx, request->group));
    TRY(announce(request, request->group));
    TRY(op->kind->start(&request->op, request->group, request));
    *op->out = request->out; /* which may have been told its place */
    return SPMD_OK;
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
    if (spmd__vmap_binds(op->ctx, op->axes))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s_start over %s: over the axis of a vmap there is nothing to wait for, "
                         "call %s",
                         op->kind->name, op->axes, op->kind->name);
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

/* Waits until nothing is pending, and does what is left to do. */
static spmd_status end_pending(spmd_request *request)
{
    TRY(spmd__pending_wait(&request->pending));
    return request->finish ? request->finish(request) : SPMD_OK;
}

/* Where ranks are watched: this one waits from now on. */
static void await_others(const spmd_request *request)
{
    char what[WHAT_BYTES];
    if (!request->group->real->mesh->watch)
        return;
    describe(request, what);
    if (spmd__group_await(request->group, what, request->number) != SPMD_OK)
        spmd__abort_together();
}

static spmd_status wait_for(spmd_request *request)
{
    await_others(request);
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

/* Ends one with what failed the body as the thread's last failure: should the others never begin
 * the same, it is what the run ends with, unless they are checked and that can be proven. */
static void end_one(spmd_request *request)
{
    const spmd_mesh *mesh = request->group->real->mesh;
    if (spmd__watch_checks(mesh->watch) && spmd__watch_verdict(mesh->watch) == SPMD_OK)
        wait_for(request);
    else if (spmd__wait_or_abort(request->pending.count, request->pending.request, mesh->rank) ==
                 SPMD_OK &&
             request->finish)
        request->finish(request);
}

static void end_open(spmd_ctx *ctx)
{
    while (ctx->open) {
        spmd_request *request = ctx->open;
        end_one(request);
        remove_open(request);
        give_back(request);
    }
}

spmd_status spmd__requests_end(spmd_ctx *ctx, spmd_status status)
{
    struct kept_failure failure = {.status = SPMD_OK};
    if (!ctx->open)
        return status;
    if (status == SPMD_OK)
        status = spmd_fail(SPMD_ERR_BODY,
                           "%s_start over %s was never waited for: end it by spmd_wait before the "
                           "body returns",
                           ctx->open->op.kind->name, ctx->open->op.axes);
    spmd__error_keep(&failure, status);
    end_open(ctx);
    return spmd__error_again(&failure);
}
