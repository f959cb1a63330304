/* counting.h - arrays that count, for cases about bodies: element i is i, in i64, whatever the
 * mesh. */
#ifndef COUNTING_H
#define COUNTING_H

#include <stdlib.h>

#include "elements.h"

static inline spmd_array *count_up(spmd_mesh *mesh, const char *spec, spmd_shape shape)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, SPMD_I64, shape, &array));
    return array;
}

/* This rank's block of an array, in i64. */
static inline int64_t *block_of(const spmd_array *array)
{
    return elements(spmd_array_block(array));
}

/* All elements of an i64 array on every rank, or NULL; to be freed. */
static inline int64_t *gather(spmd_array *array)
{
    int64_t size = spmd_shape_size(spmd_array_shape(array));
    int64_t *host = calloc((size_t)size + 1, sizeof *host);
    if (!EXPECT_OK(spmd_array_gather(array, SPMD_ALL, host, size))) {
        free(host);
        return NULL;
    }
    return host;
}

/* Element i of the array is factor * i + offset. */
static inline void expect_line(spmd_array *array, int64_t factor, int64_t offset)
{
    int64_t wrong = 0, *host = array ? gather(array) : NULL;
    EXPECT(host != NULL);
    for (int64_t i = 0; host && i < spmd_shape_size(spmd_array_shape(array)); i++)
        wrong += host[i] != factor * i + offset;
    EXPECT(wrong == 0);
    free(host);
}

/* Output `index` in the input's type and shape. */
static inline spmd_block *out_like(spmd_ctx *ctx, int index, const spmd_block *in)
{
    return spmd_out(ctx, index, in->dtype, spmd_block_shape(in));
}

/* out = 2 in + 1. */
static inline spmd_status twice_and_one(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = out_like(ctx, 0, in);
    for (int64_t i = 0; i < spmd_block_size(in); i++)
        elements(out)[i] = 2 * elements(in)[i] + 1;
    return SPMD_OK;
}

/* out = in. */
static inline spmd_status copy(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    memcpy(out_like(ctx, 0, in)->data, in->data,
           (size_t)spmd_block_size(in) * spmd_dtype_size(in->dtype));
    return SPMD_OK;
}

/* Declares output 0 in the type and shape of a block. */
static inline spmd_status declare_as_told(spmd_ctx *ctx, void *user)
{
    const spmd_block *told = user;
    spmd_out(ctx, 0, told->dtype, spmd_block_shape(told));
    return SPMD_OK;
}

/* One input and one output through a body, one shot. */
static inline spmd_status map(spmd_mesh *mesh, spmd_body *body, void *user, spmd_array *in,
                              const char *in_spec, spmd_array **out, const char *out_spec)
{
    return spmd_shard_map(mesh, body, user, 1, SPMD_ARRAYS(in), SPMD_SPECS(in_spec), 1, out,
                          SPMD_SPECS(out_spec), NULL);
}

/* A plan of the same. */
static inline spmd_shard_map_call *plan_one(spmd_mesh *mesh, spmd_body *body, const char *in_spec,
                                            const char *out_spec,
                                            const spmd_shard_map_options *options)
{
    spmd_shard_map_call *plan = NULL;
    EXPECT_OK(spmd_shard_map_plan(mesh, body, 1, SPMD_SPECS(in_spec), 1, SPMD_SPECS(out_spec),
                                  options, &plan));
    return plan;
}

#endif
