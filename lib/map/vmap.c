/* map/vmap.c - run a body once for each index of a batch dimension.
 *
 * An instance sees slices. A slice that is dense where it lies is used there; another one is
 * copied to scratch memory before the instance, or back after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/block.h"
#include "core/view.h"
#include "map/ctx.h"

/* One input or output of the call. */
struct mapped {
    spmd_block *whole; /* with the batch dimension; an output's is NULL until it is declared */
    int axis;          /* where that is; -1: not mapped */
    void *scratch;     /* a dense copy of one slice, where a slice is not dense in place */
    bool made;         /* the output's block was made by this call, without a ctx to own it */
};

struct call {
    spmd_ctx *outer; /* may be NULL */
    int64_t size;    /* number of instances */
    int64_t index;   /* the one that runs */
    int nin, nout;
    struct mapped *in;       /* [nin] */
    struct mapped *out;      /* [nout] */
    const int *out_axes;     /* [nout] as the caller gave them */
    spmd_block *slices;      /* [nin] */
    const spmd_block **seen; /* [nin] for the inner ctx */
    struct output *outputs;  /* [nout] for the inner ctx */
    struct arena arena;      /* the instances' scratch memory */
};

/* `axis` in [-ndim, ndim) as a dimension, -1 for SPMD_NOT_MAPPED. */
static spmd_status resolve_axis(const char *what, int index, int axis, int ndim, int *dim)
{
    *dim = axis == SPMD_NOT_MAPPED ? -1 : axis < 0 ? axis + ndim : axis;
    if (axis != SPMD_NOT_MAPPED && (*dim < 0 || *dim >= ndim))
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s[%d] is %d, but the block has %d dimension%s", what,
                         index, axis, ndim, ndim == 1 ? "" : "s");
    return SPMD_OK;
}

/* The block of instance `index`: `whole` without its dimension `axis`. */
static spmd_block slice_of(const spmd_block *whole, int axis, int64_t index)
{
    spmd_block slice = *whole;
    slice.ndim = whole->ndim - 1;
    slice.data =
        (char *)whole->data + index * whole->stride[axis] * (int64_t)spmd_dtype_size(whole->dtype);
    for (int d = axis; d < slice.ndim; d++) {
        slice.shape[d] = whole->shape[d + 1];
        slice.stride[d] = whole->stride[d + 1];
        slice.offset[d] = whole->offset[d + 1];
        slice.global[d] = whole->global[d + 1];
    }
    return slice;
}

/* The slice as a dense block over the scratch memory, which is made at first need. */
static spmd_status scratch_slice(struct mapped *mapped, spmd_block *slice)
{
    spmd_block dense = spmd_block_borrow(NULL, slice->dtype, spmd_block_shape(slice));
    if (!mapped->scratch)
        TRY(spmd__alloc_block(spmd__block_bytes(slice), &mapped->scratch));
    memcpy(slice->stride, dense.stride, sizeof dense.stride);
    slice->data = mapped->scratch;
    return SPMD_OK;
}

static void copy_block(const spmd_block *to, const spmd_block *from)
{
    struct view dst = spmd__view_block(to), src = spmd__view_block(from);
    spmd__view_copy(&dst, &src, spmd_dtype_size(to->dtype));
}

/* What an instance sees as one of its inputs. */
static spmd_status slice_input(struct mapped *mapped, int64_t index, spmd_block *slice)
{
    *slice = slice_of(mapped->whole, mapped->axis, index);
    if (spmd__block_is_dense(slice))
        return SPMD_OK;
    spmd_block lying = *slice;
    TRY(scratch_slice(mapped, slice));
    copy_block(slice, &lying);
    return SPMD_OK;
}

/* The type of a whole output: the instances' `shape` with the batch dimension in it. */
static spmd_status whole_shape(const struct call *call, int index, spmd_shape shape, int *axis,
                               spmd_shape *whole)
{
    bool mapped = call->out_axes[index] != SPMD_NOT_MAPPED;
    if (mapped && shape.ndim == SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SHAPE, "output %d has %d dimensions, no room for the batch's",
                         index, shape.ndim);
    TRY(resolve_axis("out_axes", index, call->out_axes[index], shape.ndim + mapped, axis));
    *whole = shape;
    if (!mapped)
        return SPMD_OK;
    whole->ndim++;
    for (int d = shape.ndim; d > *axis; d--)
        whole->dim[d] = shape.dim[d - 1];
    whole->dim[*axis] = call->size;
    return SPMD_OK;
}

