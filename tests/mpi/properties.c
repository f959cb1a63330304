/* properties.c - what holds for any meshes, specs, shape and type, on random ones. Each property is
 * tried on the same pairs. */
#include <unistd.h>

#include "pairs.h"

enum { PAIRS = 150, PAIRS_WITH_FILES = 40 };

/* The array that counts its elements, as `spec` says. */
static spmd_array *count_up(const struct pair *pair, spmd_mesh *mesh, const char *spec)
{
    spmd_array *array = NULL;
    EXPECT_OK(spmd_array_arange(mesh, spec, pair->dtype, pair->shape, &array));
    return array;
}

static bool is_same_memory(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Whether this rank's block of `array` is that of the array that counts. */
static bool counts(const spmd_array *array, const struct pair *pair, spmd_mesh *mesh,
                   const char *spec)
{
    spmd_array *wanted = count_up(pair, mesh, spec);
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

/* What gathering gives is the block of who holds everything. */
static bool gathers(const struct pair *pair)
{
    spmd_mesh *mesh = pair->from.mesh;
    spmd_array *a = count_up(pair, mesh, pair->from.spec);
    spmd_array *whole = count_up(pair, mesh, "P()");
    int64_t count = spmd_shape_size(pair->shape), position = spmd_mesh_position(mesh);
    size_t bytes = (size_t)count * spmd_dtype_size(pair->dtype);
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
static bool is_itself_in_a_shard_map(const struct pair *pair)
{
    spmd_mesh *mesh = pair->from.mesh;
    const char *spec = pair->from.spec;
    spmd_array *a = count_up(pair, mesh, "P()"), *out = NULL;
    bool well = EXPECT_OK(spmd_shard_map(mesh, copy, NULL, 1, &a, &spec, 1, &out, &spec,
                                         &(spmd_shard_map_options){.agree = true})) &&
                EXPECT(counts(out, pair, mesh, spec));
    spmd_array_free(&a);
    spmd_array_free(&out);
    return well;
}

/* Written from one mesh, read on another. */
static bool comes_back_from_a_file(const struct pair *pair)
{
    static char path[256];
    const struct place *from = &pair->from, *to = &pair->to;
    if (test_rank == 0)
        snprintf(path, sizeof path, "%s/properties-%d.h5",
                 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_BYTE, 0, MPI_COMM_WORLD);
    spmd_array *a = count_up(pair, from->mesh, from->spec), *read = NULL;
    bool well = EXPECT_OK(spmd_write(a, path, "values"));
    MPI_Barrier(MPI_COMM_WORLD); /* ranks that are idle on one mesh are ahead */
    well &= EXPECT_OK(spmd_read(to->mesh, path, "values", to->spec, SPMD_DTYPE_NONE, &read)) &&
            EXPECT(counts(read, pair, to->mesh, to->spec));
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        unlink(path);
    spmd_array_free(&a);
    spmd_array_free(&read);
    return well;
}

static void gather(void)
{
    try_pairs(gathers, PAIRS);
}

static void identity_in_a_shard_map(void)
{
    try_pairs(is_itself_in_a_shard_map, PAIRS);
}

static void write_and_read(void)
{
    try_pairs(comes_back_from_a_file, PAIRS_WITH_FILES);
}

HARNESS_MAIN("properties", CASE(gather), CASE(identity_in_a_shard_map), CASE(write_and_read))
