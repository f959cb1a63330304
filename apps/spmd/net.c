/* net.c - a multi-layer perceptron with softmax: forward, backward, a step of momentum SGD.
 *
 * A step is five products or more by BLAS, with the element-wise work between them fused. Rows are
 * padded with zeros to a whole number of lanes, so that all loops over them have one that the
 * compiler turns into vectors. */
#include "net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

enum { LANES = 16 }; /* floats of a cache line */

/* Floats in one piece of memory, each part on a cache line: first counted, then handed out. */
struct arena {
    float *base; /* NULL while counting */
    size_t used;
};

static size_t round_up(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

static float *take(struct arena *arena, size_t n)
{
    float *part = arena->base ? arena->base + arena->used : NULL;
    arena->used += round_up(n);
    return part;
}

static void lay_params(struct net *net, struct arena *arena)
{
    size_t used = 0;
    for (int l = 0; l < net->nlayers; l++)
        used += (size_t)net->size[l] * (size_t)net->ld[l + 1];
    net->nweights = net->nparams = used;
    for (int l = 0; l < net->nlayers; l++)
        net->nparams += (size_t)net->ld[l + 1];
    net->params = take(arena, net->nparams);
    net->grads = take(arena, net->nparams);
    net->velocity = take(arena, net->nparams);
}

static void point_params(struct net *net)
{
    size_t weight = 0, bias = net->nweights;
    for (int l = 0; l < net->nlayers; l++) {
        net->w[l] = net->params + weight;
        net->dw[l] = net->grads + weight;
        net->b[l] = net->params + bias;
        net->db[l] = net->grads + bias;
        weight += (size_t)net->size[l] * (size_t)net->ld[l + 1];
        bias += (size_t)net->ld[l + 1];
    }
}

static void lay_net(struct net *net, struct arena *arena)
{
    lay_params(net, arena);
    for (int l = 0; l <= net->nlayers; l++) {
        size_t n = (size_t)net->rows * (size_t)net->ld[l];
        net->a[l] = take(arena, n);
        net->da[l] = l > 0 && l < net->nlayers ? take(arena, n) : NULL;
    }
}

spmd_status net_create(int features, int depth, int width, int classes, int rows, struct net *net)
{
    *net = (struct net){.nlayers = depth + 1, .rows = rows};
    for (int l = 0; l <= net->nlayers; l++) {
        net->size[l] = l == 0 ? features : l == net->nlayers ? classes : width;
        net->ld[l] = (int)round_up((size_t)net->size[l]);
    }
    struct arena arena = {0};
    lay_net(net, &arena);
    size_t bytes = arena.used * sizeof(float);
    arena = (struct arena){.base = aligned_alloc(LANES * sizeof(float), bytes)};
    if (!arena.base)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a network of %zu parameters",
                         net->nparams);
    memset(arena.base, 0, bytes);
    lay_net(net, &arena);
    point_params(net);
    return SPMD_OK;
}

void net_free(struct net *net)
{
    free(net->params); /* the first part of the one piece */
    net->params = NULL;
}

spmd_status net_init(struct net *net, spmd_key key)
{
    for (int l = 0; l < net->nlayers; l++) {
        int in = net->size[l], out = net->size[l + 1];
        float *dense = net->dw[l], scale = sqrtf(2.0f / (float)in);
        SPMD_TRY(spmd_random_normal(spmd_key_fold_in(key, (uint32_t)l), SPMD_F32,
                                    SPMD_SHAPE(in, out), NULL, dense));
        for (int i = 0; i < in; i++)
            for (int j = 0; j < out; j++)
                net->w[l][(size_t)i * (size_t)net->ld[l + 1] + (size_t)j] =
                    dense[(size_t)i * (size_t)out + (size_t)j] * scale;
    }
    memset(net->grads, 0, net->nparams * sizeof(float));
    return SPMD_OK;
}

static void add_bias(float *restrict z, const float *restrict b, int rows, int ld)
{
    for (int i = 0; i < rows; i++, z += ld)
        for (int j = 0; j < ld; j += LANES)
            for (int k = j; k < j + LANES; k++)
                z[k] += b[k];
}

static void add_bias_relu(float *restrict z, const float *restrict b, int rows, int ld)
{
    for (int i = 0; i < rows; i++, z += ld)
        for (int j = 0; j < ld; j += LANES)
            for (int k = j; k < j + LANES; k++) {
                float sum = z[k] + b[k];
                z[k] = sum < 0 ? 0 : sum; /* NaN stays */
            }
}