static spmd_status make_block(spmd_dtype dtype, spmd_shape shape, spmd_block **out)
{
    spmd_block *block;
    void *data;
    int64_t size = spmd_shape_size(shape), bytes;
    if (size < 0 || __builtin_mul_overflow(size, (int64_t)spmd_dtype_size(dtype), &bytes))
        return spmd_fail(SPMD_ERR_SHAPE, "a block of this shape has more than 2^63 bytes");
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

/* Finds the whole of output `index` when its first instance declares it, or checks the given one.
 */
static spmd_status find_whole(struct call *call, int index, spmd_dtype dtype, spmd_shape shape)
{
    struct mapped *out = &call->out[index];
    if (!out->whole) {
        if (call->outer) {
            out->whole = spmd_temp(call->outer, dtype, shape);
            return out->whole ? SPMD_OK : call->outer->status;
        }
        out->made = true;
        return make_block(dtype, shape, &out->whole);
    }
    if (out->whole->dtype != dtype || !spmd_shape_equal(spmd_block_shape(out->whole), shape))
        return spmd_fail(SPMD_ERR_SHAPE,
                         "output %d: an instance declares another type or shape than %s", index,
                         call->index == 0 ? "the given block has room for" : "instance 0");
    if (!spmd__block_is_dense(out->whole))
        return spmd_fail(SPMD_ERR_SHAPE, "output %d: the given block is not dense", index);
    return SPMD_OK;
}

/* An output that is brought to its place later; zeroed, though an instance before had it too. */
static spmd_status scratch_output(struct mapped *mapped, spmd_block *block)
{
    TRY(scratch_slice(mapped, block));
    memset(block->data, 0, spmd__block_bytes(block));
    return SPMD_OK;
}

/* The kind's way to find memory for an instance's output. */
static spmd_status declare(spmd_ctx *ctx, int index)
{
    struct call *call = ctx->call;
    struct mapped *out = &call->out[index];
    spmd_block *block = &ctx->out[index].block;
    spmd_shape whole;
    TRY(whole_shape(call, index, spmd_block_shape(block), &out->axis, &whole));
    TRY(find_whole(call, index, block->dtype, whole));
    if (out->axis < 0 && call->index == 0) {
        block->data = out->whole->data;
        return SPMD_OK;
    }
    if (out->axis < 0)
        return scratch_output(out, block);
    spmd_block slice = slice_of(out->whole, out->axis, call->index);
    if (!spmd__block_is_dense(&slice))
        return scratch_output(out, block);
    block->data = slice.data;
    return SPMD_OK;
}

static const struct call_kind vmap_kind = {"vmap", .declare = declare};

/* Brings an instance's outputs to where they belong, or compares those that all share. */
static spmd_status collect_outputs(struct call *call)
{
    for (int k = 0; k < call->nout; k++) {
        const struct mapped *out = &call->out[k];
        const spmd_block *block = &call->outputs[k].block;
        size_t bytes = spmd__block_bytes(block);
        if (out->axis < 0 && memcmp(block->data, out->whole->data, bytes) != 0)
            return spmd_fail(SPMD_ERR_REPLICATION,
                             "output %d is not mapped, but differs from instance 0's: give it an "
                             "out_axis",
                             k);
        if (out->axis >= 0 && block->data == out->scratch) {
            spmd_block slice = slice_of(out->whole, out->axis, call->index);
            copy_block(&slice, block);
        }
    }
    return SPMD_OK;
}

static spmd_status run_instance(struct call *call, spmd_body *fn, void *user)
{
    for (int k = 0; k < call->nin; k++)
        if (call->in[k].axis >= 0)
            TRY(slice_input(&call->in[k], call->index, &call->slices[k]));
    for (int k = 0; k < call->nout; k++)
        call->outputs[k].declared = false;
    spmd_ctx *outer = call->outer;
    spmd_ctx ctx = {.kind = &vmap_kind,
                    .call = call,
                    .mesh = outer ? outer->mesh : NULL,
                    .scope = outer ? outer->scope : NULL,
                    .bound = outer ? outer->bound : 0,
                    .outer = outer,
                    .arena = &call->arena,
                    .instance = call->index,
                    .nin = call->nin,
                    .in = call->seen,
                    .nout = call->nout,
                    .out = call->outputs};
    TRY(spmd__ctx_run(&ctx, fn, user));
    return collect_outputs(call);
}

static spmd_status run_instances(struct call *call, spmd_body *fn, void *user)
{
    for (call->index = 0; call->index < call->size; call->index++) {
        spmd_status status = run_instance(call, fn, user);
        if (status != SPMD_OK)
            return spmd_fail(status, "instance %lld: %s", (long long)call->index,
                             spmd_error_message());
    }
    return SPMD_OK;
}

/* Takes the inputs in, and finds the number of instances. */
static spmd_status map_inputs(struct call *call, const spmd_block *const in[], const int in_axes[],
                              const spmd_vmap_options *options)
{
    int first = -1;
    call->size = options && options->axis_size > 0 ? options->axis_size : -1;
    for (int k = 0; k < call->nin; k++) {
        struct mapped *mapped = &call->in[k];
        mapped->whole = (spmd_block *)in[k]; /* read only */
        mapped->axis = -1;
        call->seen[k] = in[k];
        if (!in[k])
            continue;
        TRY(resolve_axis("in_axes", k, in_axes[k], in[k]->ndim, &mapped->axis));
        if (mapped->axis < 0)
            continue;
        int64_t size = in[k]->shape[mapped->axis];
        if (call->size >= 0 && call->size != size)
            return spmd_fail(
                SPMD_ERR_SHAPE, "input %d has %lld instances along dim %d, but %s has %lld", k,
                (long long)size, mapped->axis,
                first < 0 ? "the option axis_size" : "an input before it", (long long)call->size);
        call->size = size;
        call->seen[k] = &call->slices[k];
        first = first < 0 ? k : first;
    }
    if (call->size < 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "no input of the vmap is mapped: the option axis_size says how often");
    return SPMD_OK;
}

static spmd_status check_arguments(const struct call *call, const spmd_block *const in[],
                                   const int in_axes[], spmd_block *const out[], spmd_body *fn)
{
    if (!fn || call->nin < 0 || call->nout < 0 || (call->nin > 0 && (!in || !in_axes)) ||
        (call->nout > 0 && (!out || !call->out_axes)))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a vmap needs a function, and a block and an axis for each of its %d "
                         "inputs and %d outputs",
                         call->nin, call->nout);
    return SPMD_OK;
}

