/* vma.c - golden cases of kind vma: is an output equal where its spec promises it? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* The bodies. Each reads the block v and writes output 0. */

/* Output 0 in v's shape, with v's elements in it. */
static spmd_block *copy(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = spmd_out(ctx, 0, SPMD_F32, spmd_block_shape(v));
    memcpy(out->data, v->data, (size_t)spmd_block_size(v) * sizeof(float));
    return out;
}

/* out = scale * out + factor * term + shift, elementwise. */
static void combine(spmd_block *out, float scale, float factor, const spmd_block *term, float shift)
{
    float *to = out->data;
    const float *from = term->data;
    for (int64_t i = 0; i < spmd_block_size(out); i++)
        to[i] = scale * to[i] + factor * from[i] + shift;
}

static double sum(const spmd_block *block)
{
    const float *from = block->data;
    double total = 0;
    for (int64_t i = 0; i < spmd_block_size(block); i++)
        total += from[i];
    return total;
}

static spmd_status psum_over(spmd_ctx *ctx, const spmd_block *v, const char *axes)
{
    return spmd_psum(ctx, v, axes, copy(ctx, v));
}

/* s, the sum of v over x and y, as scratch. */
static spmd_status psum_xy_temp(spmd_ctx *ctx, const spmd_block *v, spmd_block **s)
{
    *s = spmd_temp(ctx, SPMD_F32, spmd_block_shape(v));
    return spmd_psum(ctx, v, "x,y", *s);
}

static spmd_status identity(spmd_ctx *ctx, const spmd_block *v)
{
    copy(ctx, v);
    return SPMD_OK;
}

static spmd_status psum_x(spmd_ctx *ctx, const spmd_block *v)
{
    return psum_over(ctx, v, "x");
}

static spmd_status psum_y(spmd_ctx *ctx, const spmd_block *v)
{
    return psum_over(ctx, v, "y");
}

static spmd_status psum_xy(spmd_ctx *ctx, const spmd_block *v)
{
    return psum_over(ctx, v, "x,y");
}

static spmd_status all_gather_y_dim1_tiled(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_shape shape;
    SPMD_TRY(spmd_all_gather_shape(ctx, v, "y", 1, SPMD_TILED, &shape));
    return spmd_all_gather(ctx, v, "y", 1, SPMD_TILED, spmd_out(ctx, 0, SPMD_F32, shape));
}

static spmd_status pmean_y_plus_v(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = copy(ctx, v);
    SPMD_TRY(spmd_pmean(ctx, v, "y", out));
    combine(out, 1, 1, v, 0);
    return SPMD_OK;
}

static spmd_status ones(spmd_ctx *ctx, const spmd_block *v)
{
    combine(copy(ctx, v), 0, 0, v, 1);
    return SPMD_OK;
}

static spmd_status zeros_plus_axis_index_x(spmd_ctx *ctx, const spmd_block *v)
{
    combine(copy(ctx, v), 0, 0, v, (float)spmd_axis_index(ctx, "x"));
    return SPMD_OK;
}

static spmd_status cond_on_psum(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *s = NULL;
    SPMD_TRY(psum_xy_temp(ctx, v, &s));
    combine(copy(ctx, v), 0, sum(s) > 0 ? 1 : -1, s, 0);
    return SPMD_OK;
}

static spmd_status cond_on_local(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *s = NULL;
    SPMD_TRY(psum_xy_temp(ctx, v, &s));
    combine(copy(ctx, v), 0, 0, s, sum(v) > 0 ? 1 : 2);
    return SPMD_OK;
}

static spmd_status scan3_add_psum_xy(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = copy(ctx, v), *s = NULL;
    combine(out, 0, 0, v, 0);
    for (int step = 0; step < 3; step++) {
        SPMD_TRY(psum_xy_temp(ctx, v, &s));
        combine(out, 1, 1, s, 0);
    }
    return SPMD_OK;
}

static spmd_status scan3_add_v(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = copy(ctx, v);
    for (int step = 0; step < 3; step++)
        combine(out, 1, 1, v, 0);
    return SPMD_OK;
}

static spmd_status while3_add_psum_xy(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = copy(ctx, v), *s = NULL;
    SPMD_TRY(psum_xy_temp(ctx, v, &s));
    combine(out, 0, 1, s, 0);
    for (int step = 0; step < 3; step++)
        combine(out, 1, 1, s, 0);
    return SPMD_OK;
}

static spmd_status while_sum_below_100(spmd_ctx *ctx, const spmd_block *v)
{
    spmd_block *out = copy(ctx, v);
    float *c = out->data;
    const float *from = v->data;
    while (sum(out) < 100 && spmd_block_size(out) > 0)
        for (int64_t i = 0; i < spmd_block_size(out); i++)
            c[i] += 1 + fabsf(from[i]);
    return SPMD_OK;
}

static const struct named {
    const char *name;
    spmd_status (*run)(spmd_ctx *ctx, const spmd_block *v);
} bodies[] = {
    {"identity", identity},
    {"psum_x", psum_x},
    {"psum_y", psum_y},
    {"psum_xy", psum_xy},
    {"all_gather_y_dim1_tiled", all_gather_y_dim1_tiled},
    {"pmean_y_plus_v", pmean_y_plus_v},
    {"ones", ones},
    {"zeros_plus_axis_index_x", zeros_plus_axis_index_x},
    {"cond_on_psum", cond_on_psum},
    {"cond_on_local", cond_on_local},
    {"scan3_add_psum_xy", scan3_add_psum_xy},
    {"scan3_add_v", scan3_add_v},
    {"while3_add_psum_xy", while3_add_psum_xy},
    {"while_sum_below_100", while_sum_below_100},
};

