/* map/pmap.c - a shard_map in the older form, whose body sees one slice of each array.
 *
 * The mapped dimension has one element for each rank along the axes. So a spec with the axes at
 * this dimension gives each rank a block of extent 1 there, and the body gets it without. */
#include "map/pmap.h"

#include <stdlib.h>

#include "core/absent.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/shape.h"
#include "map/batch.h"
#include "map/shard_map.h"

enum { SPEC_BYTES = 1024 }; /* 16 dimensions, and all axes of a mesh at one of them */

struct spec_text {
    char text[SPEC_BYTES];
};

struct pmap {
    spmd_mesh *mesh;
    struct axis_list axes;
    spmd_body *body;
    void *user;
    struct names names;
    int nin, nout;
    const int *out_axes;     /* [nout] as the caller gave them */
    int *in_dim;             /* [nin] the mapped dimension; -1: none */
    struct spec_text *texts; /* [nin + nout] of the specs */
    const char **specs;      /* [nin + nout] */
    spmd_shard_map_call *call;

    /* For the ctx of the body. */
    spmd_ctx *outer;
    spmd_block *slice;       /* [nin] */
    const spmd_block **seen; /* [nin] */
    struct output *output;   /* [nout] */
    spmd_array **array;      /* [nin] inputs on the view, made when they are asked for */
};

/* "P(-, (x,y))" for dimension 1; "P()" for -1. */
static void print_spec(const struct pmap *pmap, int dim, struct spec_text *spec)
{
    struct text text = spmd__text_begin(spec->text, sizeof spec->text);
    spmd__text_add(&text, "P(");
    for (int d = 0; d < dim; d++)
        spmd__text_add(&text, "-, ");
    if (dim >= 0)
        spmd__axis_list_print(&text, &pmap->mesh->axes, &pmap->axes);
    spmd__text_add(&text, ")");
}

static struct spec_text axes_text(const struct pmap *pmap)
{
    struct spec_text axes;
    struct text text = spmd__text_begin(axes.text, sizeof axes.text);
    spmd__axis_list_print(&text, &pmap->mesh->axes, &pmap->axes);
    return axes;
}

/* The extent of the mapped dimension must be the number of ranks, and nothing else split it. */
static spmd_status check_slices(const struct pmap *pmap, int index, const spmd_array *array)
{
    int dim = pmap->in_dim[index];
    int64_t extent = array->shape.dim[dim];
    int64_t ranks = spmd__axis_list_size(&pmap->mesh->axes, &pmap->axes);
    if (extent != ranks)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s has %lld slices along dim %d, but there are %lld ranks along %s: a "
                         "pmap needs one slice for each",
                         spmd__argument(&pmap->names, INPUT, index).text, (long long)extent, dim,
                         (long long)ranks, axes_text(pmap).text);
    struct axis_list entry = spmd__spec_entry(&array->sharding->spec, dim);
    for (int i = 0; i < entry.count; i++)
        if (!spmd__axis_list_has(&pmap->axes, entry.axis[i]))
            return spmd_fail(SPMD_ERR_SPEC,
                             "%s: its mapped dim %d lies along %s as well, but has one slice for "
                             "each rank along %s: reshard it first",
                             spmd__argument(&pmap->names, INPUT, index).text, dim,
                             array->sharding->mesh->axes.name[entry.axis[i]], axes_text(pmap).text);
    return SPMD_OK;
}

static spmd_status map_input(struct pmap *pmap, int index, const spmd_array *array, int axis)
{
    pmap->in_dim[index] = -1;
    if (!array)
        return SPMD_OK;
    TRY(spmd__batch_axis(&pmap->names, IN_AXIS, index, axis, array->shape.ndim,
                         &pmap->in_dim[index]));
    if (pmap->in_dim[index] < 0)
        return SPMD_OK;
    if (!spmd_mesh_equal(array->sharding->mesh, pmap->mesh))
        return spmd_fail(SPMD_ERR_MESH, "%s lies on another mesh than the pmap: reshard it first",
                         spmd__argument(&pmap->names, INPUT, index).text);
    return check_slices(pmap, index, array);
}

