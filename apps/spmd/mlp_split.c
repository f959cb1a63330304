/* mlp_split.c - labelled rows, checked, and split for training and for testing. */
#include "mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plural.h"

static spmd_status check_data(const spmd_block *x, const spmd_block *y)
{
    int64_t n = x->shape[0], features = x->shape[1];
    const float *values = x->data;
    const int32_t *labels = y->data;
    if (y->shape[0] != n)
        return spmd_fail(SPMD_ERR_SHAPE, "x has %lld row%s and y %lld label%s", (long long)n,
                         plural(n), (long long)y->shape[0], plural(y->shape[0]));
    if (n < 2 || features < 1)
        return spmd_fail(SPMD_ERR_SHAPE, "x is %lldx%lld: training needs 2 rows or more",
                         (long long)n, (long long)features);
    for (int64_t i = 0; i < n * features; i++)
        if (!isfinite(values[i]))
            return spmd_fail(SPMD_ERR_ARGUMENT, "x is not finite in row %lld, column %lld",
                             (long long)(i / features), (long long)(i % features));
    for (int64_t i = 0; i < n; i++)
        if (labels[i] < 0 || labels[i] >= 65536)
            return spmd_fail(SPMD_ERR_ARGUMENT, "y is %d in row %lld: labels are from 0 to 65535",
                             labels[i], (long long)i);
    return SPMD_OK;
}

/* Gathers rows `order` [count] of x, divided by `scale`, and of y. */
struct rows {
    const float *x;
    const int32_t *y;
    int64_t features;
    const int64_t *order;
    float scale;
};

static spmd_status fill_x(const spmd_box *box, void *data, void *user)
{
    const struct rows *rows = user;
    float *out = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        for (int64_t f = box->lo[1]; f < box->hi[1]; f++)
            *out++ = rows->x[rows->order[i] * rows->features + f] / rows->scale;
    return SPMD_OK;
}

static spmd_status fill_y(const spmd_box *box, void *data, void *user)
{
    const struct rows *rows = user;
    int32_t *out = data;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
        *out++ = rows->y[rows->order[i]];
    return SPMD_OK;
}

static float largest_magnitude(const struct rows *rows, int64_t count)
{
    float largest = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t f = 0; f < rows->features; f++)
            largest = fmaxf(largest, fabsf(rows->x[rows->order[i] * rows->features + f]));
    return largest > 0 ? largest : 1;
}

/* Two arrays of `count` rows. */
static spmd_status place(spmd_mesh *mesh, struct rows *rows, int64_t count, spmd_array **x,
                         spmd_array **y)
{
    SPMD_TRY(spmd_array_from_callback(mesh, "P()", SPMD_F32, SPMD_SHAPE(count, rows->features),
                                      fill_x, rows, x));
    return spmd_array_from_callback(mesh, "P()", SPMD_I32, SPMD_SHAPE(count), fill_y, rows, y);
}

static spmd_status permute(const spmd_block *x, const spmd_block *y, spmd_key key, int64_t **order)
{
    SPMD_TRY(check_data(x, y));
    *order = malloc((size_t)x->shape[0] * sizeof(int64_t));
    if (!*order)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory to split %lld rows", (long long)x->shape[0]);
    return spmd_random_permutation(key, x->shape[0], 0, x->shape[0], *order);
}

spmd_status mlp_split(spmd_mesh *mesh, const spmd_array *x, const spmd_array *y, spmd_key key,
                      spmd_array *data[MLP_NDATA])
{
    const spmd_block *bx = spmd_array_block(x), *by = spmd_array_block(y);
    int64_t *order = NULL;
    spmd_array *new[MLP_NDATA] = {NULL};
    spmd_status status = spmd_agree(mesh, permute(bx, by, key, &order));
    if (status == SPMD_OK) {
        int64_t n = bx->shape[0], ntest = n / 5 > 0 ? n / 5 : 1, ntrain = n - ntest;
        struct rows rows = {bx->data, by->data, bx->shape[1], order + ntest, 1};
        rows.scale = largest_magnitude(&rows, ntrain);
        status = place(mesh, &rows, ntrain, &new[MLP_TRAIN_X], &new[MLP_TRAIN_Y]);
        rows.order = order;
        if (status == SPMD_OK)
            status = place(mesh, &rows, ntest, &new[MLP_TEST_X], &new[MLP_TEST_Y]);
    }
    free(order);
    for (int i = 0; i < MLP_NDATA && status != SPMD_OK; i++)
        spmd_array_free(&new[i]);
    if (status == SPMD_OK)
        memcpy(data, new, sizeof new);
    return status;
}
