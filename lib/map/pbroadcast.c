/* map/pbroadcast.c - one member's block in everybody's. */
#include <string.h>

#include "core/absent.h"
#include "core/block.h"
#include "map/collective.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    if (op->source < 0 || op->source >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "pbroadcast over %s: %s", op->axes,
                         spmd__absent("member", op->source, 0, size).text);
    TRY(spmd__collective_check_out(op, op->in->dtype, spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, " from %lld", (long long)op->source);
}

/* The source sends from where it reads, so that nobody waits for its own copy. */
static spmd_status run(struct operation *op, struct group *group)
{
    size_t bytes = spmd__block_bytes(op->in);
    if (group->index != op->source)
        return spmd__broadcast(group->comm, (int)op->source, op->out->data, (int64_t)bytes);
    void *data = op->in->data; /* read only */
    TRY(spmd__broadcast(group->comm, (int)op->source, data, (int64_t)bytes));
    if (op->out->data != data && bytes > 0)
        memcpy(op->out->data, data, bytes);
    return SPMD_OK;
}

static spmd_status local(struct operation *const ops[], int64_t n)
{
    const spmd_block *from = ops[ops[0]->source]->in;
    size_t bytes = spmd__block_bytes(from);
    for (int64_t k = 0; k < n && bytes > 0; k++)
        if (ops[k]->out && ops[k]->out->data != from->data)
            memcpy(ops[k]->out->data, from->data, bytes);
    return SPMD_OK;
}

static const struct operation_kind pbroadcast = {
    .name = "pbroadcast", .check = check, .describe = describe, .run = run, .local = local};

spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out)
{
    struct operation op = {
        .kind = &pbroadcast, .ctx = ctx, .in = in, .out = out, .axes = axes, .source = source};
    return spmd__collective_run(&op);
}