static spmd_status alloc_call(struct call *call)
{
    size_t nin = (size_t)call->nin, nout = (size_t)call->nout;
    TRY(spmd__alloc(nin, sizeof *call->in, &call->in));
    TRY(spmd__alloc(nin, sizeof *call->slices, &call->slices));
    TRY(spmd__alloc(nin, sizeof *call->seen, &call->seen));
    TRY(spmd__alloc(nout, sizeof *call->out, &call->out));
    return spmd__alloc(nout, sizeof *call->outputs, &call->outputs);
}

static void free_call(struct call *call, bool failed)
{
    for (int k = 0; call->in && k < call->nin; k++)
        free(call->in[k].scratch);
    for (int k = 0; call->out && k < call->nout; k++) {
        free(call->out[k].scratch);
        if (failed && call->out[k].made)
            spmd_block_free(&call->out[k].whole);
    }
    spmd__arena_free(&call->arena);
    free(call->in);
    free(call->slices);
    free(call->seen);
    free(call->out);
    free(call->outputs);
}

/* Outputs of no instance at all: their type is not known unless they are given. */
static spmd_status check_given(const struct call *call, spmd_block *const out[])
{
    for (int k = 0; call->size == 0 && k < call->nout; k++)
        if (!out[k])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "a vmap without instances cannot know the type of output %d: give its "
                             "block",
                             k);
    return SPMD_OK;
}

static spmd_status run_call(struct call *call, spmd_body *fn, void *user,
                            const spmd_block *const in[], const int in_axes[], spmd_block *out[],
                            const spmd_vmap_options *options)
{
    TRY(alloc_call(call));
    TRY(map_inputs(call, in, in_axes, options));
    TRY(check_given(call, out));
    for (int k = 0; k < call->nout; k++)
        call->out[k].whole = out[k];
    TRY(run_instances(call, fn, user));
    for (int k = 0; k < call->nout; k++)
        out[k] = call->out[k].whole;
    return SPMD_OK;
}

spmd_status spmd_vmap(spmd_ctx *ctx, spmd_body *fn, void *user, int nin,
                      const spmd_block *const in[], const int in_axes[], int nout,
                      spmd_block *out[], const int out_axes[], const spmd_vmap_options *options)
{
    struct call call = {.outer = ctx, .nin = nin, .nout = nout, .out_axes = out_axes};
    TRY(check_arguments(&call, in, in_axes, out, fn));
    spmd_status status = run_call(&call, fn, user, in, in_axes, out, options);
    free_call(&call, status != SPMD_OK);
    return status;
}
