/* 16_keys.c - one random key on all ranks, and each configuration draws its own numbers: how?
 *
 * A key is a value: every rank has the same one, and what is drawn depends on the key alone. So one
 * key for all draws the same numbers for all. Fold in what tells configurations apart: its global
 * index, and not the rank, or the number of ranks would change the result.
 *
 *     mpicc 16_keys.c $(pkg-config --cflags --libs spmd) -o keys
 *     mpirun -n 4 ./keys              # on any number of ranks the same numbers
 */
#include <spmd.h>

/* Of one configuration, whose index is input 0: two numbers from `key`, two from its own key. */
static spmd_status draw(spmd_ctx *ctx, void *user)
{
    const int32_t *index = spmd_in(ctx, 0)->data;
    spmd_key key = *(spmd_key *)user, own = spmd_key_fold_in(key, (uint32_t)*index);
    spmd_block *same = spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(2));
    spmd_block *different = spmd_out(ctx, 1, SPMD_F32, SPMD_SHAPE(2));
    SPMD_TRY(spmd_random_normal(key, SPMD_F32, SPMD_SHAPE(2), NULL, same->data));
    return spmd_random_normal(own, SPMD_F32, SPMD_SHAPE(2), NULL, different->data);
}

static spmd_status draw_all(spmd_ctx *ctx, void *user)
{
    const spmd_block *indices = spmd_in(ctx, 0);
    spmd_block *numbers[] = {
        spmd_out(ctx, 0, SPMD_F32, SPMD_SHAPE(indices->shape[0], 2)),
        spmd_out(ctx, 1, SPMD_F32, SPMD_SHAPE(indices->shape[0], 2)),
    };
    return spmd_vmap(ctx, draw, user, 1, &indices, SPMD_AXES(0), 2, numbers, SPMD_AXES(0, 0), NULL);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_key key = spmd_key_create(0);
    spmd_mesh *mesh;
    spmd_array *indices, *numbers[2] = {NULL, NULL};
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "configs=*", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(configs)", SPMD_I32, SPMD_SHAPE(5), &indices));
    SPMD_TRY(spmd_shard_map(mesh, draw_all, &key, 1, &indices, SPMD_SPECS("P(configs)"), 2, numbers,
                            SPMD_SPECS("P(configs)", "P(configs)"), NULL));
    SPMD_TRY(spmd_array_print(numbers[0], stdout)); /* one key for all: five times the same */
    SPMD_TRY(spmd_array_print(numbers[1], stdout)); /* a key for each configuration */
    spmd_array_free(&numbers[1]);
    spmd_array_free(&numbers[0]);
    spmd_array_free(&indices);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
