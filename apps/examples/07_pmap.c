/* 07_pmap.c - I know pmap: what changes with shard_map?
 *
 * The block keeps its dimensions. Configs of shape (devices, batches, hyperparams) come to a pmap's
 * body as (batches, hyperparams), one slice for each rank, no more and no less. Under shard_map
 * they come as (1, batches, hyperparams): the 1 is this rank's share of the devices, and may be any
 * number. Write new code with shard_map.
 *
 *     mpicc 07_pmap.c $(pkg-config --cflags --libs spmd) -o pmap
 *     mpirun -n 2 ./pmap
 */
#include <spmd.h>

enum { DEVICES = 2, BATCHES = 3, HYPERPARAMS = 2 };

static void mean_of_batches(const double *config, double *mean)
{
    for (int h = 0; h < HYPERPARAMS; h++) {
        double sum = 0;
        for (int b = 0; b < BATCHES; b++)
            sum += config[b * HYPERPARAMS + h];
        mean[h] = sum / BATCHES;
    }
}

static spmd_status under_pmap(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *configs = spmd_in(ctx, 0);
    spmd_block *mean = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(HYPERPARAMS));
    mean_of_batches(configs->data, mean->data);
    return spmd_block_print(ctx, "pmap", configs, stdout);
}

static spmd_status under_shard_map(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *configs = spmd_in(ctx, 0);
    spmd_block *mean = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(configs->shape[0], HYPERPARAMS));
    for (int64_t d = 0; d < configs->shape[0]; d++)
        mean_of_batches((double *)configs->data + d * BATCHES * HYPERPARAMS,
                        (double *)mean->data + d * HYPERPARAMS);
    return spmd_block_print(ctx, "shard_map", configs, stdout);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *configs, *means = NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "devices=2", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(devices)", SPMD_F64,
                               SPMD_SHAPE(DEVICES, BATCHES, HYPERPARAMS), &configs));

    SPMD_TRY(spmd_pmap(mesh, "devices", under_pmap, NULL, 1, &configs, SPMD_AXES(0), 1, &means,
                       SPMD_AXES(0), NULL));
    SPMD_TRY(spmd_array_print(means, stdout));

    SPMD_TRY(spmd_shard_map(mesh, under_shard_map, NULL, 1, &configs, SPMD_SPECS("P(devices)"), 1,
                            &means, SPMD_SPECS("P(devices)"), NULL));
    SPMD_TRY(spmd_array_print(means, stdout));

    spmd_array_free(&means);
    spmd_array_free(&configs);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
