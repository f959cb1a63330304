/* watched.c - a program whose ranks are checked or watched: watched NAME. */
#include <string.h>
#include <unistd.h>

#include <spmd.h>

static int rank;

static spmd_status do_nothing_wrong(spmd_ctx *ctx, void *user)
{
    spmd_block *a = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    (void)user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    return spmd_psum(ctx, a, "x", a);
}

static spmd_status be_slow(spmd_ctx *ctx, void *user)
{
    spmd_block *a = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    (void)user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    if (rank == 0)
        sleep(2);
    return spmd_pmax(ctx, a, "x", a);
}

/* A planned reshard, which one rank comes to late. */
static spmd_status reshard_slowly(spmd_mesh *mesh)
{
    spmd_sharding *from = NULL, *to = NULL;
    spmd_reshard_call *plan = NULL;
    spmd_array *a = NULL, *b = NULL;
    SPMD_TRY(spmd_sharding_create(mesh, "P(x)", &from));
    SPMD_TRY(spmd_sharding_create(mesh, "P(-,x)", &to));
    SPMD_TRY(spmd_reshard_plan(from, to, SPMD_F32, SPMD_SHAPE(9, 7), &plan));
    SPMD_TRY(spmd_array_zeros(mesh, "P(x)", SPMD_F32, SPMD_SHAPE(9, 7), &a));
    if (rank == 0)
        sleep(2);
    SPMD_TRY(spmd_reshard_run(plan, 1, &a, &b));
    spmd_array_free(&a);
    spmd_array_free(&b);
    spmd_reshard_free(&plan);
    spmd_sharding_free(&from);
    spmd_sharding_free(&to);
    return SPMD_OK;
}

static spmd_status return_early(spmd_ctx *ctx, void *user)
{
    spmd_block *a = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    (void)user;
    return rank == 0 ? SPMD_OK : spmd_psum(ctx, a, "x", a);
}

static spmd_status start_another(spmd_ctx *ctx, void *user)
{
    spmd_block *a = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    spmd_request *request;
    (void)user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    SPMD_TRY(rank == 0 ? spmd_psum_start(ctx, a, "x", a, &request)
                       : spmd_pmax_start(ctx, a, "x", a, &request));
    return spmd_wait(&request);
}

static spmd_status start_alone(spmd_ctx *ctx, void *user)
{
    spmd_block *a = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(3));
    spmd_request *request = NULL;
    (void)user;
    SPMD_TRY(spmd_psum(ctx, a, "x", a));
    if (rank == 0)
        SPMD_TRY(spmd_psum_start(ctx, a, "x", a, &request));
    return spmd_wait(&request);
}

static spmd_status leave_alone(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    if (rank == 0)
        return spmd_fail(SPMD_ERR_BODY, "nothing to do here");
    sleep(7);
    return SPMD_OK;
}

static const struct {
    const char *name;
    spmd_body *body;
} cases[] = {{"well", do_nothing_wrong},       {"slow", be_slow},
             {"alone", leave_alone},           {"early", return_early},
             {"another_start", start_another}, {"start_alone", start_alone}};

static spmd_status program(int argc, char **argv)
{
    spmd_mesh *mesh;
    spmd_status status = SPMD_ERR_ARGUMENT;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            status = spmd_shard_map(mesh, cases[i].body, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "slow_reshard") == 0)
        status = reshard_slowly(mesh);
    spmd_mesh_free(&mesh);
    return status;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
