/* wrong_uses.c - a program that makes one mistake: wrong_uses NAME DIRECTORY. */
#include <string.h>

#include <spmd.h>

struct place {
    spmd_mesh *mesh; /* x=*: all ranks */
    const char *directory;
};

static spmd_status make(const struct place *place, const char *spec)
{
    spmd_array *array;
    return spmd_array_zeros(place->mesh, spec, SPMD_F32, SPMD_SHAPE(8), &array);
}

static spmd_status unknown_axis(const struct place *place)
{
    return make(place, "P(q)");
}

static spmd_status axis_twice(const struct place *place)
{
    return make(place, "P((x,x))");
}

static spmd_status long_spec(const struct place *place)
{
    return make(place, "P(x, -)");
}

static spmd_status large_mesh(const struct place *place)
{
    spmd_mesh *mesh;
    (void)place;
    return spmd_mesh_create(MPI_COMM_WORLD, "x=8,y=2", &mesh);
}

static spmd_status read_dataset(const struct place *place, const char *file, const char *name)
{
    spmd_array *array;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", place->directory, file);
    return spmd_read(place->mesh, path, name, "P(x, -, -)", SPMD_DTYPE_NONE, &array);
}

static spmd_status missing_file(const struct place *place)
{
    return read_dataset(place, "missing.h5", "x");
}

static spmd_status missing_dataset(const struct place *place)
{
    return read_dataset(place, "digits.h5", "z");
}

static spmd_status wrong_rank(const struct place *place)
{
    return read_dataset(place, "digits.h5", "x");
}

static spmd_status unwritable(const struct place *place)
{
    spmd_array *array;
    char path[4096];
    snprintf(path, sizeof path, "%s/missing/out.h5", place->directory);
    SPMD_TRY(spmd_array_zeros(place->mesh, "P(x)", SPMD_F32, SPMD_SHAPE(8), &array));
    return spmd_write(array, path, "a");
}

static spmd_status fail_on_the_last(spmd_ctx *ctx, void *user)
{
    (void)user;
    if (spmd_axis_index(ctx, "x") == spmd_axis_size(ctx, "x") - 1)
        return spmd_fail(SPMD_ERR_BODY, "the last rank has had enough");
    return SPMD_OK;
}

static spmd_status failing_body(const struct place *place)
{
    return spmd_shard_map(place->mesh, fail_on_the_last, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL);
}

/* The others wait for the last rank, which does not come. */
static spmd_status fail_before_others(spmd_ctx *ctx, void *user)
{
    spmd_block *sum = spmd_temp(ctx, SPMD_F32, SPMD_SHAPE(2));
    SPMD_TRY(fail_on_the_last(ctx, user));
    return spmd_psum(ctx, sum, "x", sum);
}

static spmd_status stuck_body(const struct place *place)
{
    return spmd_shard_map(place->mesh, fail_before_others, NULL, 0, NULL, NULL, 0, NULL, NULL,
                          NULL);
}

static spmd_status fail_later(spmd_ctx *ctx, void *user)
{
    return *(int *)user > 1 ? fail_on_the_last(ctx, user) : SPMD_OK;
}

/* Later runs of a plan agree on nothing. */
static spmd_status failing_run(const struct place *place)
{
    spmd_shard_map_call *plan;
    SPMD_TRY(spmd_shard_map_plan(place->mesh, fail_later, 0, NULL, 0, NULL, NULL, &plan));
    for (int run = 0; run < 3; run++)
        SPMD_TRY(spmd_shard_map_run(plan, &run, NULL, NULL));
    return SPMD_OK;
}

static spmd_status nothing(spmd_ctx *ctx, void *user)
{
    (void)ctx, (void)user;
    return SPMD_OK;
}

/* The program's own failure, of which the others, who wait, know nothing. */
static spmd_status own_failure(const struct place *place)
{
    if (spmd_mesh_position(place->mesh) == spmd_mesh_size(place->mesh) - 1)
        return spmd_fail(SPMD_ERR_BODY, "the last rank has had enough");
    return spmd_agree(place->mesh, SPMD_OK);
}

/* All ranks fail alike, and none knows of the others. */
static spmd_status common_failure(const struct place *place)
{
    (void)place;
    return spmd_fail(SPMD_ERR_BODY, "all have had enough");
}

/* All ranks refuse the input, and agree on it. */
static spmd_status unplaced_input(const struct place *place)
{
    spmd_array *array;
    SPMD_TRY(spmd_array_zeros(place->mesh, "P()", SPMD_F32, SPMD_SHAPE(8), &array));
    return spmd_shard_map(place->mesh, nothing, NULL, 1, &array, SPMD_SPECS("P(x)"), 0, NULL, NULL,
                          &(spmd_shard_map_options){.strict = true});
}

static const struct {
    const char *name;
    spmd_status (*run)(const struct place *place);
} mistakes[] = {
    {"unknown_axis", unknown_axis}, {"axis_twice", axis_twice},
    {"long_spec", long_spec},       {"large_mesh", large_mesh},
    {"missing_file", missing_file}, {"missing_dataset", missing_dataset},
    {"wrong_rank", wrong_rank},     {"unwritable", unwritable},
    {"failing_body", failing_body}, {"stuck_body", stuck_body},
    {"failing_run", failing_run},   {"unplaced_input", unplaced_input},
    {"own_failure", own_failure},   {"common_failure", common_failure},
};

static spmd_status program(int argc, char **argv)
{
    struct place place = {.directory = argc > 2 ? argv[2] : "."};
    SPMD_TRY(spmd_mesh_create(MPI_COMM_WORLD, "x=*", &place.mesh));
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (argc > 1 && strcmp(argv[1], mistakes[i].name) == 0)
            SPMD_TRY(mistakes[i].run(&place));
    spmd_mesh_free(&place.mesh);
    return SPMD_OK;
}

int main(int argc, char **argv)
{
    return spmd_main(argc, argv, program);
}
