/* 09_replication.c - why is my cond refused?
 *
 * An axis that an out_spec does not name is a promise: along it all blocks are equal. JAX proves
 * that, and refuses a cond of which it cannot. Here the blocks themselves are compared, so any
 * branch may stand in a body. Results that do differ are refused: make them equal by a psum or a
 * pmean, or name the axis in the out_spec and have them all.
 *
 *     mpicc 09_replication.c $(pkg-config --cflags --libs spmd) -o replication
 *     mpirun -n 4 ./replication
 */
#include <spmd.h>

/* Halves its mean until it is below the limit: a loop over a condition that is each rank's own. */
static spmd_status halvings(spmd_ctx *ctx, void *user)
{
    const double *x = spmd_in(ctx, 0)->data, *limit = user;
    double *steps = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(1))->data;
    for (double mean = (x[0] + x[1]) / 2; mean >= *limit; mean /= 2)
        *steps += 1;
    return SPMD_OK;
}

/* The same, and then everybody has the mean of all. */
static spmd_status mean_halvings(spmd_ctx *ctx, void *user)
{
    SPMD_TRY(halvings(ctx, user));
    spmd_block *steps = spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(1));
    return spmd_pmean(ctx, steps, "x", steps);
}

static void say(const spmd_mesh *mesh, const char *line)
{
    if (spmd_mesh_position(mesh) == 0)
        puts(line);
}

static spmd_status attempt(const char *title, spmd_array *input, spmd_body *body, double limit,
                           const char *out_spec)
{
    spmd_mesh *mesh = spmd_sharding_mesh(spmd_array_sharding(input));
    spmd_array *steps = NULL;
    say(mesh, title);
    if (spmd_shard_map(mesh, body, &limit, 1, &input, SPMD_SPECS("P(x)"), 1, &steps,
                       SPMD_SPECS(out_spec), NULL) == SPMD_OK)
        SPMD_TRY(spmd_array_print(steps, stdout));
    else
        say(mesh, spmd_error_message());
    spmd_array_free(&steps);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    spmd_mesh *mesh;
    spmd_array *input;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=4", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P(x)", SPMD_F64, SPMD_SHAPE(8), &input));

    SPMD_TRY(attempt("P(), and all ranks halve equally often:", input, halvings, 100, "P()"));
    SPMD_TRY(attempt("P(), and some halve more often:", input, halvings, 2, "P()"));
    SPMD_TRY(attempt("P(), and all have the mean:", input, mean_halvings, 2, "P()"));
    SPMD_TRY(attempt("P(x), and each has its own:", input, halvings, 2, "P(x)"));

    spmd_array_free(&input);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
