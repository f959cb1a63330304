/* mlp.c - what the built-in trainer takes and gives: its hyperparameters and metrics. */
#include "mlp.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net.h"

const struct mlp_hyper mlp_hypers[MLP_NHYPERS] = {
    [MLP_LR] = {"lr", 0.1, false, DBL_MIN, INFINITY, "learning rate"},
    [MLP_MOMENTUM] = {"momentum", 0.9, false, 0, 1, "of the gradient descent, below 1"},
    [MLP_DECAY] = {"decay", 0, false, 0, INFINITY, "weight decay (of weights, not of biases)"},
    [MLP_WIDTH] = {"width", 64, true, 1, 65536, "units of a hidden layer"},
    [MLP_DEPTH] = {"depth", 1, true, 0, NET_MAX_DEPTH, "hidden layers"},
    [MLP_BATCH] = {"batch", 64, true, 1, 1 << 20, "rows of a step"},
    [MLP_EPOCHS] = {"epochs", 100, true, 0, 1 << 20, "passes over the training rows"},
    [MLP_SEED] = {"seed", 0, true, 0, UINT32_MAX,
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

spmd_status mlp_bind(int ncolumns, char *const names[], struct mlp_columns *columns)
{
    struct mlp_columns new;
    for (int h = 0; h < MLP_NHYPERS; h++)
        new.of[h] = -1;
    for (int c = 0; c < ncolumns; c++) {
        int h = mlp_hyper_find(names[c]);
        if (h < 0)
            return unknown_name(names[c]);
        new.of[h] = c;
    }
    *columns = new;
    return SPMD_OK;
}

void mlp_resolve(const struct mlp_columns *columns, const double *config,
                 double values[MLP_NHYPERS])
{
    for (int h = 0; h < MLP_NHYPERS; h++)
        values[h] = columns->of[h] >= 0 ? config[columns->of[h]] : mlp_hypers[h].fallback;
}

static bool is_in_domain(const struct mlp_hyper *hyper, double value) /* false for NaN */
{
    if (hyper->whole)
        return value >= hyper->lo && value <= hyper->hi && value == floor(value);
    return value >= hyper->lo && value < hyper->hi;
}

/* The domain in words, behind "is not ". */
static void format_domain(const struct mlp_hyper *hyper, char *text, size_t size)
{
    if (hyper->whole)
        snprintf(text, size, "a whole number from %.0f to %.0f", hyper->lo, hyper->hi);
    else if (isfinite(hyper->hi))
        snprintf(text, size, "a number in [%g, %g)", hyper->lo, hyper->hi);
    else if (hyper->lo == DBL_MIN)
        snprintf(text, size, "a positive number");
    else
        snprintf(text, size, "a number from %g", hyper->lo);
}

spmd_status mlp_check_value(int hyper, double value)
{
    const struct mlp_hyper *of = &mlp_hypers[hyper];
    char domain[64];
    if (is_in_domain(of, value))
        return SPMD_OK;
    format_domain(of, domain, sizeof domain);
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s=%.15g is not %s", of->name, value, domain);
}

spmd_status mlp_check(const double values[MLP_NHYPERS])
{
    for (int h = 0; h < MLP_NHYPERS; h++)
        SPMD_TRY(mlp_check_value(h, values[h]));
    return SPMD_OK;
}
