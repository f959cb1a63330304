/* map/ctx.c - what a body sees of its call: inputs, outputs, scratch memory, its place. */
#include "map/ctx.h"

#include <string.h>

#include "comm/mesh.h"
#include "core/absent.h"
#include "core/mem.h"
#include "core/shape.h"
#include "core/tell.h"
#include "map/request.h"
#include "map/vmap.h"

void *spmd__ctx_report(spmd_ctx *ctx, spmd_status status)
{
    if (ctx->mesh)
        spmd__tell_error("rank %d: %s", ctx->mesh->rank, spmd_error_message());
    else
        spmd__tell_error("%s", spmd_error_message());
    spmd__error_keep(&ctx->failure, status);
    return NULL;
}

/* Whether a call, spmd_in or spmd_in_array, names an input. */
static spmd_status check_input(const spmd_ctx *ctx, const char *call, int index)
{
    if (index < 0 || index >= ctx->nin)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s(ctx, %d): in this %s %s", call, index,
                         ctx->kind->name, spmd__absent("input", index, 0, ctx->nin).text);
    return SPMD_OK;
}

static spmd_status check_output(const spmd_ctx *ctx, const char *call, int index)
{
    if (index < 0 || index >= ctx->nout)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s(ctx, %d, ...): in this %s %s", call, index,
                         ctx->kind->name, spmd__absent("output", index, 0, ctx->nout).text);
    return SPMD_OK;
}

const spmd_block *spmd_in(spmd_ctx *ctx, int index)
{
    spmd_status status = check_input(ctx, "spmd_in", index);
    return status == SPMD_OK ? ctx->in[index] : spmd__ctx_report(ctx, status);
}

/* A block that has a type and no memory yet, and whose place in a global array is not known. */
static spmd_block block_of_type(spmd_dtype dtype, spmd_shape shape)
{
    spmd_block block = spmd_block_borrow(NULL, dtype, shape);
    for (int d = 0; d < shape.ndim; d++)
        block.global[d] = -1;
    return block;
}

static spmd_status declare(spmd_ctx *ctx, int index, spmd_dtype dtype, spmd_shape shape, bool unset)
{
    TRY(check_output(ctx, "spmd_out", index));
    struct output *output = &ctx->out[index];
    if (output->declared) {
        if (output->array || output->block.dtype != dtype ||
            !spmd_shape_equal(spmd_block_shape(&output->block), shape))
            return spmd_fail(SPMD_ERR_SHAPE,
                             "spmd_out(ctx, %d, ...): declared a second time, as another %s", index,
                             output->array ? "thing: spmd_out_array gave an array" : "type");
        return SPMD_OK;
    }
    int64_t bytes;
    TRY(spmd__type_check(dtype, shape, &bytes));
    output->block = block_of_type(dtype, shape);
    output->unset = unset;
    TRY(ctx->kind->declare(ctx, index));
    output->declared = true;
    return SPMD_OK;
}

spmd_block *spmd_out(spmd_ctx *ctx, int index, spmd_dtype dtype, spmd_shape shape)
{
    spmd_status status = declare(ctx, index, dtype, shape, false);
    return status == SPMD_OK ? &ctx->out[index].block : spmd__ctx_report(ctx, status);
}

spmd_block *spmd_out_unset(spmd_ctx *ctx, int index, spmd_dtype dtype, spmd_shape shape)
{
    spmd_status status = declare(ctx, index, dtype, shape, true);
    return status == SPMD_OK ? &ctx->out[index].block : spmd__ctx_report(ctx, status);
}

static spmd_status add_temp(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape)
{
    struct temp *temp;
    void *data;
    int64_t bytes;
    TRY(spmd__type_check(dtype, shape, &bytes));
    TRY(spmd__arena_take(ctx->arena, 1, sizeof *temp, &temp));
    TRY(spmd__arena_take(ctx->arena, (size_t)bytes, 1, &data));
    memset(data, 0, (size_t)bytes);
    *temp = (struct temp){ctx->temps, block_of_type(dtype, shape)};
    temp->block.data = data;
    ctx->temps = temp;
    return SPMD_OK;
}

spmd_block *spmd_temp(spmd_ctx *ctx, spmd_dtype dtype, spmd_shape shape)
{
    spmd_status status = add_temp(ctx, dtype, shape);
    return status == SPMD_OK ? &ctx->temps->block : spmd__ctx_report(ctx, status);
}

