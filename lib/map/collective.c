/* map/collective.c - what all collectives on blocks begin with; and the plainest of them. */
#include "map/collective.h"
#include "core/block.h"

#include <string.h>

spmd_status spmd__collective_check_out(const char *call, const spmd_block *in,
                                       const spmd_block *out, spmd_dtype dtype, spmd_shape shape)
{
    if (!in || !out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s needs a block to read and one to write", call);
    if (!spmd__block_is_dense(in) || !spmd__block_is_dense(out))
        return spmd_fail(SPMD_ERR_SHAPE, "%s needs dense blocks, %s has strides", call,
                         spmd__block_is_dense(in) ? "out" : "its input");
    if (out->dtype == dtype && spmd_shape_equal(spmd_block_shape(out), shape))
        return SPMD_OK;
    char buffers[2][256];
    struct text want = spmd__text_begin(buffers[0], sizeof buffers[0]);
    struct text have = spmd__text_begin(buffers[1], sizeof buffers[1]);
    spmd__type_print(&want, dtype, shape);
    spmd__type_print(&have, out->dtype, spmd_block_shape(out));
    return spmd_fail(out->dtype == dtype ? SPMD_ERR_SHAPE : SPMD_ERR_DTYPE,
                     "%s gives a block %s here, but out is %s: declare it so", call, want.buffer,
                     have.buffer);
}

const spmd_sharding *spmd__collective_sharding(const spmd_ctx *ctx, const spmd_block *in)
{
    for (int k = 0; ctx->in_sharding && k < ctx->nin; k++)
        if (ctx->in[k] == in)
            return ctx->in_sharding[k];
    return NULL;
}

/* Collectives that work element by element need equal blocks. Whether inputs of the body are so is
 * known without asking. */
static spmd_status check_alike(const spmd_ctx *ctx, const char *call, const struct group *group,
                               const spmd_block *in)
{
    const spmd_sharding *sharding = spmd__collective_sharding(ctx, in);
    for (int d = 0; sharding && d < sharding->spec.ndim; d++) {
        struct axis_list entry = spmd__spec_entry(&sharding->spec, d);
        int64_t parts = spmd__axis_list_size(&sharding->mesh->axes, &entry);
        if (in->global[d] % parts != 0 && spmd__axis_lists_meet(&entry, &group->axes))
            return spmd_fail(
                SPMD_ERR_SHAPE,
                "%s needs equal blocks: %lld elements along dim %d of %d in %lld parts "
                "are not; pad them, or all_gather that dim first",
                call, (long long)in->global[d], d, in->ndim, (long long)parts);
    }
    return SPMD_OK;
}

spmd_status spmd__collective_begin(spmd_ctx *ctx, const char *call, const spmd_block *in,
                                   const char *axes, result_dtype *dtype, const spmd_block *out,
                                   struct group **group)
{
    TRY(spmd__ctx_group(ctx, axes, group));
    if (!in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s needs a block to read, it is NULL", call);
    TRY(spmd__collective_check_out(call, in, out, dtype ? dtype(in->dtype) : in->dtype,
                                   spmd_block_shape(in)));
    return check_alike(ctx, call, *group, in);
}

spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out)
{
    struct group *group;
    TRY(spmd__collective_begin(ctx, "pbroadcast", in, axes, NULL, out, &group));
    if (source < 0 || source >= group->size)
        return spmd_fail(SPMD_ERR_ARGUMENT, "pbroadcast from %lld: the group along %s has %lld",
                         (long long)source, axes, (long long)group->size);
    if (out->data != in->data)
        memcpy(out->data, in->data, spmd__block_bytes(in));
    return spmd__broadcast(group->comm, (int)source, out->data, (int64_t)spmd__block_bytes(out));
}

int64_t spmd_axis_index(const spmd_ctx *ctx, const char *axes)
{
    const spmd_mesh *mesh = ctx->mesh;
    struct axis_list list;
    if (!mesh || spmd__axis_list_parse(axes, &mesh->axes, &list) != SPMD_OK)
        return -1;
    return spmd__axis_list_index(&mesh->axes, &list, mesh->position);
}

int64_t spmd_axis_size(const spmd_ctx *ctx, const char *axes)
{
    const spmd_mesh *mesh = ctx->mesh;
    struct axis_list list;
    if (!mesh || spmd__axis_list_parse(axes, &mesh->axes, &list) != SPMD_OK)
        return -1;
    return spmd__axis_list_size(&mesh->axes, &list);
}
