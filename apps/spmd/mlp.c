/* mlp.c - training of one multi-layer perceptron on one rank.
 *
 * A step is five products or more by BLAS, with the element-wise work between them fused. Rows are
 * padded with zeros to a whole number of lanes, so that all loops over them have one that the
 * compiler turns into vectors. */
#include "mlp.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

#define MAX_DEPTH 32
#define LANES     16 /* floats of a cache line */

const struct mlp_hyper mlp_hypers[MLP_NHYPERS] = {
    [MLP_LR] = {"lr", 0.1, false, DBL_MIN, DBL_MAX, "a positive number", "learning rate"},
    [MLP_MOMENTUM] = {"momentum", 0.9, false, 0, 1 - DBL_EPSILON, "a number in [0, 1)",
                      "of the gradient descent, below 1"},
    [MLP_DECAY] = {"decay", 0, false, 0, DBL_MAX, "a number from 0",
                   "weight decay (of weights, not of biases)"},
    [MLP_WIDTH] = {"width", 64, true, 1, 65536, "a whole number from 1 to 65536",
                   "units of a hidden layer"},
    [MLP_DEPTH] = {"depth", 1, true, 0, MAX_DEPTH, "a whole number from 0 to 32", "hidden layers"},
    [MLP_BATCH] = {"batch", 64, true, 1, 1 << 20, "a whole number from 1 to 1048576",
                   "rows of a step"},
    [MLP_EPOCHS] = {"epochs", 100, true, 0, 1 << 20, "a whole number from 0 to 1048576",
                    "passes over the training rows"},
    [MLP_SEED] = {"seed", 0, true, 0, UINT32_MAX, "a whole number from 0 to 4294967295",
                  "folded into the key: other weights, another order of the rows"},
};

const struct mlp_metric mlp_metrics[MLP_NMETRICS] = {
    [MLP_TEST_ACCURACY] = {"test_accuracy", false},
    [MLP_TEST_LOSS] = {"test_loss", true},
    [MLP_TRAIN_ACCURACY] = {"train_accuracy", false},
    [MLP_TRAIN_LOSS] = {"train_loss", true},
};

int mlp_hyper_find(const char *name)
{
    for (int h = 0; h < MLP_NHYPERS; h++)
        if (strcmp(mlp_hypers[h].name, name) == 0)
            return h;
    return -1;
}

static spmd_status unknown_name(const char *name)
{
    char list[256] = "";
    for (int h = 0, used = 0; h < MLP_NHYPERS; h++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s%s", h > 0 ? ", " : "",
                         mlp_hypers[h].name);
    return spmd_fail(SPMD_ERR_ARGUMENT, "no hyperparameter \"%s\": there are %s", name, list);
}

spmd_status mlp_bind(int ncolumns, char *const names[], struct mlp *mlp)
{
    struct mlp new;
    for (int h = 0; h < MLP_NHYPERS; h++)
        new.column[h] = -1;
    for (int c = 0; c < ncolumns; c++) {
        int h = mlp_hyper_find(names[c]);
        if (h < 0)
            return unknown_name(names[c]);
        new.column[h] = c;
    }
    *mlp = new;
    return SPMD_OK;
}

void mlp_resolve(const struct mlp *mlp, const double *config, double values[MLP_NHYPERS])
{
    for (int h = 0; h < MLP_NHYPERS; h++)
        values[h] = mlp->column[h] >= 0 ? config[mlp->column[h]] : mlp_hypers[h].fallback;
}

static spmd_status check_values(const double values[MLP_NHYPERS])
{
    for (int h = 0; h < MLP_NHYPERS; h++) {
        const struct mlp_hyper *hyper = &mlp_hypers[h];
        bool fits = values[h] >= hyper->lo && values[h] <= hyper->hi; /* false for NaN */
        if (!fits || (hyper->whole && values[h] != floor(values[h])))
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s=%.15g is not %s", hyper->name, values[h],
                             hyper->domain);
    }
    return SPMD_OK;
}

/* The data. */

static spmd_status check_data(const spmd_block *x, const spmd_block *y)
{
    int64_t n = x->shape[0], features = x->shape[1];
    const float *values = x->data;
    const int32_t *labels = y->data;
    if (y->shape[0] != n)
        return spmd_fail(SPMD_ERR_SHAPE, "x has %lld rows and y %lld labels", (long long)n,
                         (long long)y->shape[0]);
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
    if (*order == NULL)
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

/* The network. */

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
    float *part = arena->base != NULL ? arena->base + arena->used : NULL;
    arena->used += round_up(n);
    return part;
}

