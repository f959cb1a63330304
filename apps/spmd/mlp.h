/* mlp.h - the built-in trainer: a multi-layer perceptron with softmax, by momentum SGD. */
#ifndef APPS_MLP_H
#define APPS_MLP_H

#include <spmd.h>

/* A hyperparameter. Its domain is the whole numbers from lo to hi, or all numbers in [lo, hi). */
struct mlp_hyper {
    const char *name;
    double fallback; /* where a configuration does not give it */
    bool whole;
    double lo, hi;
    const char *help;
};
enum {
    MLP_LR,
    MLP_MOMENTUM,
    MLP_DECAY,
    MLP_WIDTH,
    MLP_DEPTH,
    MLP_BATCH,
    MLP_EPOCHS,
    MLP_SEED,
    MLP_NHYPERS
};
extern const struct mlp_hyper mlp_hypers[MLP_NHYPERS];

/* The index of a hyperparameter; -1 if there is none of that name. */
int mlp_hyper_find(const char *name);

/* What training gives. */
struct mlp_metric {
    const char *name;
    bool minimize;
};
enum { MLP_TEST_ACCURACY, MLP_TEST_LOSS, MLP_TRAIN_ACCURACY, MLP_TRAIN_LOSS, MLP_NMETRICS };
extern const struct mlp_metric mlp_metrics[MLP_NMETRICS];

/* Where the hyperparameters stand in a configuration; the trainer's `user`. */
struct mlp_columns {
    int of[MLP_NHYPERS]; /* -1: not there */
};

/* Fails with SPMD_ERR_ARGUMENT for a name that is no hyperparameter: the message lists them. */
spmd_status mlp_bind(int ncolumns, char *const names[], struct mlp_columns *columns);

/* A configuration with all of its hyperparameters, given or not. */
void mlp_resolve(const struct mlp_columns *columns, const double *config,
                 double values[MLP_NHYPERS]);

/* Fail with SPMD_ERR_ARGUMENT for a value outside of its domain. */
spmd_status mlp_check_value(int hyper, double value);
spmd_status mlp_check(const double values[MLP_NHYPERS]);

/* Labelled rows, split for training and for testing, in this order of the trainer's data. */
enum { MLP_TRAIN_X, MLP_TRAIN_Y, MLP_TEST_X, MLP_TEST_Y, MLP_NDATA };

/* mlp_split.c. Collective over the mesh. Splits x f32[n, features] and y i32[n] (labels from 0),
 * both replicated: a fifth of the rows, drawn by the key, is for testing. x is divided by its
 * largest magnitude over the training rows. Fails for less than 2 rows, a value that is not finite,
 * a negative label. */
spmd_status mlp_split(spmd_mesh *mesh, const spmd_array *x, const spmd_array *y, spmd_key key,
                      spmd_array *data[MLP_NDATA]);

/* mlp_train.c. Trains one configuration. `user` is a struct mlp_columns. */
spmd_sweep_fn mlp_train;

#endif
