/* mlp_train.c - one training of the built-in trainer, on one rank. */
#include "mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

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
        net_forward(net, net->a[0], net->ld[0], rows);
        loss += net_loss(net, labels, rows);
        net_backward(net, rows);
        net_update(net, (float)values[MLP_LR], (float)values[MLP_MOMENTUM],
                   (float)values[MLP_DECAY]);
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
    if (!order || !labels)
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
    int64_t right = 0;
    double sum = 0;
    for (int64_t first = 0; first < set->n; first += net->rows) {
        int rows = (int)(set->n - first < net->rows ? set->n - first : net->rows);
        net_forward(net, set->x + first * set->features, set->features, rows);
        sum += net_score(net, set->y + first, rows, &right);
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
    SPMD_TRY(mlp_check(values));
    struct set train = set_of(data[MLP_TRAIN_X], data[MLP_TRAIN_Y]);
    struct set test = set_of(data[MLP_TEST_X], data[MLP_TEST_Y]);
    int batch = values[MLP_BATCH] < (double)train.n ? (int)values[MLP_BATCH] : (int)train.n;

    struct net net;
    SPMD_TRY(net_create(train.features, (int)values[MLP_DEPTH], (int)values[MLP_WIDTH],
                        count_classes(&train, &test), batch > 256 ? batch : 256, &net));
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
    net_free(&net);
    return status;
}