struct net {
    int nlayers;             /* of weights: hidden layers and one */
    int size[MAX_DEPTH + 2]; /* [nlayers + 1] units */
    int ld[MAX_DEPTH + 2];   /* [nlayers + 1] the same with padding */
    int rows;                /* that fit into the layers below */
    size_t nweights, nparams;
    float *params, *grads, *speed;               /* [nparams] weights, then biases */
    float *w[MAX_DEPTH + 1], *dw[MAX_DEPTH + 1]; /* [size[l], ld[l + 1]] in params and grads */
    float *b[MAX_DEPTH + 1], *db[MAX_DEPTH + 1]; /* [ld[l + 1]] */
    float *a[MAX_DEPTH + 2];                     /* [rows, ld[l]] activations */
    float *da[MAX_DEPTH + 2];                    /* [rows, ld[l]] their gradients, of hidden ones */
};

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
    net->speed = take(arena, net->nparams);
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

/* All of a network's memory, zeroed; to be freed by free(net->params). */
static spmd_status net_create(const double values[MLP_NHYPERS], int features, int classes, int rows,
                              struct net *net)
{
    *net = (struct net){.nlayers = (int)values[MLP_DEPTH] + 1, .rows = rows};
    for (int l = 0; l <= net->nlayers; l++) {
        net->size[l] = l == 0 ? features : l == net->nlayers ? classes : (int)values[MLP_WIDTH];
        net->ld[l] = (int)round_up((size_t)net->size[l]);
    }
    struct arena arena = {0};
    lay_net(net, &arena);
    size_t bytes = arena.used * sizeof(float);
    arena = (struct arena){.base = aligned_alloc(LANES * sizeof(float), bytes)};
    if (arena.base == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a network of %zu parameters",
                         net->nparams);
    memset(arena.base, 0, bytes);
    lay_net(net, &arena);
    point_params(net);
    return SPMD_OK;
}

/* He's initialisation: normal with variance 2 / inputs; biases 0. */
static spmd_status net_init(struct net *net, spmd_key key)
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

/* Logits of `rows` rows of `x`, left in the last layer's activations. */
static void forward(struct net *net, const float *x, int ldx, int rows)
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

/* Turns the logits into the gradient of the mean cross-entropy; returns the sum of the latter. */
static double softmax_back(struct net *net, const int32_t *labels, int rows)
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

static void backward(struct net *net, int rows)
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

static void descend(float *restrict w, float *restrict v, const float *restrict g, size_t n,
                    float lr, float momentum, float decay)
{
    for (size_t i = 0; i < n; i += LANES, w += LANES, v += LANES, g += LANES)
        for (int k = 0; k < LANES; k++) {
            v[k] = momentum * v[k] + (g[k] + decay * w[k]);
            w[k] -= lr * v[k];
        }
}

static void update(struct net *net, const double values[MLP_NHYPERS])
{
    float lr = (float)values[MLP_LR], momentum = (float)values[MLP_MOMENTUM];
    size_t n = net->nweights;
    descend(net->params, net->speed, net->grads, n, lr, momentum, (float)values[MLP_DECAY]);
    descend(net->params + n, net->speed + n, net->grads + n, net->nparams - n, lr, momentum, 0);
}

/* Training and testing. */

/* Labelled rows, as blocks of the data. */
struct set {
    const float *x;
    const int32_t *y;
    int64_t n;
    int features;
};

static struct set set_of(const spmd_block *x, const spmd_block *y)
{
    return (struct set){x->data, y->data, x->shape[0], (int)x->shape[1]};
}

static int count_classes(const struct set *train, const struct set *test)
{
    int32_t largest = 0;
    for (int64_t i = 0; i < train->n; i++)
        largest = train->y[i] > largest ? train->y[i] : largest;
    for (int64_t i = 0; i < test->n; i++)
        largest = test->y[i] > largest ? test->y[i] : largest;
    return largest + 1;
}

static void gather(const struct set *set, const int64_t *order, int rows, float *x, int ld,
                   int32_t *labels)
{
    for (int i = 0; i < rows; i++, x += ld) {
        memcpy(x, set->x + order[i] * set->features, (size_t)set->features * sizeof(float));
        labels[i] = set->y[order[i]];
    }
}

/* One pass over the training rows, in the order given; returns the mean loss on the way. */
static double train_epoch(struct net *net, const double values[MLP_NHYPERS],
                          const struct set *train, const int64_t *order, int batch, int32_t *labels)
{
    double loss = 0;
    for (int64_t first = 0; first < train->n; first += batch) {
        int rows = (int)(train->n - first < batch ? train->n - first : batch);
        gather(train, order + first, rows, net->a[0], net->ld[0], labels);
        forward(net, net->a[0], net->ld[0], rows);
        loss += softmax_back(net, labels, rows);
        backward(net, rows);
        update(net, values);
    }
    return loss / (double)train->n;
}