static spmd_status run_body(spmd_ctx *ctx, void *user)
{
    const struct named *body = user;
    return body->run(ctx, spmd_in(ctx, 0));
}

/* A case, read. */
struct vma {
    struct named body;
    spmd_mesh *mesh;
    spmd_array *in;
    char in_spec[SPEC_BYTES], out_spec[SPEC_BYTES];
};

static spmd_status map(struct vma *vma, spmd_replication replication, spmd_array **out)
{
    const spmd_shard_map_options options = {.replication = replication};
    return spmd_shard_map(vma->mesh, run_body, &vma->body, 1, SPMD_ARRAYS(vma->in),
                          SPMD_SPECS(vma->in_spec), 1, out, SPMD_SPECS(vma->out_spec), &options);
}

/* Unchecked, each rank's block is what its body wrote. */
static void expect_blocks(const cJSON *test, struct verdict *verdict, struct vma *vma)
{
    spmd_array *out = NULL;
    spmd_shape shape = {0};
    const cJSON *blocks = NULL;
    if (!read_shape(test, "block_shape", verdict, &shape) ||
        !read_field(test, "blocks", verdict, &blocks) ||
        !succeeded(verdict, map(vma, SPMD_REPLICATION_NEVER, &out)))
        return;
    const spmd_block *block = spmd_array_block(out);
    if (block) {
        char what[40];
        int position = (int)spmd_mesh_position(vma->mesh);
        snprintf(what, sizeof what, "blocks[%d]", position);
        expect_shape(verdict, "block_shape", shape, spmd_block_shape(block));
        if (verdict->outcome == PASSED)
            expect_elements(verdict, what, cJSON_GetArrayItem(blocks, position), block->dtype,
                            block->data, spmd_block_size(block), 0);
    }
    spmd_array_free(&out);
}

static bool holds_name(const cJSON *list, const char *name)
{
    for (const cJSON *item = first_of(list); item; item = item->next)
        if (cJSON_IsArray(item) ? holds_name(item, name)
                                : cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
            return true;
    return false;
}

/* The check accepts if blocks are equal along each axis that the out_spec does not name. */
static void expect_verdict(const cJSON *test, struct verdict *verdict, struct vma *vma)
{
    const cJSON *equal_along = NULL, *out_spec = NULL;
    if (!read_field(test, "equal_along", verdict, &equal_along) ||
        !read_field(test, "out_spec", verdict, &out_spec))
        return;
    bool accepts = true;
    for (int axis = 0; axis < spmd_mesh_naxes(vma->mesh); axis++) {
        const char *name = spmd_mesh_axis_name(vma->mesh, axis);
        accepts = accepts && (holds_name(out_spec, name) || holds_name(equal_along, name));
    }
    spmd_array *out = NULL;
    spmd_status status = map(vma, SPMD_REPLICATION_ALWAYS, &out);
    spmd_array_free(&out);
    if (spmd_mesh_position(vma->mesh) < 0)
        return;
    if (accepts)
        succeeded(verdict, status);
    else if (status != SPMD_ERR_REPLICATION)
        failed(verdict, "expected SPMD_ERR_REPLICATION, got %s", spmd_status_name(status));
}

/* Reads `body`; skips the case for one that is not known. */
static bool read_body(const cJSON *test, struct verdict *verdict, struct named *body)
{
    const char *name = NULL;
    if (!read_text(test, "body", verdict, &name))
        return false;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        if (strcmp(bodies[i].name, name) == 0) {
            *body = bodies[i];
            return true;
        }
    skipped(verdict, "vma body %s", name);
    return false;
}

void run_vma(const cJSON *test, struct verdict *verdict)
{
    struct vma vma = {0};
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_shape shape = {0};
    void *input = NULL;
    spmd_sharding *sharding = NULL;
    if (!read_body(test, verdict, &vma.body) || !read_spec(test, "in_spec", verdict, vma.in_spec) ||
        !read_spec(test, "out_spec", verdict, vma.out_spec) ||
        !read_dtype(test, "dtype", verdict, &dtype) ||
        !read_shape(test, "shape", verdict, &shape) ||
        !read_elements(test, "input", verdict, dtype, shape, &input))
        return;
    if (dtype != SPMD_F32)
        skipped(verdict, "vma body of %s", spmd_dtype_name(dtype));
    else if (read_mesh(test, verdict, &vma.mesh) &&
             succeeded(verdict, spmd_sharding_create(vma.mesh, vma.in_spec, &sharding)) &&
             succeeded(verdict, spmd_device_put(input, spmd_shape_size(shape), dtype, shape,
                                                sharding, &vma.in))) {
        expect_blocks(test, verdict, &vma);
        expect_verdict(test, verdict, &vma);
    }
    spmd_array_free(&vma.in);
    spmd_sharding_free(&sharding);
    spmd_mesh_free(&vma.mesh);
    free(input);
}
