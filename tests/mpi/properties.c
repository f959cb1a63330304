/* properties.c - what holds for any meshes, specs, shape and type, on random ones.
 *
 * Each property is tried on the same instances: number i is made from the seed SEED + i, on two of
 * the meshes that SEED gives. */
#include <stdlib.h>
#include <unistd.h>

#include "pattern.h"

enum { SEED = 20240611, MESHES = 20, INSTANCES = 150, INSTANCES_WITH_FILES = 40 };

/* An array of `shape`, and two ways to lie. */
struct instance {
    spmd_shape shape;
    spmd_dtype dtype;
    struct place {
        spmd_mesh *mesh;
        char spec[256];
    } from, to;
};

/* A mesh of 1 to 4 axes over some of the ranks, or all. */
static spmd_mesh *make_random_mesh(unsigned *seed)
{
    static const char *const names[] = {"x", "y", "z", "w"};
    int64_t sizes[] = {1, 1, 1, 1};
    int naxes = 1 + rand_r(seed) % 4, room = test_size;
    for (int turn = 0; turn < 3; turn++) {
        int size = 1 + rand_r(seed) % room;
        sizes[rand_r(seed) % naxes] *= size;
        room /= size;
    }
    spmd_mesh *mesh = NULL;
    EXPECT_OK(spmd_mesh_create_sizes(MPI_COMM_WORLD, naxes, names, sizes, &mesh));
    return mesh;
}

/* A spec for an array of `ndim` dimensions; trailing ones may be left out. */
static void make_random_spec(struct place *place, int ndim, unsigned *seed)
{
    int left_out = ndim > 0 && rand_r(seed) % 4 == 0 ? 1 + rand_r(seed) % ndim : 0;
    pattern_random_spec(place->mesh, ndim - left_out, seed, place->spec);
}

static void make_instance(struct instance *instance, spmd_mesh *const meshes[], unsigned seed)
{
    int ndim = rand_r(&seed) % 5;
    instance->shape = pattern_random_shape(ndim, &seed);
    instance->dtype = (spmd_dtype)(SPMD_BOOL + rand_r(&seed) % SPMD_C128);
    instance->from.mesh = meshes[rand_r(&seed) % MESHES];
    instance->to.mesh = meshes[rand_r(&seed) % MESHES];
    make_random_spec(&instance->from, ndim, &seed);
    make_random_spec(&instance->to, ndim, &seed);
}

static void print_instance(const struct instance *instance, unsigned seed)
{
    char from[64], to[64];
    spmd_mesh_format(from, sizeof from, instance->from.mesh);
    spmd_mesh_format(to, sizeof to, instance->to.mesh);
    fprintf(stderr, "# seed %u: %s[", seed, spmd_dtype_name(instance->dtype));
    for (int d = 0; d < instance->shape.ndim; d++)
        fprintf(stderr, "%s%lld", d ? "," : "", (long long)instance->shape.dim[d]);
    fprintf(stderr, "], %s on %s, %s on %s\n", instance->from.spec, from, instance->to.spec, to);
}

/* Tries the property on instances; those that do not have it are told. */
static void try(bool (*property)(const struct instance *instance), int count)
{
    spmd_mesh *meshes[MESHES];
    unsigned seed = SEED;
    if (test_rank == 0)
        printf("# seeds %d to %d\n", SEED, SEED + count - 1);
    for (int m = 0; m < MESHES; m++)
        meshes[m] = make_random_mesh(&seed);
    for (int i = 0; i < count; i++) {
        struct instance instance;
        make_instance(&instance, meshes, SEED + (unsigned)i);
        if (!property(&instance))
            print_instance(&instance, SEED + (unsigned)i);
    }
    for (int m = 0; m < MESHES; m++)
        spmd_mesh_free(&meshes[m]);
}

/* The array that counts its elements, as `spec` says. */
static spmd_array *count_up(const struct instance *instance, spmd_mesh *mesh, const char *spec)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, instance->dtype, instance->shape, &array));
    return array;
}