static spmd_status map_inputs(struct pmap *pmap, spmd_array *const in[], const int in_axes[])
{
    int mapped = 0;
    for (int k = 0; k < pmap->nin; k++) {
        TRY(map_input(pmap, k, in[k], in_axes[k]));
        mapped += pmap->in_dim[k] >= 0;
        print_spec(pmap, pmap->in_dim[k], &pmap->texts[k]);
    }
    if (mapped == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "no input of the pmap is mapped: it needs one with a slice for each rank");
    return SPMD_OK;
}

/* A dimension that counts from the end is known when the body declares the output. */
static spmd_status map_outputs(struct pmap *pmap)
{
    for (int k = 0; k < pmap->nout; k++) {
        int dim = pmap->out_axes[k];
        if (dim != SPMD_NOT_MAPPED && (dim < -SPMD_MAX_DIMS || dim >= SPMD_MAX_DIMS))
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s: %s",
                             spmd__argument(&pmap->names, OUT_AXIS, k).text,
                             spmd__absent("dim", dim, -SPMD_MAX_DIMS, SPMD_MAX_DIMS).text);
        print_spec(pmap, dim < 0 ? -1 : dim, &pmap->texts[pmap->nin + k]);
    }
    return SPMD_OK;
}

static spmd_status check_arguments(const struct pmap *pmap, spmd_array *const in[],
                                   const int in_axes[], spmd_array *const out[],
                                   const spmd_shard_map_options *options)
{
    if (!pmap->body || pmap->nin < 0 || pmap->nout < 0 || (pmap->nin > 0 && (!in || !in_axes)) ||
        (pmap->nout > 0 && (!out || !pmap->out_axes)))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a pmap needs a body, and an array and an axis for each of its %d inputs "
                         "and %d outputs",
                         pmap->nin, pmap->nout);
    if (options && options->axes)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a pmap has its axes as an argument: leave the option axes out");
    return SPMD_OK;
}

static spmd_status alloc_lists(struct pmap *pmap)
{
    size_t nin = (size_t)pmap->nin, nout = (size_t)pmap->nout;
    TRY(spmd__alloc(nin, sizeof *pmap->in_dim, &pmap->in_dim));
    TRY(spmd__alloc(nin + nout, sizeof *pmap->texts, &pmap->texts));
    TRY(spmd__alloc(nin + nout, sizeof *pmap->specs, &pmap->specs));
    TRY(spmd__alloc(nin, sizeof *pmap->slice, &pmap->slice));
    TRY(spmd__alloc(nin, sizeof *pmap->seen, &pmap->seen));
    TRY(spmd__alloc(nout, sizeof *pmap->output, &pmap->output));
    return spmd__alloc(nin, sizeof *pmap->array, &pmap->array);
}

static void free_lists(struct pmap *pmap)
{
    free(pmap->in_dim);
    free(pmap->texts);
    free(pmap->specs);
    free(pmap->slice);
    free(pmap->seen);
    free(pmap->output);
    free(pmap->array);
}

/* Local. What can be said before the ranks come together. Idle ranks know no shapes, and need no
 * specs. */
