/* array/account.c - what one rank does with a reshard's plan is counted, and given to a form. */
#include "array/account.h"

#include <errno.h>

#include "array/lane.h"
#include "comm/mpi.h"
#include "core/absent.h"
#include "core/stream.h"

/* What this rank's own lists say of the move. Each peer has one part. */
static spmd_status count_transfers(const struct exchange *exchange, struct flow *flow)
{
    int rank;
    struct flow counted = {0};
    const struct transfers *receives = &exchange->receives, *sends = &exchange->sends;
    TRY_MPI(MPI_Comm_rank(exchange->comm, &rank));
    for (int i = 0; i < receives->count; i++) {
        const struct view *part = &receives->list[i].part;
        int64_t bytes = spmd__view_size(part) * (int64_t)exchange->element;
        bool own = receives->list[i].peer == rank;
        *(own ? &counted.kept : &counted.received) += bytes;
        counted.sources += own ? 0 : 1;
        counted.slots += own ? 0 : spmd__lane_slots(part, exchange->element);
    }
    for (int i = 0; i < sends->count; i++) {
        const struct view *part = &sends->list[i].part;
        if (sends->list[i].peer == rank)
            continue;
        counted.sent += spmd__view_size(part) * (int64_t)exchange->element;
        counted.targets++;
        counted.slots += spmd__lane_slots(part, exchange->element);
    }
    *flow = counted;
    return SPMD_OK;
}

static bool is_move(enum move_kind kind)
{
    return kind != MOVE_NOTHING && kind != MOVE_FILL && kind != MOVE_ALL_REDUCE &&
           kind != MOVE_REDUCE_SCATTER;
}

/* What this rank itself moves. */
static spmd_status count_own_move(const spmd_reshard_call *plan, struct flow *flow)
{
    TRY(count_transfers(&plan->exchange, flow));
    if (plan->collective.group)
        flow->slots = spmd__reshard_collective_packed(&plan->collective);
    return SPMD_OK;
}

static spmd_status count_step(struct account *account, int index)
{
    const struct forecast *forecast = &account->forecast;
    bool takes_part = account->self && account->rank >= 0;
    return takes_part && is_move(forecast->step[index].move.kind)
               ? count_own_move(forecast->plan, &account->flow[index])
               : spmd__forecast_flow(forecast, index, account->stand, &account->flow[index]);
}

static spmd_status count_memory(struct account *account)
{
    struct memory *memory = &account->memory;
    *memory = spmd__forecast_memory(&account->forecast, account->stand);
    for (int i = 0; i < account->forecast.count; i++)
        TRY(spmd__forecast_add(&memory->slots, account->flow[i].slots));
    const int64_t amounts[] = {memory->source, memory->target, memory->packed, memory->values,
                               memory->slots};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        TRY(spmd__forecast_add(&account->peak, amounts[i]));
    return SPMD_OK;
}

/* Step by step, then all steps together. */
static spmd_status count(struct account *account)
{
    for (int i = 0; i < account->forecast.count; i++) {
        TRY(count_step(account, i));
        TRY(spmd__forecast_add(&account->received, account->flow[i].received));
        TRY(spmd__forecast_add(&account->sent, account->flow[i].sent));
    }
    return count_memory(account);
}

static void find_ways(struct account *account)
{
    const spmd_reshard_call *plan = account->forecast.plan;
    account->ran = account->self && plan->ran;
    account->by_collective = account->ran && plan->collective.group;
    if (account->ran && !account->by_collective)
        account->moved = spmd__exchange_moved(&plan->exchange);
}

/* Finds the rank that is meant. */
static spmd_status find_rank(struct account *account, int64_t position)
{
    const struct forecast *forecast = &account->forecast;
    account->self = position == SPMD_SELF && !forecast->plan->from->mesh->abstract;
    if (account->self) {
        account->stand = spmd__stands_self(&forecast->stands);
        account->rank = spmd__stands_number(&forecast->stands, account->stand);
        return SPMD_OK;
    }
    if (position == SPMD_SELF)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "no rank of an abstract mesh is this one: name a position, 0 to %lld",
                         (long long)forecast->stands.count - 1);
    if (position < 0 || position >= forecast->stands.count)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s",
                         spmd__absent("position", position, 0, forecast->stands.count).text);
    account->rank = position;
    account->stand = spmd__stands_find(&forecast->stands, position);
    return SPMD_OK;
}

static spmd_status begin(const spmd_reshard_call *plan, int64_t position, struct account *account)
{
    *account = (struct account){.self = false};
    if (!plan)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the plan to explain is NULL");
    TRY(spmd__forecast_begin(plan, &account->forecast));
    TRY(find_rank(account, position));
    find_ways(account);
    return count(account);
}

static void end(struct account *account)
{
    spmd__forecast_end(&account->forecast);
}

const char *spmd__account_noun(const struct account *account)
{
    return account->forecast.plan->from->mesh->ranks ? "position" : "rank";
}

/* The last step that brings values to the target. */
static const struct flow *bringing_flow(const struct account *account)
{
    const struct forecast *forecast = &account->forecast;
    int last = forecast->count - 1;
    bool fills = forecast->step[last].move.kind == MOVE_FILL;
    return &account->flow[fills && last > 0 ? last - 1 : last];
}

int64_t spmd__account_by_collective(const struct account *account)
{
    return account->by_collective ? bringing_flow(account)->received : 0;
}

spmd_status spmd_reshard_count(const spmd_reshard_call *plan, int64_t position,
                               spmd_reshard_bytes *bytes)
{
    struct account account;
    if (!bytes)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: there is no place for the count, it is NULL");
    spmd_status status = begin(plan, position, &account);
    if (status == SPMD_OK)
        *bytes = (spmd_reshard_bytes){bringing_flow(&account)->kept, account.received, account.sent,
                                      account.peak};
    end(&account);
    return status;
}

static void add_up(struct account *account)
{
    for (int i = 0; i < account->forecast.count; i++)
        account->added_up[i] = spmd__forecast_total(&account->forecast, i, &account->total[i]);
}

static spmd_status show(const spmd_reshard_call *plan, int64_t position, FILE *stream,
                        account_form *form)
{
    struct account account;
    if (!stream)
        return spmd_fail(SPMD_ERR_ARGUMENT, "reshard: the stream to explain to is NULL");
    spmd_status status = begin(plan, position, &account);
    errno = 0;
    if (status == SPMD_OK) {
        add_up(&account);
        form(&account, stream);
        status = spmd__stream_finish(stream, "the plan of a reshard");
    }
    end(&account);
    return status;
}

spmd_status spmd_reshard_explain(const spmd_reshard_call *plan, int64_t position, FILE *stream)
{
    return show(plan, position, stream, spmd__account_print);
}

spmd_status spmd_reshard_explain_json(const spmd_reshard_call *plan, int64_t position, FILE *stream)
{
    return show(plan, position, stream, spmd__account_print_json);
}
