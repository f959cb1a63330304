/* collective.c - golden cases of kind collective: one operation in a body of shard_map. */
#include <stdlib.h>
#include <string.h>

#include "golden.h"

enum { MAX_PERM = 64 };

/* What the body gets: the operation, its axes "x,y" or "x [[0,2],[3,1]]", and the parameters that
 * it has. */
struct operation {
    const struct named *op;
    char axes[AXES_BYTES];
    int dim;    /* "axis", "scatter_dimension", "split_axis" */
    int to_dim; /* "concat_axis" */
    spmd_tiling tiling;
    int64_t source;
    int64_t nperm;
    int64_t pairs[MAX_PERM][2]; /* a list of pairs in "perm" */
    int64_t perm[MAX_PERM];     /* a list of numbers in it */
};

/* Declares the output of an operation that keeps the shape. */
static spmd_block *like(spmd_ctx *ctx, const spmd_block *in, spmd_dtype dtype)
{
    return spmd_out(ctx, 0, dtype, spmd_block_shape(in));
}

static spmd_status psum(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_psum(ctx, in, o->axes, like(ctx, in, spmd_psum_dtype(in->dtype)));
}

static spmd_status pmean(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pmean(ctx, in, o->axes, like(ctx, in, spmd_pmean_dtype(in->dtype)));
}

static spmd_status pmax(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pmax(ctx, in, o->axes, like(ctx, in, in->dtype));
}

static spmd_status pmin(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pmin(ctx, in, o->axes, like(ctx, in, in->dtype));
}

static spmd_status all_gather(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    spmd_shape shape;
    SPMD_TRY(spmd_all_gather_shape(ctx, in, o->axes, o->dim, o->tiling, &shape));
    return spmd_all_gather(ctx, in, o->axes, o->dim, o->tiling, spmd_out(ctx, 0, in->dtype, shape));
}

static spmd_status psum_scatter(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    spmd_shape shape;
    SPMD_TRY(spmd_psum_scatter_shape(ctx, in, o->axes, o->dim, o->tiling, &shape));
    return spmd_psum_scatter(ctx, in, o->axes, o->dim, o->tiling,
                             spmd_out(ctx, 0, spmd_psum_dtype(in->dtype), shape));
}

static spmd_status all_to_all(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    spmd_shape shape;
    SPMD_TRY(spmd_all_to_all_shape(ctx, in, o->axes, o->dim, o->to_dim, o->tiling, &shape));
    return spmd_all_to_all(ctx, in, o->axes, o->dim, o->to_dim, o->tiling,
                           spmd_out(ctx, 0, in->dtype, shape));
}

static spmd_status ppermute(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_ppermute(ctx, in, o->axes, o->nperm, (const int64_t(*)[2])o->pairs,
                         like(ctx, in, in->dtype));
}

static spmd_status pshuffle(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    if (o->nperm != spmd_axis_size(ctx, o->axes))
        return spmd_fail(SPMD_ERR_ARGUMENT, "a permutation of %lld members", (long long)o->nperm);
    return spmd_pshuffle(ctx, in, o->axes, o->perm, like(ctx, in, in->dtype));
}

static spmd_status pswapaxes(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pswapaxes(ctx, in, o->axes, o->dim, like(ctx, in, in->dtype));
}

static spmd_status pbroadcast(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pbroadcast(ctx, in, o->axes, o->source, like(ctx, in, in->dtype));
}

static spmd_status pargmax(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pargmax(ctx, in, o->axes, like(ctx, in, SPMD_I32));
}

static spmd_status pargmin(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    return spmd_pargmin(ctx, in, o->axes, like(ctx, in, SPMD_I32));
}

static spmd_status axis_index(spmd_ctx *ctx, const spmd_block *in, const struct operation *o)
{
    int64_t index = spmd_axis_index(ctx, o->axes);
    if (index < 0)
        return spmd_fail(SPMD_ERR_MESH, "no axes %s", o->axes);
    int32_t *out = like(ctx, in, SPMD_I32)->data;
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        out[i] = (int32_t)index;
    return SPMD_OK;
}

