/* dataset_random.c - random datasets: written whole and in parts, grown, changed and read, under
 * any sharding and in any layout, they are what a model in memory is. */
#include "harness.h"
#include "model.h"
#include "pairs.h"
#include "scratch.h"

enum { STEPS = 3 };

/* Chunks of any size, half of the time of none; and any filters. */
static spmd_dataset_options random_options(spmd_shape shape, unsigned *seed)
{
    spmd_dataset_options options = {.unlimited = shape.ndim > 0 && rand_r(seed) % 2};
    if (shape.ndim == 0 || rand_r(seed) % 4 == 0)
        return options;
    if (rand_r(seed) % 2)
        for (int d = 0; d < shape.ndim; d++)
            options.chunk[d] = 1 + (shape.dim[d] > 0 ? rand_r(seed) % shape.dim[d] : 0);
    options.deflate = rand_r(seed) % 3;
    options.shuffle = rand_r(seed) % 2;
    options.fletcher32 = rand_r(seed) % 2;
    return options;
}

/* Made with an element everywhere, or written. */
static bool begin(spmd_file *file, const struct pair *pair, struct model *model, unsigned *seed,
                  bool *grows)
{
    spmd_dataset_options options = random_options(pair->shape, seed);
    unsigned char element[16];
    *grows = options.unlimited;
    if (rand_r(seed) % 2) {
        spmd_array *array =
            pattern_array(pair->from.mesh, pair->from.spec, pair->dtype, pair->shape);
        spmd_hyperslab all = spmd_hyperslab_make(pair->shape.ndim, NULL, pair->shape.dim, NULL);
        model_write(model, &all, 0);
        bool well = EXPECT_OK(spmd_dataset_write_as(file, "g/v", array, &options));
        spmd_array_free(&array);
        return well;
    }
    if (rand_r(seed) % 2) {
        pattern_element(rand_r(seed), spmd_dtype_size(pair->dtype), element);
        options.fill = element;
        model_fill(model, element);
    }
    return EXPECT_OK(spmd_dataset_create(file, "g/v", pair->dtype, pair->shape, &options));
}

static bool append(spmd_file *file, const struct pair *pair, struct model *model, int slice,
                   unsigned *seed)
{
    spmd_shape rows = model->shape;
    int64_t start[SPMD_MAX_DIMS] = {model->shape.dim[0]};
    rows.dim[0] = rand_r(seed) % 6;
    spmd_array *array = pattern_slice(slice, pair->from.mesh, pair->from.spec, pair->dtype, rows);
    bool well = EXPECT_OK(spmd_dataset_append(file, "g/v", array));
    spmd_hyperslab behind = spmd_hyperslab_make(rows.ndim, start, rows.dim, NULL);
    model_grow(model, rows.dim[0]);
    model_write(model, &behind, slice);
    spmd_array_free(&array);
    return well;
}

static bool write_part(spmd_file *file, const struct pair *pair, struct model *model, int slice,
                       unsigned *seed)
{
    spmd_hyperslab slab = model_random_slab(model->shape, seed);
    spmd_array *array = pattern_slice(slice, pair->from.mesh, pair->from.spec, pair->dtype,
                                      spmd_shape_make(slab.ndim, slab.count));
    bool well = EXPECT_OK(spmd_dataset_write_hyperslab(file, "g/v", &slab, array));
    model_write(model, &slab, slice);
    spmd_array_free(&array);
    return well;
}

static bool write_all(const struct pair *pair, const char *path, struct model *model,
                      unsigned *seed)
{
    spmd_file *file = NULL;
    bool grows = false;
    bool well = EXPECT_OK(spmd_file_create(pair->from.mesh, path, &file)) &&
                begin(file, pair, model, seed, &grows);
    for (int step = 1; well && step <= STEPS; step++) {
        if (rand_r(seed) % 4 == 0)
            well = EXPECT_OK(spmd_file_close(&file)) &&
                   EXPECT_OK(spmd_file_modify(pair->from.mesh, path, &file));
        if (well)
            well = grows && rand_r(seed) % 2 ? append(file, pair, model, step, seed)
                                             : write_part(file, pair, model, step, seed);
    }
    return well && EXPECT_OK(spmd_file_close(&file));
}

static bool read_all(const struct pair *pair, const char *path, const struct model *model,
                     unsigned *seed)
{
    spmd_file *file = NULL;
    spmd_array *whole = NULL, *part = NULL;
    spmd_hyperslab slab = model_random_slab(model->shape, seed);
    const char *spec = pair->to.spec;
    bool well =
        EXPECT_OK(spmd_file_open(pair->to.mesh, path, &file)) &&
        EXPECT_OK(spmd_dataset_read(file, "g/v", spec, SPMD_DTYPE_NONE, &whole)) &&
        EXPECT(model_is_in(model, NULL, whole)) &&
        EXPECT_OK(spmd_dataset_read_hyperslab(file, "g/v", &slab, spec, pair->dtype, &part)) &&
        EXPECT(model_is_in(model, &slab, part));
    spmd_array_free(&part);
    spmd_array_free(&whole);
    EXPECT_OK(spmd_file_close(&file));
    return well;
}

static bool is_as_its_model(const struct pair *pair)
{
    static unsigned number;
    unsigned seed = 77 + number++;
    const char *path = scratch("v.h5");
    struct model model = model_make(pair->dtype, pair->shape);
    bool well = write_all(pair, path, &model, &seed);
    after_rank_0();
    well = well && read_all(pair, path, &model, &seed);
    model_free(&model);
    return well;
}

/* More of them where ranks do not wait for cores. */
static void datasets_are_as_their_models(void)
{
    try_pairs(is_as_its_model, 120 / (test_size + 1));
}

HARNESS_MAIN("dataset_random", CASE(datasets_are_as_their_models))