/* The gradient before the rectifier, and its sum over the rows. */
static void relu_back(float *restrict da, const float *restrict a, float *restrict db, int rows,
                      int ld)
{
    memset(db, 0, (size_t)ld * sizeof(float));
    for (int i = 0; i < rows; i++, da += ld, a += ld)
        for (int j = 0; j < ld; j += LANES)
            for (int k = j; k < j + LANES; k++) {
                da[k] = a[k] > 0 ? da[k] : 0;
                db[k] += da[k];
            }
}

static void sum_rows(const float *restrict z, float *restrict sum, int rows, int ld)
{
    memset(sum, 0, (size_t)ld * sizeof(float));
    for (int i = 0; i < rows; i++, z += ld)
        for (int j = 0; j < ld; j += LANES)
            for (int k = j; k < j + LANES; k++)
                sum[k] += z[k];
}

void net_forward(struct net *net, const float *x, int ldx, int rows)
{
    for (int l = 0; l < net->nlayers; l++) {
        const float *in = l == 0 ? x : net->a[l];
        float *out = net->a[l + 1];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, net->size[l + 1], net->size[l],
                    1, in, l == 0 ? ldx : net->ld[l], net->w[l], net->ld[l + 1], 0, out,
                    net->ld[l + 1]);
        if (l + 1 < net->nlayers)
            add_bias_relu(out, net->b[l], rows, net->ld[l + 1]);
        else
            add_bias(out, net->b[l], rows, net->ld[l + 1]);
    }
}

/* Exponentials of one row of logits less the greatest, in place; returns their sum. */
static float exp_row(float *z, int classes, float greatest)
{
    float sum = 0;
    for (int j = 0; j < classes; j++) {
        z[j] = expf(z[j] - greatest);
        sum += z[j];
    }
    return sum;
}

static int argmax(const float *z, int classes)
{
    int best = 0;
    for (int j = 1; j < classes; j++)
        if (z[j] > z[best])
            best = j;
    return best;
}

double net_loss(struct net *net, const int32_t *labels, int rows)
{
    int classes = net->size[net->nlayers], ld = net->ld[net->nlayers];
    float *z = net->a[net->nlayers];
    double loss = 0;
    for (int i = 0; i < rows; i++, z += ld) {
        float greatest = z[argmax(z, classes)], wanted = z[labels[i]] - greatest;
        float sum = exp_row(z, classes, greatest), scale = 1 / (sum * (float)rows);
        loss += logf(sum) - wanted;
        for (int j = 0; j < classes; j++)
            z[j] *= scale;
        z[labels[i]] -= 1 / (float)rows;
    }
    return loss;
}

void net_backward(struct net *net, int rows)
{
    const float *dz = net->a[net->nlayers];
    sum_rows(dz, net->db[net->nlayers - 1], rows, net->ld[net->nlayers]);
    for (int l = net->nlayers - 1; l >= 0; l--) {
        int in = net->size[l], out = net->size[l + 1], ldin = net->ld[l], ldout = net->ld[l + 1];
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, rows, 1, net->a[l], ldin, dz,
                    ldout, 0, net->dw[l], ldout);
        if (l == 0)
            return;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, in, out, 1, dz, ldout, net->w[l],
                    ldout, 0, net->da[l], ldin);
        relu_back(net->da[l], net->a[l], net->db[l - 1], rows, ldin);
        dz = net->da[l];
    }
}

static void sgd_step(float *restrict w, float *restrict v, const float *restrict g, size_t n,
                     float lr, float momentum, float decay)
{
    for (size_t i = 0; i < n; i += LANES, w += LANES, v += LANES, g += LANES)
        for (int k = 0; k < LANES; k++) {
            v[k] = momentum * v[k] + (g[k] + decay * w[k]);
            w[k] -= lr * v[k];
        }
}

void net_update(struct net *net, float lr, float momentum, float decay)
{
    size_t n = net->nweights;
    sgd_step(net->params, net->velocity, net->grads, n, lr, momentum, decay);
    sgd_step(net->params + n, net->velocity + n, net->grads + n, net->nparams - n, lr, momentum, 0);
}

double net_score(struct net *net, const int32_t *labels, int rows, int64_t *right)
{
    int classes = net->size[net->nlayers], ld = net->ld[net->nlayers];
    float *z = net->a[net->nlayers];
    double loss = 0;
    for (int i = 0; i < rows; i++, z += ld) {
        int best = argmax(z, classes), label = labels[i];
        float greatest = z[best], wanted = z[label] - greatest;
        *right += best == label;
        loss += logf(exp_row(z, classes, greatest)) - wanted;
    }
    return loss;
}
