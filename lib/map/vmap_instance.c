/* map/vmap_instance.c - one instance of a vmap: what it sees, and where its outputs go.
 *
 * An instance sees slices. A slice that is dense where it lies is used there; another one is
 * copied to scratch memory before the instance, or back after it. */
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "core/mem.h"
#include "core/shape.h"
#include "core/view.h"
#include "map/batch.h"
#include "map/vmap.h"

static void copy_block(const spmd_block *to, const spmd_block *from)
{
    struct view dst = spmd__view_block(to), src = spmd__view_block(from);
    spmd__view_copy(&dst, &src, spmd_dtype_size(to->dtype));
}

/* The slice as a dense block over memory of its own, *copy, which is made at first need. */
static spmd_status make_dense(struct vmap *vmap, void **copy, spmd_block *slice)
{
    spmd_block dense = spmd_block_borrow(NULL, slice->dtype, spmd_block_shape(slice));
    if (!*copy)
        TRY(spmd__arena_take(vmap->arena, spmd__block_bytes(slice), 1, copy));
    memcpy(slice->stride, dense.stride, sizeof dense.stride);
    slice->data = *copy;
    return SPMD_OK;
}

/* What an instance sees as input `index`. */
static spmd_status slice_input(struct instance *instance, int index)
{
    const struct mapped *in = &instance->vmap->in[index];
    spmd_block *slice = &instance->slice[index];
    instance->seen[index] = in->axis < 0 ? in->whole : slice;
    if (in->axis < 0)
        return SPMD_OK;
    spmd_block lying = spmd__batch_slice(in->whole, in->axis, instance->ctx.instance);
    *slice = lying;
    if (spmd__block_is_dense(slice))
        return SPMD_OK;
    TRY(make_dense(instance->vmap, &instance->copy[index], slice));
    copy_block(slice, &lying);
    return SPMD_OK;
}

/* The type of a whole output: the instances' `shape` with the batch dimension in it. */
static spmd_status whole_shape(const struct vmap *vmap, int index, spmd_shape shape, int *axis,
                               spmd_shape *whole)
{
    bool mapped = vmap->out_axes[index] != SPMD_NOT_MAPPED;
    if (mapped && shape.ndim == SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SHAPE, "%s has %d dimensions, no room for the batch's",
                         spmd__argument(&vmap->names, OUTPUT, index).text, shape.ndim);
    TRY(spmd__batch_axis(&vmap->names, OUT_AXIS, index, vmap->out_axes[index], shape.ndim + mapped,
                         axis));
    *whole = mapped ? spmd__shape_with(shape, *axis, vmap->size) : shape;
    return SPMD_OK;
}

static spmd_status make_block(spmd_dtype dtype, spmd_shape shape, spmd_block **out)
{
    spmd_block *block;
    void *data;
    int64_t bytes;
    TRY(spmd__type_check(dtype, shape, &bytes));
    TRY(spmd__alloc(1, sizeof *block, &block));
    spmd_status status = spmd__alloc_block((size_t)bytes, &data);
    if (status != SPMD_OK) {
        free(block);
        return status;
    }
    *block = spmd_block_borrow(data, dtype, shape);
    *out = block;
    return SPMD_OK;
}

void spmd_block_free(spmd_block **block)
{
    if (*block)
        free((*block)->data);
    free(*block);
    *block = NULL;
}

/* Makes the whole of an output when its first instance declares it. */
static spmd_status make_whole(struct vmap *vmap, struct mapped *out, int64_t instance,
                              spmd_dtype dtype, spmd_shape shape)
{
    out->first = instance;
    if (vmap->outer) {
        out->whole = spmd_temp(vmap->outer, dtype, shape);
        return out->whole ? SPMD_OK : vmap->outer->failure.status;
    }
    out->made = true;
    return make_block(dtype, shape, &out->whole);
}

/* What an instance declares does not fit to what the first one did, or the caller gave. */
static spmd_status refuse_type(const struct vmap *vmap, int index)
{
    struct argument name = spmd__argument(&vmap->names, OUTPUT, index);
    int64_t first = vmap->out[index].first;
    if (first < 0)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: an instance declares another type or shape than the given block has "
                         "room for",
                         name.text);
    return spmd_fail(SPMD_ERR_SHAPE,
                     "%s: an instance declares another type or shape than instance %lld", name.text,
                     (long long)first);
}

static spmd_status check_whole(const struct vmap *vmap, int index, spmd_dtype dtype,
                               spmd_shape shape)
{
    const spmd_block *whole = vmap->out[index].whole;
    if (whole->dtype != dtype || !spmd_shape_equal(spmd_block_shape(whole), shape))
        return refuse_type(vmap, index);
    if (!spmd__block_is_dense(whole))
        return spmd_fail(SPMD_ERR_SHAPE, "%s: the given block is not dense",
                         spmd__argument(&vmap->names, OUTPUT, index).text);
    return SPMD_OK;
}