/* The operations, and the parameters that they know besides the axes and their groups. */
static const struct named {
    const char *name;
    spmd_status (*run)(spmd_ctx *ctx, const spmd_block *in, const struct operation *operation);
    const char *params[3];
} ops[] = {
    {"psum", psum, {0}},
    {"pmean", pmean, {0}},
    {"pmax", pmax, {0}},
    {"pmin", pmin, {0}},
    {"pargmax", pargmax, {0}},
    {"pargmin", pargmin, {0}},
    {"all_gather", all_gather, {"axis", "tiled"}},
    {"psum_scatter", psum_scatter, {"scatter_dimension", "tiled"}},
    {"all_to_all", all_to_all, {"split_axis", "concat_axis", "tiled"}},
    {"ppermute", ppermute, {"perm"}},
    {"pshuffle", pshuffle, {"perm"}},
    {"pswapaxes", pswapaxes, {"axis"}},
    {"pbroadcast", pbroadcast, {"source"}},
    {"axis_index", axis_index, {0}},
};

static const struct named *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

static bool is_param(const struct named *op, const char *name)
{
    if (strcmp(name, "axes") == 0 || strcmp(name, "axis_index_groups") == 0)
        return true;
    for (int i = 0; i < 3; i++)
        if (op->params[i] && strcmp(op->params[i], name) == 0)
            return true;
    return false;
}

/* The axes as text, and behind them the groups, which have the library's form in JSON too. */
static void read_axes(const cJSON *params, struct operation *o)
{
    size_t length = 0;
    const cJSON *groups = cJSON_GetObjectItemCaseSensitive(params, "axis_index_groups");
    const cJSON *axes = cJSON_GetObjectItemCaseSensitive(params, "axes");
    for (const cJSON *axis = first_of(axes); axis; axis = axis->next)
        if (cJSON_IsString(axis) && length < AXES_BYTES)
            length += (size_t)snprintf(o->axes + length, AXES_BYTES - length, "%s%s",
                                       length > 0 ? "," : "", axis->valuestring);
    if (!cJSON_IsArray(groups) || length >= AXES_BYTES)
        return;
    char *text = cJSON_PrintUnformatted(groups);
    snprintf(o->axes + length, AXES_BYTES - length, " %s", text ? text : "");
    cJSON_free(text);
}

static void read_perm(const cJSON *params, struct operation *o)
{
    const cJSON *perm = cJSON_GetObjectItemCaseSensitive(params, "perm");
    for (const cJSON *item = first_of(perm); item && o->nperm < MAX_PERM; item = item->next) {
        int64_t *pair = o->pairs[o->nperm];
        integer_of(cJSON_IsArray(item) ? cJSON_GetArrayItem(item, 0) : item, &pair[0]);
        integer_of(cJSON_IsArray(item) ? cJSON_GetArrayItem(item, 1) : item, &pair[1]);
        o->perm[o->nperm++] = pair[0];
    }
}

static int read_dim(const cJSON *params, const char *name, int otherwise)
{
    const cJSON *dim = cJSON_GetObjectItemCaseSensitive(params, name);
    return cJSON_IsNumber(dim) ? dim->valueint : otherwise;
}

/* Reads `op` and `params`; skips the case for one that is not known. */
static bool read_operation(const cJSON *test, struct verdict *verdict, struct operation *o)
{
    const char *name = NULL;
    const cJSON *params = NULL, *axes = NULL;
    if (!read_text(test, "op", verdict, &name) || !read_field(test, "params", verdict, &params))
        return false;
    o->op = find_op(name);
    if (!o->op) {
        skipped(verdict, "collective operation %s", name);
        return false;
    }
    for (const cJSON *param = first_of(params); param; param = param->next)
        if (!is_param(o->op, param->string) && !cJSON_IsNull(param)) {
            skipped(verdict, "parameter %s of %s", param->string, name);
            return false;
        }
    if (!read_field(params, "axes", verdict, &axes))
        return false;
    read_axes(params, o);
    read_perm(params, o);
    o->dim = read_dim(params, "axis",
                      read_dim(params, "scatter_dimension", read_dim(params, "split_axis", 0)));
    o->to_dim = read_dim(params, "concat_axis", 0);
    o->source = read_dim(params, "source", 0);
    o->tiling =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(params, "tiled")) ? SPMD_TILED : SPMD_UNTILED;
    return true;
}

static spmd_status body(spmd_ctx *ctx, void *user)
{
    const struct operation *o = user;
    return o->op->run(ctx, spmd_in(ctx, 0), o);
}

