/* outside.c - a body that touches one element outside of a block: outside WHICH. As "outside
 * sanitizer" it tells by its exit status whether anybody looks. */
#include <string.h>

#include <spmd.h>

/* One element behind the end of a block. */
static void write_behind(const spmd_block *block)
{
    ((volatile double *)block->data)[spmd_block_size(block)] = 1;
}

static spmd_block *declare(spmd_ctx *ctx, int64_t size)
{
    return spmd_out(ctx, 0, SPMD_F64, SPMD_SHAPE(size));
}

static spmd_status output(spmd_ctx *ctx, void *user)
{
    (void)user;
    write_behind(declare(ctx, 3));
    return SPMD_OK;
}

/* A block of a round size. */
static spmd_status round_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    write_behind(declare(ctx, 8));
    return SPMD_OK;
}

static spmd_status empty_output(spmd_ctx *ctx, void *user)
{
    (void)user;
    write_behind(declare(ctx, 0));
    return SPMD_OK;
}

/* The memory of the run before. */
static spmd_status later_output(spmd_ctx *ctx, void *user)
{
    int *run = user;
    spmd_block *out = declare(ctx, 5);
    if (++*run == 2)
        write_behind(out);
    return SPMD_OK;
}

static spmd_status temporary(spmd_ctx *ctx, void *user)
{
    (void)user;
    declare(ctx, 3);
    write_behind(spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(3)));
    return SPMD_OK;
}

/* In front of the second of two temporaries there is not the first one. */
static spmd_status before_temporary(spmd_ctx *ctx, void *user)
{
    (void)user;
    declare(ctx, 3);
    spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(8));
    ((volatile double *)spmd_temp(ctx, SPMD_F64, SPMD_SHAPE(8))->data)[-1] = 1;
    return SPMD_OK;
}

static spmd_status input(spmd_ctx *ctx, void *user)
{
    (void)user;
    declare(ctx, 3);
    write_behind(spmd_in(ctx, 0));
    return SPMD_OK;
}

static const struct {
    const char *name;
    spmd_body *body;
} bodies[] = {
    {"output", output},
    {"round_output", round_output},
    {"empty_output", empty_output},
    {"later_output", later_output},
    {"temporary", temporary},
    {"before_temporary", before_temporary},
    {"input", input},
};

static spmd_body *body_of(const char *name)
{
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (strcmp(name, bodies[i].name) == 0)
            return bodies[i].body;
    return NULL;
}

static spmd_status program(int argc, char **argv)
{
    spmd_mesh *mesh = NULL;
    spmd_array *in = NULL, *out = NULL;
    spmd_shard_map_call *plan = NULL;
    int runs = 0;
    spmd_body *body = argc > 1 ? body_of(argv[1]) : NULL;
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &mesh));
    SPMD_TRY(spmd_array_zeros(mesh, "P()", SPMD_F64, SPMD_SHAPE(3), &in));
    SPMD_TRY(
        spmd_shard_map_plan(mesh, body, 1, SPMD_SPECS("P()"), 1, SPMD_SPECS("P()"), NULL, &plan));
    for (int i = 0; i < 2; i++)
        SPMD_TRY(spmd_shard_map_run(plan, &runs, &in, &out));
    spmd_shard_map_free(&plan);
    spmd_array_free(&in);
    spmd_array_free(&out);
    spmd_mesh_free(&mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "sanitizer") == 0)
#ifdef __SANITIZE_ADDRESS__
        return 0;
#else
        return 1;
#endif
    return spmd_main(argc, argv, program);
}
