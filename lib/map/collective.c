/* map/collective.c - how the ranks of a body talk: collectives on blocks. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "comm/mpi.h"
#include "core/half.h"
#include "core/mem.h"
#include "core/shape.h"
#include "core/view.h"
#include "map/ctx.h"

#include <spmd/collective.h>

static void print_type(struct text *text, spmd_dtype dtype, spmd_shape shape)
{
    static const struct axes no_axes;
    static const struct spec no_spec;
    spmd__layout_print(text, &no_axes, &no_spec, dtype, shape);
}

/* Whether `out` is a block for the result of `call`. */
static spmd_status check_out(const char *call, const spmd_block *in, const spmd_block *out,
                             spmd_dtype dtype, spmd_shape shape)
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
    print_type(&want, dtype, shape);
    print_type(&have, out->dtype, spmd_block_shape(out));
    return spmd_fail(out->dtype == dtype ? SPMD_ERR_SHAPE : SPMD_ERR_DTYPE,
                     "%s gives a block %s here, but out is %s: declare it so", call, want.buffer,
                     have.buffer);
}

/* The sharding of `in` if it is an input of the body: then every part can be computed. */
static const spmd_sharding *sharding_of(const spmd_ctx *ctx, const spmd_block *in)
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
    const spmd_sharding *sharding = sharding_of(ctx, in);
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

spmd_dtype spmd_psum_dtype(spmd_dtype dtype)
{
    return dtype == SPMD_BOOL ? SPMD_I32 : dtype;
}

spmd_dtype spmd_pmean_dtype(spmd_dtype dtype)
{
    switch (dtype) {
    case SPMD_I64:
    case SPMD_U64:
        return SPMD_F64;
    case SPMD_BOOL:
    case SPMD_I8:
    case SPMD_I16:
    case SPMD_I32:
    case SPMD_U8:
    case SPMD_U16:
    case SPMD_U32:
        return SPMD_F32;
    default:
        return dtype;
    }
}

/* out = the reduction of in over the group, in the type of psum. */
static spmd_status reduce(const struct group *group, enum reduction op, const spmd_block *in,
                          void *out)
{
    int64_t count = spmd_block_size(in);
    if (op == REDUCE_SUM && in->dtype == SPMD_BOOL) {
        const bool *flags = in->data;
        int32_t *counts = out;
        for (int64_t i = 0; i < count; i++)
            counts[i] = flags[i];
        return spmd__all_reduce(group->comm, op, SPMD_I32, out, out, count);
    }
    return spmd__all_reduce(group->comm, op, in->dtype, in->data, out, count);
}

spmd_status spmd_psum(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__ctx_group(ctx, axes, &group));
    TRY(check_out("psum", in, out, in ? spmd_psum_dtype(in->dtype) : SPMD_DTYPE_NONE,
                  in ? spmd_block_shape(in) : SPMD_SCALAR));
    TRY(check_alike(ctx, "psum", group, in));
    return reduce(group, REDUCE_SUM, in, out->data);
}

static spmd_status extreme(spmd_ctx *ctx, const char *call, enum reduction op, const spmd_block *in,
                           const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__ctx_group(ctx, axes, &group));
    TRY(check_out(call, in, out, in ? in->dtype : SPMD_DTYPE_NONE,
                  in ? spmd_block_shape(in) : SPMD_SCALAR));
    TRY(check_alike(ctx, call, group, in));
    return reduce(group, op, in, out->data);
}

spmd_status spmd_pmax(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return extreme(ctx, "pmax", REDUCE_MAX, in, axes, out);
}

spmd_status spmd_pmin(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    return extreme(ctx, "pmin", REDUCE_MIN, in, axes, out);
}

/* mean[i] = sum[i] / size, from psum's type to pmean's; `sum` may be `mean`. f16 and bf16 come as
 * their sums in f32. */