/* All epochs, unless the loss is lost before. */
static spmd_status train_net(struct net *net, const double values[MLP_NHYPERS], spmd_key key,
                             const struct set *train, int batch, bool *diverged)
{
    int64_t *order = malloc((size_t)train->n * sizeof *order);
    int32_t *labels = malloc((size_t)batch * sizeof *labels);
    spmd_status status = SPMD_OK;
    if (order == NULL || labels == NULL)
        status = spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld rows", (long long)train->n);
    *diverged = false;
    for (int epoch = 0; epoch < (int)values[MLP_EPOCHS]; epoch++) {
        if (status != SPMD_OK || *diverged)
            break;
        status = spmd_random_permutation(spmd_key_fold_in(key, (uint32_t)epoch), train->n, 0,
                                         train->n, order);
        if (status == SPMD_OK)
            *diverged = !isfinite(train_epoch(net, values, train, order, batch, labels));
    }
    free(order);
    free(labels);
    return status;
}

/* Mean loss and share of right answers. */
static void evaluate(struct net *net, const struct set *set, double *accuracy, double *loss)
{
    int classes = net->size[net->nlayers], ld = net->ld[net->nlayers];
    int64_t right = 0;
    double sum = 0;
    for (int64_t first = 0; first < set->n; first += net->rows) {
        int rows = (int)(set->n - first < net->rows ? set->n - first : net->rows);
        forward(net, set->x + first * set->features, set->features, rows);
        float *z = net->a[net->nlayers];
        for (int i = 0; i < rows; i++, z += ld) {
            int best = argmax(z, classes), label = set->y[first + i];
            float greatest = z[best], wanted = z[label] - greatest;
            right += best == label;
            sum += logf(exp_row(z, classes, greatest)) - wanted;
        }
    }
    *accuracy = (double)right / (double)set->n;
    *loss = sum / (double)set->n;
}

spmd_status mlp_train(const spmd_block *config, spmd_key key, const spmd_block *const data[],
                      const spmd_block *const params[], double metrics[], void *user)
{
    (void)params;
    double values[MLP_NHYPERS];
    mlp_resolve(user, config->data, values);
    SPMD_TRY(check_values(values));
    struct set train = set_of(data[MLP_TRAIN_X], data[MLP_TRAIN_Y]);
    struct set test = set_of(data[MLP_TEST_X], data[MLP_TEST_Y]);
    int batch = values[MLP_BATCH] < (double)train.n ? (int)values[MLP_BATCH] : (int)train.n;

    struct net net;
    SPMD_TRY(net_create(values, train.features, count_classes(&train, &test),
                        batch > 256 ? batch : 256, &net));
    spmd_key keys[2]; /* of the weights, of the order */
    spmd_key_split(spmd_key_fold_in(key, (uint32_t)values[MLP_SEED]), 2, keys);
    bool diverged = false;
    spmd_status status = net_init(&net, keys[0]);
    if (status == SPMD_OK)
        status = train_net(&net, values, keys[1], &train, batch, &diverged);
    if (status == SPMD_OK && !diverged) {
        evaluate(&net, &test, &metrics[MLP_TEST_ACCURACY], &metrics[MLP_TEST_LOSS]);
        evaluate(&net, &train, &metrics[MLP_TRAIN_ACCURACY], &metrics[MLP_TRAIN_LOSS]);
    }
    free(net.params);
    return status;
}

/* BLAS. */

#ifdef OPENBLAS_VERSION
/* OpenBLAS knows processors by number, and gives one that is younger than itself its oldest
 * kernels. Which to use it reads while it is loaded: hence the second start. */
static const char *better_kernels(void)
{
#if defined(__x86_64__)
    if (getenv("OPENBLAS_CORETYPE") != NULL || strcmp(openblas_get_corename(), "Prescott") != 0)
        return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

static void start_again(const char *kernels, char **argv)
{
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    char **again = calloc(count + 2, sizeof(char *));
    if (again == NULL || setenv("OPENBLAS_CORETYPE", kernels, 1) != 0)
        return;
    again[0] = "spmd";
    memcpy(again + 1, argv, count * sizeof(char *));
    execv("/proc/self/exe", again); /* where that fails, the old kernels do */
    free(again);
}

void mlp_begin(char **argv)
{
    const char *kernels = better_kernels();
    if (kernels != NULL)
        start_again(kernels, argv);
    openblas_set_num_threads(1);
}
#else
void mlp_begin(char **argv)
{
    (void)argv;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
}
#endif
