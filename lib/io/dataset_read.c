/* io/dataset_read.c - arrays from datasets, or from parts of them. */
#include "array/array.h"
#include "core/hash.h"
#include "io/cast.h"
#include "io/cause.h"
#include "io/checksum.h"
#include "io/damage.h"
#include "io/dataset.h"
#include "io/description.h"
#include "io/filters.h"
#include "io/hyperslab.h"
#include "io/landing.h"
#include "io/object.h"
#include "io/transfer.h"
#include "io/types.h"

struct reading {
    spmd_file *file;
    const char *name;
    const spmd_hyperslab *asked; /* NULL: all of it */
    const spmd_sharding *sharding;
    spmd_dtype dtype; /* asked for; later the array's */
    spmd_hyperslab slab;
    bool checked; /* it is the whole of a dataset that has a checksum: */
    uint64_t checksum;
    struct landing landing;
};

static spmd_status check_type(const struct reading *reading, spmd_dtype stored)
{
    if (!spmd__type_converts(stored, reading->dtype))
        return spmd_fail(SPMD_ERR_DTYPE, "%s: dataset \"%s\" is %s; that is not converted to %s",
                         reading->file->path, reading->name, spmd_dtype_name(stored),
                         spmd_dtype_name(reading->dtype));
    return SPMD_OK;
}

/* What is read, and that it can lie as it shall. */
static spmd_status check_place(struct reading *reading, spmd_shape whole)
{
    spmd_status status = spmd__hyperslab_resolve(reading->asked, whole, &reading->slab);
    if (status == SPMD_OK)
        status = spmd_sharding_check(reading->sharding, spmd__hyperslab_shape(&reading->slab));
    if (status != SPMD_OK)
        return spmd__io_refine(status, "%s: dataset \"%s\"", reading->file->path, reading->name);
    return SPMD_OK;
}

static spmd_status look_for_checksum(struct reading *reading, hid_t dataset)
{
    if (reading->asked)
        return SPMD_OK;
    spmd_status status =
        spmd__checksum_get(reading->name, dataset, &reading->checksum, &reading->checked);
    return status == SPMD_OK ? SPMD_OK : spmd__io_refine(status, "%s", reading->file->path);
}

/* A dataset with a checksum is read in its own type, to be compared with it. */
static spmd_status plan_reading(struct reading *reading, hid_t dataset,
                                const struct description *about)
{
    if (reading->dtype == SPMD_DTYPE_NONE)
        reading->dtype = about->dtype;
    TRY(check_type(reading, about->dtype));
    TRY(check_place(reading, about->shape));
    TRY(look_for_checksum(reading, dataset));
    spmd_shape shape = spmd__hyperslab_shape(&reading->slab);
    spmd_dtype dtype = reading->checked ? about->dtype : reading->dtype;
    return spmd__landing_make(dataset, reading->sharding, dtype, shape, &reading->landing);
}

static spmd_status load_from(struct reading *reading, hid_t dataset)
{
    struct description about;
    TRY(spmd__dataset_describe(reading->file, reading->name, dataset, &about));
    TRY(spmd__filters_check(reading->file, reading->name, dataset));
    TRY(plan_reading(reading, dataset, &about));
    return spmd__transfer(reading->file, reading->name, dataset, FROM_FILE, &reading->slab,
                          &reading->landing.part->block);
}

static spmd_status load(struct reading *reading)
{
    hid_t dataset;
    TRY(spmd__dataset_open(reading->file, reading->name, &dataset));
    spmd_status status = load_from(reading, dataset);
    status = spmd__damage_confirm(reading->file, reading->name, status);
    H5Dclose(dataset);
    return status;
}

static spmd_status verify(struct reading *reading)
{
    if (!reading->checked)
        return SPMD_OK;
    spmd_status status = spmd__checksum_verify(reading->file, reading->name, reading->checksum,
                                               &reading->landing.part->block);
    if (status != SPMD_OK)
        spmd__landing_free(&reading->landing);
    return status;
}

