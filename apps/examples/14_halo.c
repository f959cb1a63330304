/* 14_halo.c - how does a stencil see its neighbours' elements?
 *
 * A block is stored with a border, which an exchange fills with the neighbours' elements. Here heat
 * spreads over a plate, insulated above and below, cold on the right, with a flame on the left.
 *
 *     mpicc 14_halo.c $(pkg-config --cflags --libs spmd) -o halo
 *     mpirun -n 4 ./halo x=2,y=2
 */
#include <spmd.h>

enum { ROWS = 12, COLUMNS = 9, STEPS = 200 };

/* What is beyond the ends of the plate no rank has, and no exchange touches. */
static void set_edges(spmd_block *u)
{
    int64_t rows = u->shape[0], columns = u->shape[1];
    double(*t)[columns] = u->data;
    for (int64_t i = 0, row = u->offset[0]; i < rows && u->offset[1] < 0; i++, row++)
        t[i][0] = row >= 4 && row < 8 ? 100 : 0;
    for (int64_t j = 0; j < columns && u->offset[0] < 0; j++)
        t[0][j] = t[1][j];
    for (int64_t j = 0; j < columns && u->offset[0] + rows > u->global[0]; j++)
        t[rows - 1][j] = t[rows - 2][j];
}

static void spread(const spmd_block *from, spmd_block *to)
{
    int64_t columns = from->shape[1];
    const double(*t)[columns] = from->data;
    double(*next)[columns] = to->data;
    for (int64_t i = 1; i < from->shape[0] - 1; i++)
        for (int64_t j = 1; j < columns - 1; j++)
            next[i][j] = 0.25 * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]);
}

/* Runs on each rank. in 0: its block of the plate; out 0: the degrees there, later. */
static spmd_status heat(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    const spmd_halo halo[] = {{"x", 1, 1, false}, {"y", 1, 1, false}};
    spmd_block *now = spmd_halo_block(ctx, in, halo), *next = spmd_halo_block(ctx, in, halo);
    for (int step = 0; step < STEPS; step++) {
        SPMD_TRY(spmd_halo_exchange(ctx, now, halo));
        set_edges(now);
        spread(now, next);
        spmd_block *old = now;
        now = next;
        next = old;
    }
    spmd_block *out = spmd_out(ctx, 0, SPMD_I32, spmd_block_shape(in)), inside;
    SPMD_TRY(spmd_halo_interior(now, halo, &inside));
    const double *t = inside.data;
    int32_t *degrees = out->data;
    for (int64_t i = 0; i < inside.shape[0]; i++, t += inside.stride[0])
        for (int64_t j = 0; j < inside.shape[1]; j++)
            *degrees++ = (int32_t)(t[j] + 0.5);
    return SPMD_OK;
}

static spmd_status program(int argc, char **argv)
{
    spmd_mesh *mesh;
    spmd_array *plate, *later = NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "x=*,y=1", &mesh));
    SPMD_TRY(spmd_array_zeros(mesh, "P(x,y)", SPMD_F64, SPMD_SHAPE(ROWS, COLUMNS), &plate));
    SPMD_TRY(spmd_shard_map(mesh, heat, NULL, 1, &plate, SPMD_SPECS("P(x,y)"), 1, &later,
                            SPMD_SPECS("P(x,y)"), NULL));
    SPMD_TRY(spmd_array_print(later, stdout));
    spmd_array_free(&later);
    spmd_array_free(&plate);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
