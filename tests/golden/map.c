/* map.c - golden cases of kind map: a body over a batch dimension, anywhere in its blocks. */
#include <stdio.h>
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

/* What vmap and pmap have alike. */
struct map {
    spmd_dtype dtype;
    spmd_block a, b;
    int64_t size;
    int in_axes[2], out_axis;
    spmd_shape shape; /* of the output */
    const cJSON *output;
};

static bool read_map(const cJSON *test, struct verdict *verdict, struct map *map)
{
    const cJSON *in_axes = NULL, *out_axes = NULL;
    if (!read_dtype(test, "dtype", verdict, &map->dtype) ||
        !read_block(test, "a_shape", "a", verdict, map->dtype, &map->a) ||
        !read_block(test, "b_shape", "b", verdict, map->dtype, &map->b) ||
        !read_field(test, "in_axes", verdict, &in_axes) ||
        !read_field(test, "out_axes", verdict, &out_axes) ||
        !read_field(test, "output", verdict, &map->output) ||
        !read_shape(test, "output_shape", verdict, &map->shape) ||
        !read_integer(test, "size", verdict, &map->size))
        return false;
    map->in_axes[0] = axis_of(cJSON_GetArrayItem(in_axes, 0));
    map->in_axes[1] = axis_of(cJSON_GetArrayItem(in_axes, 1));
    map->out_axis = axis_of(out_axes);
    return true;
}

static void run_vmap(const struct map *map, struct verdict *verdict)
{
    const spmd_vmap_options options = {.axis_size = map->size};
    spmd_block *out = NULL;
    if (!succeeded(verdict, spmd_vmap(NULL, outer_sum, NULL, 2, SPMD_BLOCKS(&map->a, &map->b),
                                      map->in_axes, 1, &out, &map->out_axis, &options)))
        return;
    expect_shape(verdict, "output_shape", map->shape, spmd_block_shape(out));
    if (verdict->outcome == PASSED)
        expect_elements(verdict, "output", map->output, map->dtype, out->data, spmd_block_size(out),
                        0);
    spmd_block_free(&out);
}

static spmd_status put(spmd_mesh *mesh, const spmd_block *block, spmd_array **array)
{
    spmd_sharding *sharding = NULL;
    SPMD_TRY(spmd_sharding_create(mesh, "P()", &sharding));
    spmd_status status = spmd_device_put(block->data, spmd_block_size(block), block->dtype,
                                         spmd_block_shape(block), sharding, array);
    spmd_sharding_free(&sharding);
    return status;
}

static void expect_array(const struct map *map, struct verdict *verdict, spmd_array *out)
{
    int64_t count = spmd_shape_size(map->shape);
    void *host = allocate(verdict, count, spmd_dtype_size(map->dtype));
    expect_shape(verdict, "output_shape", map->shape, spmd_array_shape(out));
    if (host && verdict->outcome == PASSED &&
        succeeded(verdict, spmd_array_gather(out, SPMD_ALL, host, count)))
        expect_elements(verdict, "output", map->output, map->dtype, host, count, 0);
    free(host);
}

static void run_pmap(const struct map *map, struct verdict *verdict)
{
    char text[32];
    spmd_mesh *mesh = NULL;
    spmd_array *a = NULL, *b = NULL, *out = NULL;
    snprintf(text, sizeof text, "x=%lld", (long long)map->size);
    if (succeeded(verdict, spmd_mesh_create(MPI_COMM_WORLD, text, &mesh)) &&
        succeeded(verdict, put(mesh, &map->a, &a)) && succeeded(verdict, put(mesh, &map->b, &b)) &&
        succeeded(verdict, spmd_pmap(mesh, "x", outer_sum, NULL, 2, SPMD_ARRAYS(a, b), map->in_axes,
                                     1, &out, &map->out_axis, NULL)) &&
        spmd_mesh_position(mesh) >= 0)
        expect_array(map, verdict, out);
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
}

int64_t map_ranks(const cJSON *test)
{
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(test, "op");
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(test, "size");
    int64_t ranks = 0;
    if (cJSON_IsString(op) && strcmp(op->valuestring, "pmap") == 0)
        integer_of(size, &ranks);
    return ranks;
}

void run_map(const cJSON *test, struct verdict *verdict)
{
    const char *op = NULL, *body = NULL;
    struct map map = {.size = 0};
    if (!read_text(test, "op", verdict, &op) || !read_text(test, "body", verdict, &body))
        return;
    if (strcmp(op, "vmap") != 0 && strcmp(op, "pmap") != 0)
        skipped(verdict, "map operation %s", op);
    else if (strcmp(body, "outer_sum") != 0)
        skipped(verdict, "map body %s", body);
    else if (read_map(test, verdict, &map))
        (strcmp(op, "vmap") == 0 ? run_vmap : run_pmap)(&map, verdict);
    free(map.a.data);
    free(map.b.data);
}