/* The ranks made the same call, and yet met other things. */
static spmd_status fail_to_match(const struct reading *reading)
{
    return spmd_fail(
        SPMD_ERR_FILE,
        "%s: dataset \"%s\" is not the same on all ranks: put the file in a place that "
        "all nodes share",
        reading->file->path, reading->name);
}

static spmd_status read_on_member(struct reading *reading, spmd_array **out)
{
    spmd_status status;
    spmd_array *array = NULL;
    reading->landing = (struct landing){.sharding = reading->sharding};
    QUIETLY(status = load(reading));
    const uint64_t told[] = {reading->checked, reading->checksum};
    status = spmd__landing_agree(&reading->landing, status, spmd__hash(0, told, sizeof told));
    if (status == SPMD_ERR_DISAGREE)
        return fail_to_match(reading);
    TRY(status);
    TRY(verify(reading));
    TRY(spmd__landing_deliver(&reading->landing, &array));
    return spmd__cast(array, reading->dtype, out);
}

static spmd_status check_reading(const spmd_file *file, spmd_dtype dtype, spmd_array **array)
{
    TRY(spmd__output_check(array));
    if (dtype != SPMD_DTYPE_NONE && spmd_dtype_size(dtype) == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)dtype);
    return spmd__file_check_old(file);
}

/* What idle ranks get, who know no dataset. */
static spmd_status know_nothing(const struct reading *reading, spmd_array **array)
{
    return spmd__array_unknown(reading->sharding, reading->dtype, reading->sharding->spec.ndim,
                               array);
}

/* Of what is asked for. */
static uint64_t digest_of(const struct reading *reading)
{
    uint64_t digest = spmd__hyperslab_digest(reading->asked);
    if (reading->sharding)
        digest ^= spmd__array_digest(reading->sharding, reading->dtype, (spmd_shape){0});
    return digest;
}

static spmd_status read_for(const char *call, struct reading *reading, const char *spec,
                            spmd_array **array)
{
    spmd_file *file = reading->file;
    spmd_sharding *sharding = NULL;
    spmd_status status = check_reading(file, reading->dtype, array);
    if (status == SPMD_OK)
        status = spmd_sharding_create(file->mesh, spec, &sharding);
    reading->sharding = sharding;
    if (spmd__mesh_is_member(file->mesh)) {
        status = spmd__dataset_enter(file, call, reading->name, status, digest_of(reading));
        if (status == SPMD_OK)
            status = read_on_member(reading, array);
    } else if (status == SPMD_OK) {
        status = know_nothing(reading, array);
    }
    spmd_sharding_free(&sharding);
    return status;
}

spmd_status spmd_dataset_read(spmd_file *file, const char *name, const char *spec, spmd_dtype dtype,
                              spmd_array **array)
{
    TRY(spmd__file_check(file, __func__, name));
    struct reading reading = {.file = file, .name = name, .dtype = dtype};
    return read_for(__func__, &reading, spec, array);
}

spmd_status spmd_dataset_read_hyperslab(spmd_file *file, const char *name,
                                        const spmd_hyperslab *slab, const char *spec,
                                        spmd_dtype dtype, spmd_array **array)
{
    TRY(spmd__file_check(file, __func__, name));
    struct reading reading = {.file = file, .name = name, .asked = slab, .dtype = dtype};
    return read_for(__func__, &reading, spec, array);
}

spmd_status spmd_read(spmd_mesh *mesh, const char *path, const char *name, const char *spec,
                      spmd_dtype dtype, spmd_array **array)
{
    spmd_file *file = NULL;
    spmd_array *made = NULL;
    TRY(spmd_file_open(mesh, path, &file));
    spmd_status status = spmd_dataset_read(file, name, spec, dtype, array ? &made : NULL);
    status = spmd__file_end(&file, status);
    if (status == SPMD_OK)
        *array = made;
    else
        spmd_array_free(&made);
    return status;
}