/* An output that is brought to its place later, in memory that an instance before had, too. */
static spmd_status declare_apart(struct instance *instance, int index, spmd_block *block)
{
    struct vmap *vmap = instance->vmap;
    TRY(make_dense(vmap, &instance->copy[vmap->nin + index], block));
    if (!instance->output[index].unset)
        memset(block->data, 0, spmd__block_bytes(block));
    return SPMD_OK;
}

/* The kind's way to find memory for an instance's output. */
static spmd_status declare(spmd_ctx *ctx, int index)
{
    struct instance *instance = ctx->call;
    struct vmap *vmap = instance->vmap;
    struct mapped *out = &vmap->out[index];
    spmd_block *block = &ctx->out[index].block;
    spmd_shape shape;
    TRY(whole_shape(vmap, index, spmd_block_shape(block), &out->axis, &shape));
    if (!out->whole)
        TRY(make_whole(vmap, out, ctx->instance, block->dtype, shape));
    TRY(check_whole(vmap, index, block->dtype, shape));
    if (out->axis < 0 && ctx->instance > 0)
        return declare_apart(instance, index, block);
    spmd_block place =
        out->axis < 0 ? *out->whole : spmd__batch_slice(out->whole, out->axis, ctx->instance);
    if (!spmd__block_is_dense(&place))
        return declare_apart(instance, index, block);
    block->data = place.data;
    bool given = out->first < 0; /* what was made here is zero */
    if (given && !instance->output[index].unset)
        memset(block->data, 0, spmd__block_bytes(block));
    return SPMD_OK;
}

const struct call_kind spmd__vmap_kind = {.name = "vmap", .declare = declare};

/* Brings an instance's output to where it belongs, or compares one that all share. */
static spmd_status collect_output(const struct instance *instance, int index)
{
    const struct vmap *vmap = instance->vmap;
    const struct mapped *out = &vmap->out[index];
    const spmd_block *block = &instance->output[index].block;
    size_t bytes = spmd__block_bytes(block);
    if (out->axis < 0 && bytes > 0 && memcmp(block->data, out->whole->data, bytes) != 0)
        return spmd_fail(SPMD_ERR_REPLICATION,
                         "%s is not mapped, but differs from instance 0's: give it an "
                         "out_axis",
                         spmd__argument(&vmap->names, OUTPUT, index).text);
    if (out->axis >= 0 && block->data == instance->copy[vmap->nin + index]) {
        spmd_block place = spmd__batch_slice(out->whole, out->axis, instance->ctx.instance);
        copy_block(&place, block);
    }
    return SPMD_OK;
}

spmd_status spmd__instance_make(struct vmap *vmap, int64_t index, struct arena *arena,
                                struct instance *instance)
{
    size_t nin = (size_t)vmap->nin, nout = (size_t)vmap->nout;
    instance->vmap = vmap;
    TRY(spmd__vmap_take(vmap, nin, sizeof *instance->slice, &instance->slice));
    TRY(spmd__vmap_take(vmap, nin, sizeof *instance->seen, &instance->seen));
    TRY(spmd__vmap_take(vmap, nin + nout, sizeof *instance->copy, &instance->copy));
    TRY(spmd__vmap_take(vmap, nout, sizeof *instance->output, &instance->output));
    spmd_ctx *outer = vmap->outer;
    instance->ctx = (spmd_ctx){.kind = &spmd__vmap_kind,
                               .call = instance,
                               .mesh = outer ? outer->mesh : NULL,
                               .scope = outer ? outer->scope : NULL,
                               .bound = outer ? outer->bound : 0,
                               .outer = outer,
                               .instance = index,
                               .names = &vmap->names,
                               .nin = vmap->nin,
                               .in = instance->seen,
                               .nout = vmap->nout,
                               .out = instance->output,
                               .arena = arena};
    return SPMD_OK;
}

spmd_status spmd__instance_run(struct instance *instance, spmd_body *fn, void *user)
{
    const struct vmap *vmap = instance->vmap;
    for (int k = 0; k < vmap->nin; k++)
        TRY(slice_input(instance, k));
    for (int k = 0; k < vmap->nout; k++)
        instance->output[k].declared = false;
    TRY(spmd__ctx_run(&instance->ctx, fn, user));
    for (int k = 0; k < vmap->nout; k++)
        TRY(collect_output(instance, k));
    return SPMD_OK;
}
