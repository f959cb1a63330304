/* map/tree_body.c - what a body sees of a call over trees: its inputs and outputs by path. */
#include "map/tree_body.h"

#include "core/tree_path.h"

/* What one body has of its call. */
struct tree_view {
    const struct tree_call *call;
    spmd_tree *in; /* with blocks for leaves, made when it is asked for */
};

const spmd_block *spmd__key_block(struct key_block *place, spmd_key key)
{
    place->key = key;
    place->block = spmd_block_borrow(place->key.word, SPMD_U32, SPMD_SHAPE(2));
    return &place->block;
}

spmd_status spmd__tree_body(spmd_ctx *ctx, void *user)
{
    const struct tree_call *call = user;
    struct tree_view view = {call, NULL};
    for (int k = 0; call->statics && k < ctx->nin; k++)
        call->seen[k] = call->statics[k] ? call->statics[k] : ctx->in[k];
    if (call->statics)
        ctx->in = call->seen;
    ctx->tree = &view;
    spmd_status status = call->body(ctx, call->user);
    ctx->tree = NULL;
    spmd__tree_free(&view.in);
    return status;
}

static spmd_status check_tree(const spmd_ctx *ctx, const char *call)
{
    if (!ctx->tree)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s: this body was not run over trees, its arguments have numbers: "
                         "spmd_in(ctx, 0)",
                         call);
    return SPMD_OK;
}

/* The leaf, or None, at `path` of a tree that is called `name`; its number. */
static spmd_status find(const spmd_tree *tree, const char *name, const char *path,
                        const spmd_tree **leaf, int *index)
{
    spmd_status status = spmd__tree_at(tree, path, leaf, index);
    if (status != SPMD_OK)
        return spmd_fail(status, "%s: %s", name, spmd_error_message());
    if ((*leaf)->kind == TREE_LEAF || (*leaf)->kind == TREE_NONE)
        return SPMD_OK;
    char is[256];
    struct text text = spmd__text_begin(is, sizeof is);
    spmd__tree_describe(&text, *leaf);
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s: %s is %s: name one of its leaves", name,
                     *path ? path : "it", is);
}

static spmd_status find_input(const spmd_ctx *ctx, const char *call, const char *path,
                              const spmd_tree **leaf, const spmd_block **block)
{
    int index;
    TRY(check_tree(ctx, call));
    TRY(find(ctx->tree->call->in, "in", path, leaf, &index));
    *block = (*leaf)->kind == TREE_LEAF ? ctx->in[index] : NULL;
    return SPMD_OK;
}

const spmd_block *spmd_in_at(spmd_ctx *ctx, const char *path)
{
    const spmd_tree *leaf;
    const spmd_block *block;
    spmd_status status = find_input(ctx, "spmd_in_at", path, &leaf, &block);
    return status == SPMD_OK ? block : spmd__ctx_report(ctx, status);
}

static spmd_status find_key(const spmd_ctx *ctx, const char *path, spmd_key *key)
{
    const spmd_tree *leaf;
    const spmd_block *block;
    TRY(find_input(ctx, "spmd_key_at", path, &leaf, &block));
    if (!block || block->dtype != SPMD_U32 || block->ndim != 1 || block->shape[0] != 2)
        return spmd_fail(SPMD_ERR_DTYPE, "in: %s is no key, nor a u32[2]", *path ? path : "it");
    const uint32_t *word = block->data;
    *key = (spmd_key){{word[0], word[block->stride[0]]}};
    return SPMD_OK;
}

spmd_key spmd_key_at(spmd_ctx *ctx, const char *path)
{
    spmd_key key = {{0, 0}};
    spmd_status status = find_key(ctx, path, &key);
    if (status != SPMD_OK)
        spmd__ctx_report(ctx, status);
    return key;
}

static spmd_status find_output(const spmd_ctx *ctx, const char *path, int *index)
{
    const spmd_tree *leaf;
    TRY(check_tree(ctx, "spmd_out_at"));
    TRY(find(ctx->tree->call->out, "out", path, &leaf, index));
    if (leaf->kind == TREE_NONE)
        return spmd_fail(SPMD_ERR_ARGUMENT, "out: %s is None, and has no block",
                         *path ? path : "it");
    return SPMD_OK;
}

spmd_block *spmd_out_at(spmd_ctx *ctx, const char *path, spmd_dtype dtype, spmd_shape shape)
{
    int index;
    spmd_status status = find_output(ctx, path, &index);
    return status == SPMD_OK ? spmd_out(ctx, index, dtype, shape) : spmd__ctx_report(ctx, status);
}

/* A leaf as the body sees it: the block of an array, a slice of a block; others as they are. */
static spmd_status make_seen(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    const spmd_ctx *ctx = user;
    bool is_data = spmd__tree_array(old) || spmd__tree_block(old);
    return is_data ? spmd__tree_make_block(ctx->in[index], leaf) : spmd__tree_copy(old, leaf);
}

const spmd_tree *spmd_in_tree(spmd_ctx *ctx)
{
    spmd_status status = check_tree(ctx, "spmd_in_tree");
    if (status == SPMD_OK && !ctx->tree->in)
        status = spmd__tree_unflatten(ctx->tree->call->in, make_seen, ctx, &ctx->tree->in);
    return status == SPMD_OK ? ctx->tree->in : spmd__ctx_report(ctx, status);
}
