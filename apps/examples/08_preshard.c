/* 08_preshard.c - when do I place my data before the call, and what is a plan?
 *
 * A shard_map moves an input that does not lie as its in_spec says, at each call; where it moves
 * one again, a note says so. So what is used once needs no care, and what is used often is placed
 * once, as the body wants it. A plan reads the specs once too, and a run of it costs what the body
 * costs. The option `strict` refuses what would have to be moved: it finds the array that you
 * forgot.
 *
 *     mpicc 08_preshard.c $(pkg-config --cflags --libs spmd) -o preshard
 *     mpirun -n 4 ./preshard          # on 2 ranks or more the same
 */
#include <spmd.h>

/* One step of fitting y = weight x, over the rows (x, y) of all ranks. */
static spmd_status step(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *rows = spmd_in(ctx, 0), *weight = spmd_in(ctx, 1);
    spmd_block *next = spmd_out(ctx, 0, SPMD_F64, SPMD_SCALAR);
    spmd_block *gradient = spmd_temp(ctx, SPMD_F64, SPMD_SCALAR);
    double *sum = gradient->data, w = *(double *)weight->data;
    const double *row = rows->data;
    for (int64_t r = 0; r < rows->shape[0]; r++, row += 2)
        *sum += (w * row[0] - row[1]) * row[0];
    SPMD_TRY(spmd_psum(ctx, gradient, "x", gradient));
    *(double *)next->data = w - *sum / 1024;
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    (void)argc, (void)argv;
    static const spmd_shard_map_options strict = {.strict = true};
    spmd_mesh *mesh;
    spmd_array *whole, *rows, *weight, *next = NULL;
    spmd_shard_map_call *plan;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(spmd_array_arange(mesh, "P()", SPMD_F64, SPMD_SHAPE(8, 2), &whole));
    SPMD_TRY(spmd_array_zeros(mesh, "P()", SPMD_F64, SPMD_SCALAR, &weight));

    /* Once: `whole` is cut into rows for this call, and that is thrown away after it. */
    SPMD_TRY(spmd_shard_map(mesh, step, NULL, 2, SPMD_ARRAYS(whole, weight),
                            SPMD_SPECS("P(x)", "P()"), 1, &next, SPMD_SPECS("P()"), NULL));
    SPMD_TRY(spmd_array_print(next, stdout));

    /* Often: plan, place, run. Strict, the plan refuses what is not in its place. */
    SPMD_TRY(spmd_shard_map_plan(mesh, step, 2, SPMD_SPECS("P(x)", "P()"), 1, SPMD_SPECS("P()"),
                                 &strict, &plan));
    if (spmd_shard_map_run(plan, NULL, SPMD_ARRAYS(whole, weight), &next) != SPMD_OK &&
        spmd_mesh_position(mesh) == 0)
        puts(spmd_error_message());
    SPMD_TRY(spmd_reshard(whole, "P(x)", &rows));
    for (int i = 0; i < 100; i++) {
        SPMD_TRY(spmd_shard_map_run(plan, NULL, SPMD_ARRAYS(rows, weight), &next));
        spmd_array *last = weight; /* its memory takes the next result */
        weight = next;
        next = last;
    }
    SPMD_TRY(spmd_array_print(weight, stdout));

    spmd_shard_map_free(&plan);
    spmd_array_free(&next);
    spmd_array_free(&weight);
    spmd_array_free(&rows);
    spmd_array_free(&whole);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