static bool is_same_memory(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Whether this rank's block of `array` is that of the array that counts. */
static bool counts(const spmd_array *array, const struct instance *instance, spmd_mesh *mesh,
                   const char *spec)
{
    spmd_array *wanted = count_up(instance, mesh, spec);
    const spmd_block *a = array ? spmd_array_block(array) : NULL;
    const spmd_block *b = wanted ? spmd_array_block(wanted) : NULL;
    bool same = array && wanted && !a == !b;
    if (same && a) {
        same = a->dtype == b->dtype && spmd_shape_equal(spmd_block_shape(a), spmd_block_shape(b)) &&
               is_same_memory(a->data, b->data,
                              (size_t)spmd_block_size(b) * spmd_dtype_size(b->dtype));
        for (int d = 0; d < b->ndim; d++)
            same = same && a->offset[d] == b->offset[d] && a->global[d] == b->global[d];
    }
    spmd_array_free(&wanted);
    return same;
}

static bool comes_back_from_another_spec(const struct instance *instance)
{
    spmd_mesh *mesh = instance->from.mesh;
    char spec[256];
    unsigned seed = (unsigned)instance->dtype;
    pattern_random_spec(mesh, instance->shape.ndim, &seed, spec);
    spmd_array *a = count_up(instance, mesh, instance->from.spec), *there = NULL, *back = NULL;
    bool well = EXPECT_OK(spmd_reshard(a, spec, &there)) &&
                EXPECT(counts(there, instance, mesh, spec)) &&
                EXPECT_OK(spmd_reshard(there, instance->from.spec, &back)) &&
                EXPECT(counts(back, instance, mesh, instance->from.spec));
    spmd_array_free(&a);
    spmd_array_free(&there);
    spmd_array_free(&back);
    return well;
}

static bool comes_back_from_another_mesh(const struct instance *instance)
{
    const struct place *from = &instance->from, *to = &instance->to;
    spmd_sharding *forth = NULL;
    spmd_array *a = count_up(instance, from->mesh, from->spec), *there = NULL, *back = NULL;
    EXPECT_OK(spmd_sharding_create(to->mesh, to->spec, &forth));
    bool well = EXPECT_OK(spmd_reshard_to(a, forth, &there)) &&
                EXPECT(counts(there, instance, to->mesh, to->spec)) &&
                EXPECT_OK(spmd_reshard_to(there, spmd_array_sharding(a), &back)) &&
                EXPECT(counts(back, instance, from->mesh, from->spec));
    spmd_sharding_free(&forth);
    spmd_array_free(&a);
    spmd_array_free(&there);
    spmd_array_free(&back);
    return well;
}

/* What gathering gives is the block of who holds everything. */
static bool gathers(const struct instance *instance)
{
    spmd_mesh *mesh = instance->from.mesh;
    spmd_array *a = count_up(instance, mesh, instance->from.spec);
    spmd_array *whole = count_up(instance, mesh, "P()");
    int64_t count = spmd_shape_size(instance->shape), position = spmd_mesh_position(mesh);
    size_t bytes = (size_t)count * spmd_dtype_size(instance->dtype);
    const spmd_block *wanted = whole ? spmd_array_block(whole) : NULL;
    unsigned char *host = calloc(1, bytes + 1), *all = calloc(1, bytes + 1);
    bool well = EXPECT_OK(spmd_array_gather(a, 0, host, count)) &&
                EXPECT_OK(spmd_array_gather(a, SPMD_ALL, all, count));
    if (position == 0)
        well = well && EXPECT(is_same_memory(host, wanted->data, bytes));
    if (position >= 0)
        well = well && EXPECT(is_same_memory(all, wanted->data, bytes));
    free(host);
    free(all);
    spmd_array_free(&a);
    spmd_array_free(&whole);
    return well;
}

static spmd_status copy(spmd_ctx *ctx, void *user)
{
    (void)user;
    const spmd_block *in = spmd_in(ctx, 0);
    spmd_block *out = spmd_out(ctx, 0, in->dtype, spmd_block_shape(in));
    size_t bytes = (size_t)spmd_block_size(in) * spmd_dtype_size(in->dtype);
    if (out && bytes > 0)
        memcpy(out->data, in->data, bytes);
    return SPMD_OK;
}

/* A body that copies gives its input, laid as in_spec and out_spec say. */
static bool is_itself_in_a_shard_map(const struct instance *instance)
{
    spmd_mesh *mesh = instance->from.mesh;
    const char *spec = instance->from.spec;
    spmd_array *a = count_up(instance, mesh, "P()"), *out = NULL;
    bool well = EXPECT_OK(spmd_shard_map(mesh, copy, NULL, 1, &a, &spec, 1, &out, &spec,
                                         &(spmd_shard_map_options){.agree = true})) &&
                EXPECT(counts(out, instance, mesh, spec));
    spmd_array_free(&a);
    spmd_array_free(&out);
    return well;
}

/* Written from one mesh, read on another. */
static bool comes_back_from_a_file(const struct instance *instance)
{
    static char path[256];
    const struct place *from = &instance->from, *to = &instance->to;
    if (test_rank == 0)
        snprintf(path, sizeof path, "%s/properties-%d.h5",
                 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_BYTE, 0, MPI_COMM_WORLD);
    spmd_array *a = count_up(instance, from->mesh, from->spec), *read = NULL;
    bool well = EXPECT_OK(spmd_write(a, path, "values"));
    MPI_Barrier(MPI_COMM_WORLD); /* ranks that are idle on one mesh are ahead */
    well &= EXPECT_OK(spmd_read(to->mesh, path, "values", to->spec, SPMD_DTYPE_NONE, &read)) &&
            EXPECT(counts(read, instance, to->mesh, to->spec));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(path);
    spmd_array_free(&a);
    spmd_array_free(&read);
    return well;
}

static void reshard_to_a_spec_and_back(void)
{
    try(comes_back_from_another_spec, INSTANCES);
}

static void reshard_to_a_mesh_and_back(void)
{
    try(comes_back_from_another_mesh, INSTANCES);
}

static void gather(void)
{
    try(gathers, INSTANCES);
}

static void identity_in_a_shard_map(void)
{
    try(is_itself_in_a_shard_map, INSTANCES);
}

static void write_and_read(void)
{
    try(comes_back_from_a_file, INSTANCES_WITH_FILES);
}

HARNESS_MAIN("properties", CASE(reshard_to_a_spec_and_back), CASE(reshard_to_a_mesh_and_back),
             CASE(gather), CASE(identity_in_a_shard_map), CASE(write_and_read))
