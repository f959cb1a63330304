/* map/pbroadcast.c - one member's block in everybody's. */
#include <string.h>

#include "core/block.h"
#include "map/collective.h"

static spmd_status check(struct operation *op, const struct group *group, int64_t size)
{
    if (op->source < 0 || op->source >= size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "pbroadcast from %lld: the group along %s has %lld",
                         (long long)op->source, op->axes, (long long)size);
    TRY(spmd__collective_check_out(op, op->in->dtype, spmd_block_shape(op->in)));
    return spmd__collective_check_equal(op, group);
}

static void describe(const struct operation *op, struct text *text)
{
    spmd__text_add(text, " from %lld", (long long)op->source);
}

static spmd_status run(struct operation *op, struct group *group)
{
    if (op->out->data != op->in->data)
        memcpy(op->out->data, op->in->data, spmd__block_bytes(op->in));
    return spmd__broadcast(group->comm, (int)op->source, op->out->data,
                           (int64_t)spmd__block_bytes(op->out));
}

static const struct operation_kind pbroadcast = {
    .name = "pbroadcast", .check = check, .describe = describe, .run = run};

spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out)
{
    struct operation op = {
        .kind = &pbroadcast, .ctx = ctx, .in = in, .out = out, .axes = axes, .source = source};
    return spmd__collective_run(&op);
}
