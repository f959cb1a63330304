/* map.c - golden cases of kind map: a body over a batch dimension, anywhere in its blocks. */
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* out[m, k] = u[m] + v[k], of blocks that may be slices. */
static spmd_status outer_sum(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *u = spmd_in(ctx, 0), *v = spmd_in(ctx, 1);
    spmd_block *out = spmd_out(ctx, 0, u->dtype, SPMD_SHAPE(u->shape[0], v->shape[0]));
    if (!out)
        return spmd_fail(SPMD_ERR_BODY, "no output block");
    int64_t size = (int64_t)spmd_dtype_size(u->dtype);
    for (int64_t m = 0; m < u->shape[0]; m++)
        for (int64_t k = 0; k < v->shape[0]; k++) {
            const char *left = (const char *)u->data + m * u->stride[0] * size;
            const char *right = (const char *)v->data + k * v->stride[0] * size;
            char *to = (char *)out->data + (m * out->stride[0] + k * out->stride[1]) * size;
            element_set(u->dtype, to,
                        element_number(u->dtype, left) + element_number(u->dtype, right));
        }
    return SPMD_OK;
}

/* A dimension, or null for "not mapped". */
static int axis_of(const cJSON *json)
{
    return cJSON_IsNumber(json) ? json->valueint : SPMD_NOT_MAPPED;
}

static bool read_block(const cJSON *test, const char *shape_name, const char *name,
                       struct verdict *verdict, spmd_dtype dtype, spmd_block *block)
{
    spmd_shape shape = {0};
    void *elements = NULL;
    if (!read_shape(test, shape_name, verdict, &shape) ||
        !read_elements(test, name, verdict, dtype, shape, &elements))
        return false;
    *block = spmd_block_borrow(elements, dtype, shape);
    return true;
}

static void run_vmap(const cJSON *test, struct verdict *verdict, spmd_dtype dtype,
                     const spmd_block *a, const spmd_block *b)
{
    const cJSON *in_axes = NULL, *out_axes = NULL, *output = NULL;
    spmd_vmap_options options = {0};
    spmd_shape shape = {0};
    if (!read_field(test, "in_axes", verdict, &in_axes) ||
        !read_field(test, "out_axes", verdict, &out_axes) ||
        !read_field(test, "output", verdict, &output) ||
        !read_shape(test, "output_shape", verdict, &shape) ||
        !read_integer(test, "size", verdict, &options.axis_size))
        return;
    spmd_block *out = NULL;
    int first = axis_of(cJSON_GetArrayItem(in_axes, 0));
    int second = axis_of(cJSON_GetArrayItem(in_axes, 1));
    if (!succeeded(verdict,
                   spmd_vmap(NULL, outer_sum, NULL, 2, SPMD_BLOCKS(a, b), SPMD_AXES(first, second),
                             1, &out, SPMD_AXES(axis_of(out_axes)), &options)))
        return;
    expect_shape(verdict, "output_shape", shape, spmd_block_shape(out));
    if (verdict->outcome == PASSED)
        expect_elements(verdict, "output", output, dtype, out->data, spmd_block_size(out), 0);
    spmd_block_free(&out);
}

void run_map(const cJSON *test, struct verdict *verdict)
{
    const char *op = NULL, *body = NULL;
    spmd_dtype dtype = SPMD_DTYPE_NONE;
    spmd_block a = {0}, b = {0};
    if (!read_text(test, "op", verdict, &op) || !read_text(test, "body", verdict, &body) ||
        !read_dtype(test, "dtype", verdict, &dtype))
        return;
    if (strcmp(op, "vmap") != 0)
        skipped(verdict, "map operation %s", op);
    else if (strcmp(body, "outer_sum") != 0)
        skipped(verdict, "map body %s", body);
    else if (read_block(test, "a_shape", "a", verdict, dtype, &a) &&
             read_block(test, "b_shape", "b", verdict, dtype, &b))
        run_vmap(test, verdict, dtype, &a, &b);
    free(a.data);
    free(b.data);
}