/* The case as calls: what is wrong in it is an error of one of them. */
static spmd_status run(spmd_mesh *mesh, struct operation *o, const void *input, spmd_dtype dtype,
                       spmd_shape shape, const char *in_spec, const char *out_spec,
                       spmd_array **out)
{
    const spmd_shard_map_options unchecked = {.replication = SPMD_REPLICATION_NEVER};
    spmd_sharding *sharding = NULL;
    spmd_array *in = NULL;
    SPMD_TRY(spmd_sharding_create(mesh, in_spec, &sharding));
    spmd_status status =
        spmd_device_put(input, spmd_shape_size(shape), dtype, shape, sharding, &in);
    spmd_sharding_free(&sharding);
    SPMD_TRY(status);
    status = spmd_shard_map(mesh, body, o, 1, SPMD_ARRAYS(in), SPMD_SPECS(in_spec), 1, out,
                            SPMD_SPECS(out_spec), &unchecked);
    spmd_array_free(&in);
    return status;
}

static void expect_output(const cJSON *test, struct verdict *verdict, spmd_mesh *mesh,
                          spmd_array *out)
{
    spmd_shape shape = {0};
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    const cJSON *list = NULL;
    if (!read_shape(test, "output_shape", verdict, &shape) ||
        !read_dtype(test, "output_dtype", verdict, &dtype) ||
        !read_field(test, "output", verdict, &list) || spmd_mesh_position(mesh) < 0)
        return;
    if (dtype != spmd_array_dtype(out))
        failed(verdict, "expected output_dtype %s, got %s", spmd_dtype_name(dtype),
               spmd_dtype_name(spmd_array_dtype(out)));
    expect_shape(verdict, "output_shape", shape, spmd_array_shape(out));
    if (verdict->outcome != PASSED)
        return;
    int64_t count = spmd_shape_size(shape);
    void *host = allocate(verdict, count, spmd_dtype_size(dtype));
    if (host && succeeded(verdict, spmd_array_gather(out, 0, host, count)) &&
        spmd_mesh_position(mesh) == 0) /* where replicas differ, JAX shows the first ones */
        expect_elements(verdict, "output", list, dtype, host, count, 0);
    free(host);
}

/* Whether the input is cut unevenly: JAX refuses that, whatever else is right or wrong. */
static bool is_uneven(const cJSON *test, spmd_mesh *mesh, const char *in_spec, spmd_shape shape)
{
    spmd_sharding *sharding = NULL;
    const cJSON *entries = cJSON_GetObjectItemCaseSensitive(test, "in_spec");
    if (!spec_is_sound(test, entries, shape.ndim) ||
        spmd_sharding_create(mesh, in_spec, &sharding) != SPMD_OK)
        return false;
    spmd_mesh_set_strict(mesh, true);
    bool uneven = spmd_sharding_check(sharding, shape) != SPMD_OK;
    spmd_mesh_set_strict(mesh, false);
    spmd_sharding_free(&sharding);
    return uneven;
}

void run_collective(const cJSON *test, struct verdict *verdict)
{
    struct operation operation = {0};
    char in_spec[SPEC_BYTES], out_spec[SPEC_BYTES];
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_shape shape = {0};
    void *input = NULL;
    spmd_mesh *mesh = NULL;
    spmd_array *out = NULL;
    if (!read_operation(test, verdict, &operation) ||
        !read_spec(test, "in_spec", verdict, in_spec) ||
        !read_spec(test, "out_spec", verdict, out_spec) ||
        !read_dtype(test, "dtype", verdict, &dtype) ||
        !read_shape(test, "shape", verdict, &shape) ||
        !read_elements(test, "input", verdict, dtype, shape, &input))
        return;
    if (read_mesh(test, verdict, &mesh)) {
        bool rejects = cJSON_HasObjectItem(test, "jax_rejects");
        spmd_status status = run(mesh, &operation, input, dtype, shape, in_spec, out_spec, &out);
        if (!rejects && succeeded(verdict, status))
            expect_output(test, verdict, mesh, out);
        if (rejects && status == SPMD_OK && spmd_mesh_position(mesh) >= 0 &&
            !is_uneven(test, mesh, in_spec, shape))
            failed(verdict, "expected an error, got success");
    }
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
    free(input);
}
