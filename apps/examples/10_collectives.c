/* 10_collectives.c - what do psum, all_gather, psum_scatter, all_to_all and ppermute do?
 *
 * They are how the ranks of a body talk, along the axes that they name. Below, one of each on four
 * ranks: what a rank brings is its block of an input, what it gets its block of an output.
 *
 *     mpicc 10_collectives.c $(pkg-config --cflags --libs spmd) -o collectives
 *     mpirun -n 4 ./collectives
 */
#include <spmd.h>

static const int32_t digits[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
static const int32_t firsts[] = {3, 9, 5, 2};
static const int32_t counts[] = {0, 1, 2, 3, 4, 5, 6, 7};

static spmd_status talk(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *four = spmd_in(ctx, 0), *one = spmd_in(ctx, 1), *two = spmd_in(ctx, 2);
    spmd_block *sum = spmd_out(ctx, 0, SPMD_I32, SPMD_SHAPE(4));
    spmd_block *part = spmd_out(ctx, 1, SPMD_I32, SPMD_SHAPE(1));
    spmd_block *all = spmd_out(ctx, 2, SPMD_I32, SPMD_SHAPE(4));
    spmd_block *turned = spmd_out(ctx, 3, SPMD_I32, SPMD_SHAPE(4));
    spmd_block *shifted = spmd_out(ctx, 4, SPMD_I32, SPMD_SHAPE(2));

    /* The sum of all blocks, at everybody. */
    SPMD_TRY(spmd_psum(ctx, four, "i", sum));
    /* The same sum, of which each rank gets the part that is its own. */
    SPMD_TRY(spmd_psum_scatter(ctx, four, "i", 0, SPMD_TILED, part));
    /* The blocks of all, joined, at everybody. */
    SPMD_TRY(spmd_all_gather(ctx, one, "i", 0, SPMD_TILED, all));
    /* Part k of the block goes to rank k: a transposition of ranks and parts. */
    SPMD_TRY(spmd_all_to_all(ctx, four, "i", 0, 0, SPMD_TILED, turned));
    /* To the next rank, and from the last to the first. */
    return spmd_ppermute(ctx, two, "i", 4, SPMD_PAIRS({0, 1}, {1, 2}, {2, 3}, {3, 0}), shifted);
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    static const char *const names[] = {"psum, as P()", "psum_scatter, as P(i)",
                                        "all_gather, as P(i)", "all_to_all, as P(i)",
                                        "ppermute, as P(i)"};
    spmd_mesh *mesh;
    spmd_sharding *split;
    spmd_array *in[3], *out[5] = {NULL};
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "i=4", &mesh));
    SPMD_TRY(spmd_sharding_create(mesh, "P(i)", &split));
    SPMD_TRY(spmd_device_put(digits, 16, SPMD_I32, SPMD_SHAPE(16), split, &in[0]));
    SPMD_TRY(spmd_device_put(firsts, 4, SPMD_I32, SPMD_SHAPE(4), split, &in[1]));
    SPMD_TRY(spmd_device_put(counts, 8, SPMD_I32, SPMD_SHAPE(8), split, &in[2]));

    SPMD_TRY(spmd_shard_map(mesh, talk, NULL, 3, in, SPMD_SPECS("P(i)", "P(i)", "P(i)"), 5, out,
                            SPMD_SPECS("P()", "P(i)", "P(i)", "P(i)", "P(i)"), NULL));

    for (int k = 0; k < 5; k++) {
        if (spmd_mesh_position(mesh) == 0)
            puts(names[k]);
        SPMD_TRY(spmd_array_print(out[k], stdout));
        spmd_array_free(&out[k]);
    }
    for (int k = 0; k < 3; k++)
        spmd_array_free(&in[k]);
    spmd_sharding_free(&split);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