static void divide(spmd_dtype dtype, const void *sum, int64_t count, int64_t size, void *mean)
{
#define DIVIDE(from, to)                \
    for (int64_t i = 0; i < count; i++) \
    ((to *)mean)[i] = (to)((const from *)sum)[i] / (to)size
#define DIVIDE_HALF(round)              \
    for (int64_t i = 0; i < count; i++) \
    ((uint16_t *)mean)[i] = round(((const float *)sum)[i] / (float)size)
    switch (dtype) {
    case SPMD_I8:
        DIVIDE(int8_t, float);
        break;
    case SPMD_I16:
        DIVIDE(int16_t, float);
        break;
    case SPMD_BOOL:
    case SPMD_I32:
        DIVIDE(int32_t, float);
        break;
    case SPMD_I64:
        DIVIDE(int64_t, double);
        break;
    case SPMD_U8:
        DIVIDE(uint8_t, float);
        break;
    case SPMD_U16:
        DIVIDE(uint16_t, float);
        break;
    case SPMD_U32:
        DIVIDE(uint32_t, float);
        break;
    case SPMD_U64:
        DIVIDE(uint64_t, double);
        break;
    case SPMD_F16:
        DIVIDE_HALF(spmd__f32_to_f16);
        break;
    case SPMD_BF16:
        DIVIDE_HALF(spmd__f32_to_bf16);
        break;
    case SPMD_F32:
        DIVIDE(float, float);
        break;
    case SPMD_F64:
        DIVIDE(double, double);
        break;
    case SPMD_C64:
        DIVIDE(float _Complex, float _Complex);
        break;
    case SPMD_C128:
        DIVIDE(double _Complex, double _Complex);
        break;
    case SPMD_DTYPE_NONE:
        break;
    }
#undef DIVIDE
#undef DIVIDE_HALF
}

/* The block in f32, for sums that are rounded once, after the division. */
static spmd_block widen(const spmd_block *half, float *wide)
{
    const uint16_t *bits = half->data;
    for (int64_t i = 0; i < spmd_block_size(half); i++)
        wide[i] = half->dtype == SPMD_F16 ? spmd__f16_to_f32(bits[i]) : spmd__bf16_to_f32(bits[i]);
    return spmd_block_borrow(wide, SPMD_F32, spmd_block_shape(half));
}

spmd_status spmd_pmean(spmd_ctx *ctx, const spmd_block *in, const char *axes, spmd_block *out)
{
    struct group *group;
    TRY(spmd__ctx_group(ctx, axes, &group));
    TRY(check_out("pmean", in, out, in ? spmd_pmean_dtype(in->dtype) : SPMD_DTYPE_NONE,
                  in ? spmd_block_shape(in) : SPMD_SCALAR));
    TRY(check_alike(ctx, "pmean", group, in));
    bool half = in->dtype == SPMD_F16 || in->dtype == SPMD_BF16;
    int64_t count = spmd_block_size(in);
    void *sum;
    TRY(spmd__alloc_block((size_t)count *
                              (half ? sizeof(float) : spmd_dtype_size(spmd_psum_dtype(in->dtype))),
                          &sum));
    spmd_block wide = half ? widen(in, sum) : *in;
    spmd_status status = reduce(group, REDUCE_SUM, &wide, sum);
    if (status == SPMD_OK)
        divide(in->dtype, sum, count, group->size, out->data);
    free(sum);
    return status;
}

/* Extents along dimension `dim` of all members' blocks. */
struct extents {
    int64_t *of; /* [size of the group] */
    int64_t total;
    bool equal;
};

static void compute_extents(const spmd_sharding *sharding, const struct group *group,
                            const spmd_block *in, int dim, int64_t extents[])
{
    const spmd_mesh *mesh = sharding->mesh;
    for (int64_t m = 0; m < group->size; m++) {
        int64_t lo, hi;
        int64_t position = spmd__axis_list_member(&mesh->axes, &group->axes, mesh->position, m);
        spmd__layout_range(&mesh->axes, &sharding->spec, dim, in->global[dim], position, &lo, &hi);
        extents[m] = hi - lo;
    }
}