static spmd_status prepare(struct pmap *pmap, const char *axes, spmd_array *const in[],
                           const int in_axes[], spmd_array *const out[],
                           const spmd_shard_map_options *options)
{
    TRY(check_arguments(pmap, in, in_axes, out, options));
    TRY(spmd__axis_list_parse(axes, &pmap->mesh->axes, &pmap->axes));
    if (pmap->axes.count == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a pmap needs an axis, this text names none");
    TRY(alloc_lists(pmap));
    for (int k = 0; k < pmap->nin + pmap->nout; k++) {
        print_spec(pmap, -1, &pmap->texts[k]);
        pmap->specs[k] = pmap->texts[k].text;
    }
    if (!spmd__mesh_is_member(pmap->mesh))
        return SPMD_OK;
    TRY(map_inputs(pmap, in, in_axes));
    return map_outputs(pmap);
}

static uint64_t digest(const struct pmap *pmap)
{
    int counts[] = {pmap->nin, pmap->nout};
    uint64_t hash = spmd__hash(0, counts, sizeof counts);
    hash = spmd__hash(hash, &pmap->axes, sizeof pmap->axes);
    hash = spmd__hash(hash, pmap->in_dim, (size_t)pmap->nin * sizeof *pmap->in_dim);
    return spmd__hash(hash, pmap->out_axes, (size_t)pmap->nout * sizeof *pmap->out_axes);
}

/* The dimension where output `index`, of `ndim` dimensions in the body, is mapped; -1: nowhere. Its
 * spec follows. */
static spmd_status find_out_dim(struct pmap *pmap, int index, int ndim, int *dim)
{
    struct spec_text spec;
    bool mapped = pmap->out_axes[index] != SPMD_NOT_MAPPED;
    if (mapped && ndim == SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SHAPE, "%s has %d dimensions, no room for the mapped one",
                         spmd__argument(&pmap->names, OUTPUT, index).text, ndim);
    TRY(spmd__batch_axis(&pmap->names, OUT_AXIS, index, pmap->out_axes[index], ndim + mapped, dim));
    if (*dim < 0 || pmap->out_axes[index] >= 0)
        return SPMD_OK;
    print_spec(pmap, *dim, &spec);
    return spmd__outputs_name(pmap->call, index, spec.text);
}

static spmd_status declare(spmd_ctx *ctx, int index)
{
    struct pmap *pmap = ctx->call;
    spmd_block *block = &ctx->out[index].block;
    spmd_shape shape = spmd_block_shape(block);
    int dim;
    TRY(find_out_dim(pmap, index, shape.ndim, &dim));
    if (dim >= 0)
        shape = spmd__shape_with(shape, dim, 1);
    bool unset = ctx->out[index].unset;
    const spmd_block *whole =
        (unset ? spmd_out_unset : spmd_out)(pmap->outer, index, block->dtype, shape);
    if (!whole)
        return pmap->outer->failure.status;
    block->data = whole->data;
    return SPMD_OK;
}

/* A spec without dimension `dim`, along which nothing is split; and with such a one. */
static struct spec spec_without(struct spec spec, int dim)
{
    if (dim >= spec.ndim)
        return spec;
    for (int d = dim; d < spec.ndim; d++)
        spec.first[d] = spec.first[d + 1];
    spec.ndim--;
    return spec;
}

static struct spec spec_with(struct spec spec, int dim)
{
    if (dim >= spec.ndim)
        return spec;
    for (int d = spec.ndim; d >= dim; d--)
        spec.first[d + 1] = spec.first[d];
    spec.ndim++;
    return spec;
}

/* The same memory as an array that lies as `spec`, of another global and `local` shape. */
static spmd_status lend_as(spmd_array *array, const struct spec *spec, spmd_shape global,
                           spmd_shape local, spmd_array **lent)
{
    spmd_sharding *sharding;
    TRY(spmd__sharding_make(array->sharding->mesh, spec, &sharding));
    spmd_status status = spmd__array_lend(array, sharding, global, lent);
    if (status == SPMD_OK) {
        (*lent)->block = spmd_block_borrow(array->block.data, array->dtype, local);
        spmd__array_place(sharding, global, &(*lent)->block);
    }
    spmd_sharding_free(&sharding);
    return status;
}

static spmd_status find_array(spmd_ctx *ctx, int index, spmd_array **out)
{
    struct pmap *pmap = ctx->call;
    int dim = pmap->in_dim[index];
    spmd_array *whole;
    TRY(pmap->outer->kind->in_array(pmap->outer, index, &whole));
    if (!whole || dim < 0) {
        *out = whole;
        return SPMD_OK;
    }
    if (!pmap->array[index]) {
        struct spec spec = spec_without(whole->sharding->spec, dim);
        spmd_shape local = spmd_block_shape(&whole->block);
        TRY(lend_as(whole, &spec, spmd__shape_without(whole->shape, dim),
                    spmd__shape_without(local, dim), &pmap->array[index]));
    }
    *out = pmap->array[index];
    return SPMD_OK;
}

static spmd_status take_array(spmd_ctx *ctx, int index, spmd_array *array)
{
    struct pmap *pmap = ctx->call;
    spmd_array *whole;
    int dim;
    TRY(find_out_dim(pmap, index, array->shape.ndim, &dim));
    if (dim < 0)
        return spmd_out_array(pmap->outer, index, array);
    struct spec spec = spec_with(array->sharding->spec, dim);
    spmd_shape local = spmd_block_shape(&array->block);
    TRY(lend_as(array, &spec, spmd__shape_with(array->shape, dim, 1),
                spmd__shape_with(local, dim, 1), &whole));
    spmd_status status = spmd_out_array(pmap->outer, index, whole);
    spmd_array_free(&whole);
    return status;
}

static const struct call_kind over_all_axes = {"pmap", .declare = declare};
static const struct call_kind over_some_axes = {"pmap", .declare = declare, .in_array = find_array,
                                                .out_array = take_array};

/* The shard_map's body: the pmap's, on slices. */
static spmd_status run_on_slices(spmd_ctx *outer, void *user)
{
    struct pmap *pmap = user;
    pmap->outer = outer;
    for (int k = 0; k < pmap->nin; k++) {
        pmap->seen[k] = outer->in[k];
        if (pmap->in_dim[k] < 0)
            continue;
        pmap->slice[k] = spmd__batch_slice(outer->in[k], pmap->in_dim[k], 0);
        pmap->seen[k] = &pmap->slice[k];
    }
    spmd_ctx ctx = {.kind = outer->kind->in_array ? &over_some_axes : &over_all_axes,
                    .call = pmap,
                    .mesh = outer->mesh,
                    .scope = outer->scope,
                    .bound = outer->bound,
                    .outer = outer,
                    .instance = -1,
                    .names = &pmap->names,
                    .nin = pmap->nin,
                    .in = pmap->seen,
                    .nout = pmap->nout,
                    .out = pmap->output,
                    .arena = outer->arena};
    spmd_status status = spmd__ctx_run(&ctx, pmap->body, pmap->user);
    for (int k = 0; k < pmap->nin; k++)
        spmd_array_free(&pmap->array[k]);
    return status;
}

static spmd_status run(struct pmap *pmap, spmd_array *const in[], spmd_array *out[],
                       spmd_shard_map_options options)
{
    char axes[SPEC_BYTES];
    struct text text = spmd__text_begin(axes, sizeof axes);
    spmd__axis_list_print(&text, &pmap->mesh->axes, &pmap->axes);
    options.axes = axes;
    TRY(spmd__shard_map_plan_named(pmap->mesh, run_on_slices, pmap->nin, pmap->specs, pmap->nout,
                                   pmap->specs + pmap->nin, &options, &pmap->names, &pmap->call));
    spmd_status status = spmd_shard_map_run(pmap->call, pmap, in, out);
    spmd_shard_map_free(&pmap->call);
    return status;
}

spmd_status spmd__pmap_call(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user, int nin,
                            spmd_array *const in[], const int in_axes[], int nout,
                            spmd_array *out[], const int out_axes[],
                            const spmd_shard_map_options *options, const struct names *names)
{
    struct pmap pmap = {.mesh = mesh,
                        .body = body,
                        .user = user,
                        .names = names ? *names : (struct names){NULL, NULL},
                        .nin = nin,
                        .nout = nout,
                        .out_axes = out_axes};
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a pmap needs a mesh, this is NULL");
    spmd_status status = prepare(&pmap, axes, in, in_axes, out, options);
    status = spmd__mesh_agree(mesh, status, status == SPMD_OK ? digest(&pmap) : 0);
    if (status == SPMD_OK)
        status = run(&pmap, in, out, options ? *options : (spmd_shard_map_options){.axes = NULL});
    free_lists(&pmap);
    return status;
}

spmd_status spmd_pmap(spmd_mesh *mesh, const char *axes, spmd_body *body, void *user, int nin,
                      spmd_array *const in[], const int in_axes[], int nout, spmd_array *out[],
                      const int out_axes[], const spmd_shard_map_options *options)
{
    return spmd__pmap_call(mesh, axes, body, user, nin, in, in_axes, nout, out, out_axes, options,
                           NULL);
}
