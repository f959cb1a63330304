/* 17_whole.c - how do shard_map, vmap, fold_in and trees do what spmd_sweep does in 01?
 *
 * Arguments are a tree. Specs shard configs and params over the devices and replicate key and
 * dataset; axes map configs and params over the batch. The function sees one configuration.
 *
 *     mpicc 17_whole.c $(pkg-config --cflags --libs spmd) -lm -o whole && mpirun -n 2 ./whole
 */
#include <math.h>
#include <spmd.h>

static spmd_status train(spmd_ctx *ctx, void *user)
{
    (void)user;
    const double *config = spmd_in_at(ctx, "configs")->data, rate = config[0], clip = config[1];
    const double(*dataset)[3] = spmd_in_at(ctx, "dataset")->data;
    const double *w = spmd_in_at(ctx, "params/w")->data, *b = spmd_in_at(ctx, "params/b")->data;
    double *loss = spmd_out_at(ctx, "loss", SPMD_F64, SPMD_SHAPE(1))->data, v[2];
    spmd_key key = spmd_key_fold_in(spmd_key_at(ctx, "key"), spmd_axis_index(ctx, "devices,batch"));
    SPMD_TRY(spmd_random_normal(key, SPMD_F64, SPMD_SHAPE(2), NULL, v));
    for (int epoch = 0; epoch < 20; epoch++) {
        *loss = 0;
        for (const double *row = dataset[0]; row < dataset[3]; row += 3) {
            double error = (w[0] + v[0]) * row[0] + (w[1] + v[1]) * row[1] + *b - row[2];
            *loss += error * error / 3;
            if (fabs(error) > clip)
                error = copysign(clip, error);
            for (int f = 0; f < 2; f++)
                v[f] -= rate * error * row[f];
        }
    }
    return SPMD_OK;
}

/* On each device the batch is dim 1 of (1, batches, hyperparams). */
static spmd_status batch(spmd_ctx *ctx, void *user)
{
    spmd_tree *out;
    SPMD_TRY(spmd_tree_create(&out));
    spmd_tree_set_block(out, "loss", spmd_out_at(ctx, "loss", SPMD_F64, SPMD_SHAPE(1, 3)));
    spmd_status status = spmd_vmap_tree(ctx, train, user, spmd_in_tree(ctx),
                                        "{configs: 1, params: 1, key: None, dataset: None}", &out,
                                        "{loss: 1}", &(spmd_vmap_options){.axis_name = "batch"});
    spmd_tree_free(&out);
    return status;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    const char *specs = "{configs: P(devices), params: P(devices), key: P(), dataset: P()}";
    static double configs[2][3][2] = {{{0.5, 1}, {0.5, 0.5}, {0.5, 0.25}},
                                      {{0.1, 1}, {0.1, 0.5}, {0.1, 0.25}}};
    static double dataset[3][3] = {{1, 0, 2}, {0, 1, -1}, {1, 1, 1}}, w[2][3][2], b[2][3];
    static const char *const paths[] = {"configs", "params/w", "params/b", "dataset"};
    const spmd_block host[] = {spmd_block_borrow(configs, SPMD_F64, SPMD_SHAPE(2, 3, 2)),
                               spmd_block_borrow(w, SPMD_F64, SPMD_SHAPE(2, 3, 2)),
                               spmd_block_borrow(b, SPMD_F64, SPMD_SHAPE(2, 3)),
                               spmd_block_borrow(dataset, SPMD_F64, SPMD_SHAPE(3, 3))};
    spmd_mesh *mesh;
    spmd_tree *in, *placed, *out = NULL;
    spmd_array *loss;
    SPMD_TRY(spmd_tree_create(&in));
    for (int i = 0; i < 4; i++)
        SPMD_TRY(spmd_tree_set_block(in, paths[i], &host[i]));
    SPMD_TRY(spmd_tree_set_key(in, "key", spmd_key_create(0)));
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "devices=2", &mesh));
    SPMD_TRY(spmd_tree_device_put(in, mesh, specs, &placed));
    SPMD_TRY(
        spmd_shard_map_tree(mesh, batch, NULL, placed, specs, &out, "{loss: P(devices)}", NULL));
    SPMD_TRY(spmd_tree_get_array(out, "loss", &loss));
    SPMD_TRY(spmd_array_print(loss, stdout));
    spmd_tree_free(&out), spmd_tree_free(&placed), spmd_tree_free(&in), spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