/* Computed for inputs of the body; asked of the members where the block lies in a known array;
 * else equal, as the contract demands. */
static spmd_status find_extents(const spmd_ctx *ctx, const struct group *group,
                                const spmd_block *in, int dim, struct extents *extents)
{
    const spmd_sharding *sharding = sharding_of(ctx, in);
    int64_t *of;
    TRY(spmd__alloc((size_t)group->size, sizeof *of, &of));
    for (int64_t m = 0; m < group->size; m++)
        of[m] = in->shape[dim];
    spmd_status status = SPMD_OK;
    if (sharding)
        compute_extents(sharding, group, in, dim, of);
    else if (in->global[dim] >= 0)
        status = spmd__mpi_status(
            MPI_Allgather(&in->shape[dim], 1, MPI_INT64_T, of, 1, MPI_INT64_T, group->comm),
            "MPI_Allgather");
    if (status != SPMD_OK) {
        free(of);
        return status;
    }
    *extents = (struct extents){.of = of, .equal = true};
    for (int64_t m = 0; m < group->size; m++) {
        extents->total += of[m];
        extents->equal = extents->equal && of[m] == of[0];
    }
    return SPMD_OK;
}

static spmd_status resolve_dim(const spmd_block *in, int dim, spmd_tiling tiling, int *resolved)
{
    int ndim = in->ndim + (tiling == SPMD_UNTILED);
    *resolved = dim < 0 ? dim + ndim : dim;
    if (*resolved < 0 || *resolved >= ndim || ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "all_gather along dim %d: the result would have %d dimension%s", dim, ndim,
                         ndim == 1 ? "" : "s");
    return SPMD_OK;
}

/* The result's shape; `extents` are those along `dim`, of untiled gathers along any. */
static spmd_shape gathered_shape(const spmd_block *in, int dim, spmd_tiling tiling,
                                 const struct group *group, const struct extents *extents)
{
    spmd_shape shape = spmd_block_shape(in);
    if (tiling == SPMD_TILED) {
        shape.dim[dim] = extents->total;
        return shape;
    }
    shape.ndim++;
    for (int d = in->ndim; d > dim; d--)
        shape.dim[d] = in->shape[d - 1];
    shape.dim[dim] = group->size;
    return shape;
}

/* An untiled gather needs equal blocks; whether they are is known for inputs of the body. */
static spmd_status check_equal(const spmd_ctx *ctx, const struct group *group, const spmd_block *in,
                               int but)
{
    for (int d = 0; d < in->ndim; d++) {
        struct extents extents;
        if (d == but)
            continue;
        TRY(find_extents(ctx, group, in, d, &extents));
        free(extents.of);
        if (!extents.equal)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "all_gather: the blocks differ along dim %d of %d, along which they "
                             "are not joined: gather that dim, tiled, first",
                             d, in->ndim);
    }
    return SPMD_OK;
}

/* What a gather needs to know, found alike on all members. */
struct gather {
    struct group *group;
    int dim;
    struct extents extents; /* along dim; of an untiled gather: all 1 */
    spmd_shape shape;       /* of the result */
};

static spmd_status plan_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                               spmd_tiling tiling, struct gather *gather)
{
    TRY(spmd__ctx_group(ctx, axes, &gather->group));
    if (!in)
        return spmd_fail(SPMD_ERR_ARGUMENT, "all_gather needs a block to read, it is NULL");
    TRY(resolve_dim(in, dim, tiling, &gather->dim));
    TRY(check_equal(ctx, gather->group, in, tiling == SPMD_TILED ? gather->dim : -1));
    if (tiling == SPMD_TILED) {
        TRY(find_extents(ctx, gather->group, in, gather->dim, &gather->extents));
    } else {
        int64_t *of;
        TRY(spmd__alloc((size_t)gather->group->size, sizeof *of, &of));
        for (int64_t m = 0; m < gather->group->size; m++)
            of[m] = 1;
        gather->extents = (struct extents){of, gather->group->size, true};
    }
    gather->shape = gathered_shape(in, gather->dim, tiling, gather->group, &gather->extents);
    return SPMD_OK;
}