/* Whether a body has arrays on its mesh, for `call`. */
static spmd_status check_arrays(const spmd_ctx *ctx, const char *call, int index)
{
    if (!ctx->kind->in_array)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s(ctx, %d): arrays are for the body of a shard_map over some of the "
                         "mesh's axes (its option axes); this %s has blocks: spmd_in, spmd_out",
                         call, index, ctx->kind->name);
    return SPMD_OK;
}

static spmd_status find_array(spmd_ctx *ctx, int index, spmd_array **array)
{
    TRY(check_input(ctx, "spmd_in_array", index));
    TRY(check_arrays(ctx, "spmd_in_array", index));
    return ctx->kind->in_array(ctx, index, array);
}

spmd_array *spmd_in_array(spmd_ctx *ctx, int index)
{
    spmd_array *array = NULL;
    spmd_status status = find_array(ctx, index, &array);
    return status == SPMD_OK ? array : spmd__ctx_report(ctx, status);
}

spmd_status spmd_out_array(spmd_ctx *ctx, int index, spmd_array *array)
{
    TRY(check_output(ctx, "spmd_out_array", index));
    TRY(check_arrays(ctx, "spmd_out_array", index));
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "spmd_out_array(ctx, %d, ...): the array is NULL",
                         index);
    if (ctx->out[index].declared)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "spmd_out_array(ctx, %d, ...): the output has been declared already",
                         index);
    TRY(ctx->kind->out_array(ctx, index, array));
    ctx->out[index].declared = true;
    return SPMD_OK;
}

spmd_mesh *spmd_ctx_mesh(const spmd_ctx *ctx)
{
    return ctx->mesh;
}

static spmd_status check_declared(const spmd_ctx *ctx)
{
    for (int k = 0; k < ctx->nout; k++)
        if (!ctx->out[k].declared)
            return spmd_fail(SPMD_ERR_BODY, "the body never declared %s of %d by spmd_out",
                             spmd__argument(ctx->names, OUTPUT, k).text, ctx->nout);
    return SPMD_OK;
}

spmd_status spmd__ctx_run(spmd_ctx *ctx, spmd_body *body, void *user)
{
    struct arena_mark mark = spmd__arena_mark(ctx->arena);
    spmd__error_clear();
    spmd_status status = body(ctx, user);
    if (status != SPMD_OK && spmd_error_message()[0] == '\0')
        spmd_fail(status, "the body returned %s without a message: spmd_fail gives one",
                  spmd_status_name(status));
    status = spmd__requests_end(ctx, status);
    spmd__arena_reset(ctx->arena, mark);
    TRY(spmd__error_again(&ctx->failure));
    return status == SPMD_OK ? check_declared(ctx) : status;
}

static spmd_status check_bound(const spmd_ctx *ctx, const struct axis_list *axes)
{
    char buffer[256];
    if ((spmd__axis_list_mask(axes) & ~ctx->bound) == 0)
        return SPMD_OK;
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__axis_list_print(&text, &ctx->scope->axes, axes);
    return spmd_fail(SPMD_ERR_MESH,
                     "axes \"%s\": the body runs over other axes of mesh %s: those that the "
                     "option axes of its shard_map names",
                     buffer, spmd__axes_text(&ctx->scope->axes).text);
}

static spmd_status find_group(const spmd_ctx *ctx, const char *axes, struct group **group)
{
    if (!ctx || !ctx->scope)
        return spmd_fail(SPMD_ERR_MESH,
                         "no mesh has an axis %s here: collectives over mesh axes "
                         "need the body of a shard_map",
                         axes ? axes : "(null)");
    return spmd__mesh_group_named(ctx->scope, axes, group);
}

spmd_status spmd__ctx_group(const spmd_ctx *ctx, const char *axes, struct group **group)
{
    spmd_status status = find_group(ctx, axes, group);
    if (status != SPMD_OK)
        return spmd__vmap_axes_refuse(ctx, axes, status);
    return check_bound(ctx, &(*group)->axes);
}

spmd_status spmd__ctx_group_along(const spmd_ctx *ctx, const struct axis_list *axes,
                                  struct group **group)
{
    TRY(check_bound(ctx, axes));
    return spmd__mesh_group_find(ctx->scope, axes, group);
}
