/* 21_training.c - my job is killed in the midst of training: how does it go on?
 *
 * The loader hands out mini-batches of a file, each epoch in another order, which depends on a key
 * and not on the ranks. Where it stands is saved with the weights. So a run that is killed, and
 * started again on as many ranks, fewer or more, goes on with the next batch.
 *
 *     mpicc 21_training.c $(pkg-config --cflags --libs spmd) -o training
 *     mpirun -n 4 ./training 14       # ends itself at step 14, as a batch system would
 *     mpirun -n 3 ./training          # goes on from the last checkpoint
 */
#include <signal.h>
#include <stdlib.h>
#include <spmd.h>

enum { ROWS = 20, FEATURES = 2, BATCH = 8, STEPS = 20, SAVE_EVERY = 5 };

/* One step along the gradient of the mean squared error; each rank has some rows of the batch. */
static spmd_status fit(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *old = spmd_in(ctx, 0), *rows = spmd_in(ctx, 1);
    const double *w = old->data, *x = rows->data, *y = spmd_in(ctx, 2)->data;
    double *next = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(FEATURES))->data;
    double *loss = spmd_out(ctx, 1, SPMD_F64, SPMD_SCALAR)->data;
    spmd_block *sums = spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(FEATURES + 1));
    double *sum = sums->data;
    for (int64_t r = 0; r < rows->shape[0]; r++, x += FEATURES) {
        double error = w[0] * x[0] + w[1] * x[1] - y[r];
        for (int f = 0; f < FEATURES; f++)
            sum[f] += error * x[f] / BATCH;
        sum[FEATURES] += error * error / BATCH;
    }
    SPMD_TRY(spmd_psum(ctx, sums, "data", sums));
    for (int f = 0; f < FEATURES; f++)
        next[f] = w[f] - sum[f] / 2;
    *loss = sum[FEATURES];
    return SPMD_OK;
}

static spmd_status fill_x(const spmd_box *box, void *out, void *user)
{
    return spmd_random_uniform(*(spmd_key *)user, SPMD_F64, SPMD_SHAPE(ROWS, FEATURES), box, -1, 1,
                               out);
}

static spmd_status fill_y(const spmd_box *box, void *out, void *user)
{
    double *y = out, x[FEATURES];
    for (int64_t r = box->lo[0]; r < box->hi[0]; r++) {
        spmd_box row = {.ndim = 2, .lo = {r, 0}, .hi = {r + 1, FEATURES}};
        SPMD_TRY(fill_x(&row, x, user));
        *y++ = 2 * x[0] - x[1];
    }
    return SPMD_OK;
}

static spmd_status write_data(spmd_mesh *mesh)
{
    spmd_key key = spmd_key_create(0);
    spmd_file *file;
    spmd_array *x, *y;
    SPMD_TRY(spmd_array_from_callback(mesh, "P(data)", SPMD_F64, SPMD_SHAPE(ROWS, FEATURES), fill_x,
                                      &key, &x));
    SPMD_TRY(
        spmd_array_from_callback(mesh, "P(data)", SPMD_F64, SPMD_SHAPE(ROWS), fill_y, &key, &y));
    SPMD_TRY(spmd_file_create(mesh, "train.h5", &file));
    SPMD_TRY(spmd_dataset_write(file, "x", x));
    SPMD_TRY(spmd_dataset_write(file, "y", y));
    spmd_array_free(&y), spmd_array_free(&x);
    return spmd_file_close(&file);
}

struct run {
    spmd_mesh *mesh;
    spmd_loader *loader;
    spmd_array *weights;
    int64_t step;
};

static spmd_status save(struct run *run)
{
    spmd_tree *state, *position;
    SPMD_TRY(spmd_loader_state(run->loader, &position));
    SPMD_TRY(spmd_tree_create(&state));
    SPMD_TRY(spmd_tree_set_array(state, "weights", run->weights));
    SPMD_TRY(spmd_tree_set_tree(state, "loader", position));
    SPMD_TRY(spmd_checkpoint_save(run->mesh, "training", run->step, state, 2));
    spmd_tree_free(&state), spmd_tree_free(&position);
    return SPMD_OK;
}

static spmd_status restore(struct run *run)
{
    spmd_tree *state;
    const spmd_tree *position;
    SPMD_TRY(spmd_checkpoint_restore(run->mesh, "training", run->step, "P()", &state));
    SPMD_TRY(spmd_tree_get_array(state, "weights", &run->weights));
    SPMD_TRY(spmd_tree_get(state, "loader", &position));
    SPMD_TRY(spmd_loader_resume(run->loader, position));
    run->weights = spmd_array_hold(run->weights); /* the tree's hold goes with it */
    spmd_tree_free(&state);
    return SPMD_OK;
}

static spmd_status begin(struct run *run)
{
    const char *names[] = {"x", "y"}, *specs[] = {"P(data)", "P(data)"};
    spmd_loader_options options = {.batch = BATCH, .shuffle = true, .key = spmd_key_create(1)};
    SPMD_TRY(spmd_checkpoint_latest(run->mesh, "training", &run->step)); /* -1: there is none */
    bool resumes = run->step >= 0;
    if (!resumes)
        SPMD_TRY(write_data(run->mesh));
    SPMD_TRY(spmd_loader_create(run->mesh, "train.h5", 2, names, specs, &options, &run->loader));
    if (resumes)
        return restore(run);
    run->step = 0;
    return spmd_array_zeros(run->mesh, "P()", SPMD_F64, SPMD_SHAPE(FEATURES), &run->weights);
}

static spmd_status take_step(struct run *run)
{
    double loss;
    spmd_array *batch[2], *out[2] = {NULL, NULL};
    SPMD_TRY(spmd_loader_next(run->loader, batch));
    SPMD_TRY(spmd_shard_map(run->mesh, fit, NULL, 3, SPMD_ARRAYS(run->weights, batch[0], batch[1]),
                            SPMD_SPECS("P()", "P(data)", "P(data)"), 2, out,
                            SPMD_SPECS("P()", "P()"), NULL));
    SPMD_TRY(spmd_array_gather(out[1], 0, &loss, 1));
    run->step++;
    if (spmd_mesh_position(run->mesh) == 0)
        printf("step %2lld  loss %.6f\n", (long long)run->step, loss);
    spmd_array_free(&batch[0]), spmd_array_free(&batch[1]);
    spmd_array_free(&run->weights), spmd_array_free(&out[1]);
    run->weights = out[0];
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    int64_t last = argc > 1 ? atoll(argv[1]) : -1; /* where the run is killed */
    struct run run;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "data=*", &run.mesh));
    SPMD_TRY(begin(&run));
    while (run.step < STEPS) {
        SPMD_TRY(take_step(&run));
        if (run.step % SAVE_EVERY == 0)
            SPMD_TRY(save(&run));
        if (run.step == last)
            raise(SIGKILL);
    }
    spmd_array_free(&run.weights);
    spmd_loader_free(&run.loader);
    spmd_mesh_free(&run.mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
