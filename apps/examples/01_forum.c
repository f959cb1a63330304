/* 01_forum.c - "I have a function of (configs, key, dataset, params). Shard the configs over the
 * devices, replicate key and dataset, shard the params, map over the batch." How?
 *
 * Write the function of one configuration, and give it to spmd_sweep: that is a shard_map over the
 * devices and, on each of them, a vmap over its batches. (17_whole.c is the same by hand.)
 *
 *     mpicc 01_forum.c $(pkg-config --cflags --libs spmd) -lm -o forum
 *     mpirun -n 4 ./forum             # without params: each run draws its own
 *     mpirun -n 4 ./forum params
 */
#include <math.h>
#include <string.h>

#include <spmd.h>

enum { DEVICES = 4, BATCHES = 3, HYPERPARAMS = 2, ROWS = 200, FEATURES = 2, EPOCHS = 20 };

/* One configuration, as its author wrote it: nested loops (scans) and branches (conds). It sees
 * one row of hyperparameters; devices and batches are gone. */
static spmd_status train(const spmd_block *config, spmd_key key, const spmd_block *const data[],
                         const spmd_block *const params[], double metrics[], void *user)
{
    (void)user;
    double rate = ((double *)config->data)[0], clip = ((double *)config->data)[1];
    double weight[FEATURES], loss = 0;
    if (params)
        memcpy(weight, params[0]->data, sizeof weight);
    else
        SPMD_TRY(spmd_random_normal(key, SPMD_F64, SPMD_SHAPE(FEATURES), NULL, weight));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        loss = 0;
        for (int64_t row = 0; row < data[0]->shape[0]; row++) {
            const double *x = (double *)data[0]->data + row * (FEATURES + 1), *y = x + FEATURES;
            double error = weight[0] * x[0] + weight[1] * x[1] - *y;
            loss += error * error / (double)data[0]->shape[0];
            if (fabs(error) > clip)
                error = copysign(clip, error);
            for (int f = 0; f < FEATURES; f++)
                weight[f] -= rate * error * x[f];
        }
    }
    metrics[0] = loss;
    return SPMD_OK;
}

/* configs[d, b] = (learning rate, clip): filled where it lies, from global indices. */
static spmd_status fill_configs(const spmd_box *box, void *out, void *user)
{
    (void)user;
    double *config = out;
    for (int64_t d = box->lo[0]; d < box->hi[0]; d++)
        for (int64_t b = box->lo[1]; b < box->hi[1]; b++, config += HYPERPARAMS) {
            config[0] = 0.5 * pow(10, -(double)d);
            config[1] = (double)(1 << b) / 4;
        }
    return SPMD_OK;
}

/* dataset[row] = (x0, x1, y = 2 x0 - x1): whatever the rank count, the same numbers. */
static spmd_status fill_dataset(const spmd_box *box, void *out, void *user)
{
    double *row = out;
    SPMD_TRY(spmd_random_uniform(*(spmd_key *)user, SPMD_F64, SPMD_SHAPE(ROWS, FEATURES + 1), box,
                                 -1, 1, out));
    for (int64_t r = box->lo[0]; r < box->hi[0]; r++, row += FEATURES + 1)
        row[FEATURES] = 2 * row[0] - row[1];
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    spmd_mesh *mesh;
    spmd_array *configs, *dataset, *params = NULL;
    spmd_sweep_result result;
    spmd_key key = spmd_key_create(0), data_key = spmd_key_fold_in(key, 1);
    bool with_params = argc > 1 && strcmp(argv[1], "params") == 0;

    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "devices=*", &mesh));
    SPMD_TRY(spmd_array_from_callback(mesh, "P(devices)", SPMD_F64,
                                      SPMD_SHAPE(DEVICES, BATCHES, HYPERPARAMS), fill_configs, NULL,
                                      &configs));
    SPMD_TRY(spmd_array_from_callback(mesh, "P()", SPMD_F64, SPMD_SHAPE(ROWS, FEATURES + 1),
                                      fill_dataset, &data_key, &dataset));
    if (with_params)
        SPMD_TRY(spmd_array_zeros(mesh, "P(devices)", SPMD_F64,
                                  SPMD_SHAPE(DEVICES, BATCHES, FEATURES), &params));

    SPMD_TRY(spmd_sweep(mesh, train, NULL, configs, key, 1, &dataset, with_params, &params, 1,
                        &(spmd_sweep_options){.minimize = true}, &result));

    SPMD_TRY(spmd_array_print(configs, stdout));
    SPMD_TRY(spmd_array_print(result.metrics, stdout));
    SPMD_TRY(spmd_write(result.metrics, "forum.h5", "loss"));
    spmd_sweep_result_free(&result);
    spmd_array_free(&params);
    spmd_array_free(&dataset);
    spmd_array_free(&configs);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