spmd_status spmd_all_gather_shape(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                                  spmd_tiling tiling, spmd_shape *shape)
{
    struct gather gather;
    TRY(plan_gather(ctx, in, axes, dim, tiling, &gather));
    free(gather.extents.of);
    *shape = gather.shape;
    return SPMD_OK;
}

/* Lays the members' blocks, one after the other in `joined`, side by side along dim. */
static void spread(const struct gather *gather, const char *joined, spmd_block *out)
{
    size_t element = spmd_dtype_size(out->dtype);
    spmd_box whole = spmd_box_whole(gather->shape), part = whole;
    part.hi[gather->dim] = 0;
    for (int64_t m = 0; m < gather->group->size; m++) {
        part.lo[gather->dim] = part.hi[gather->dim];
        part.hi[gather->dim] += gather->extents.of[m];
        struct view dst = spmd__view_box(out->data, element, &whole, &part);
        struct view src = spmd__view_dense((void *)joined, element, spmd_box_shape(&part));
        spmd__view_copy(&dst, &src, element);
        joined += (size_t)spmd_box_size(&part) * element;
    }
}

static spmd_status run_gather(const struct gather *gather, const spmd_block *in, spmd_block *out)
{
    int64_t outer = 1, each = 1; /* elements before dim, and of one index along it */
    for (int d = 0; d < gather->shape.ndim; d++)
        if (d < gather->dim)
            outer *= gather->shape.dim[d];
    for (int d = 0; d < gather->shape.ndim; d++)
        if (d != gather->dim)
            each *= gather->shape.dim[d];
    int64_t *bytes;
    void *joined = out->data;
    TRY(spmd__alloc((size_t)gather->group->size, sizeof *bytes, &bytes));
    for (int64_t m = 0; m < gather->group->size; m++)
        bytes[m] = gather->extents.of[m] * each * (int64_t)spmd_dtype_size(in->dtype);
    spmd_status status = outer == 1 ? SPMD_OK : spmd__alloc_block(spmd__block_bytes(out), &joined);
    if (status == SPMD_OK)
        status = spmd__all_gather(gather->group->comm, in->data, bytes, joined);
    if (status == SPMD_OK && outer != 1)
        spread(gather, joined, out);
    if (outer != 1)
        free(joined);
    free(bytes);
    return status;
}

spmd_status spmd_all_gather(spmd_ctx *ctx, const spmd_block *in, const char *axes, int dim,
                            spmd_tiling tiling, spmd_block *out)
{
    struct gather gather;
    TRY(plan_gather(ctx, in, axes, dim, tiling, &gather));
    spmd_status status = check_out("all_gather", in, out, in->dtype, gather.shape);
    if (status == SPMD_OK && in->data == out->data && spmd__block_bytes(in) > 0)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "all_gather cannot write to the block that it reads");
    if (status == SPMD_OK)
        status = run_gather(&gather, in, out);
    free(gather.extents.of);
    return status;
}

spmd_status spmd_pbroadcast(spmd_ctx *ctx, const spmd_block *in, const char *axes, int64_t source,
                            spmd_block *out)
{
    struct group *group;
    TRY(spmd__ctx_group(ctx, axes, &group));
    TRY(check_out("pbroadcast", in, out, in ? in->dtype : SPMD_DTYPE_NONE,
                  in ? spmd_block_shape(in) : SPMD_SCALAR));
    TRY(check_alike(ctx, "pbroadcast", group, in));
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
