/* io/dataset.c - arrays to and from datasets. */
#include "array/array.h"
#include "array/reshard.h"
#include "io/aside.h"
#include "io/attribute.h"
#include "io/cause.h"
#include "io/description.h"
#include "io/object.h"
#include "io/staging.h"
#include "io/transfer.h"
#include "io/types.h"

static spmd_status check_output(const void *output)
{
    if (!output)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the result is NULL");
    return SPMD_OK;
}

static spmd_status enter(const spmd_file *file, const char *call, const char *name,
                         spmd_status status)
{
    if (status == SPMD_OK)
        status = spmd__name_check(name);
    return spmd__file_enter(file, call, status, spmd__file_digest(0, name));
}

static spmd_status info(const spmd_file *file, const char *name, struct description *about)
{
    hid_t dataset;
    TRY(spmd__dataset_open(file, name, &dataset));
    spmd_status status = spmd__dataset_describe(file, name, dataset, about);
    H5Dclose(dataset);
    return status;
}

spmd_status spmd_dataset_info(spmd_file *file, const char *name, spmd_dtype *dtype,
                              spmd_shape *shape)
{
    TRY(spmd__file_check(file));
    struct description about = {.dtype = SPMD_DTYPE_NONE};
    spmd_status status = check_output(dtype && shape ? dtype : NULL);
    if (spmd__mesh_is_member(file->mesh)) {
        TRY(enter(file, __func__, name, status));
        QUIETLY(status = info(file, name, &about));
        status = spmd__mesh_agree(file->mesh, status, 0);
    }
    TRY(status);
    *dtype = about.dtype;
    *shape = about.shape;
    return SPMD_OK;
}

static spmd_status find(const spmd_file *file, const char *name, bool *found)
{
    hid_t object;
    TRY(spmd__object_open(file, name, &object));
    *found = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    if (object >= 0)
        H5Oclose(object);
    return SPMD_OK;
}

spmd_status spmd_dataset_exists(spmd_file *file, const char *name, bool *exists)
{
    TRY(spmd__file_check(file));
    bool found = false;
    spmd_status status = check_output(exists);
    if (spmd__mesh_is_member(file->mesh)) {
        TRY(enter(file, __func__, name, status));
        QUIETLY(status = find(file, name, &found));
        status = spmd__mesh_agree(file->mesh, status, 0);
    }
    TRY(status);
    *exists = found;
    return SPMD_OK;
}

struct reading {
    spmd_file *file;
    const char *name;
    const spmd_sharding *sharding;
    spmd_dtype dtype; /* asked for; later the array's */
    spmd_sharding *lay;
    spmd_array *array; /* under `lay` */
};

static spmd_status plan_reading(struct reading *reading, const struct description *about)
{
    if (reading->dtype == SPMD_DTYPE_NONE)
        reading->dtype = about->dtype;
    if (!spmd__type_converts(about->dtype, reading->dtype))
        return spmd_fail(SPMD_ERR_DTYPE, "%s: dataset \"%s\" is %s; that is not converted to %s",
                         reading->file->path, reading->name, spmd_dtype_name(about->dtype),
                         spmd_dtype_name(reading->dtype));
    spmd_status status = spmd_sharding_check(reading->sharding, about->shape);
    if (status != SPMD_OK)
        return spmd__io_refine(status, "%s: dataset \"%s\"", reading->file->path, reading->name);
    TRY(spmd__staging_choose(reading->sharding, reading->dtype, about->shape, &reading->lay));
    return spmd__array_alloc(reading->lay, reading->dtype, about->shape, &reading->array);
}

static spmd_status load(struct reading *reading)
{
    hid_t dataset;
    struct description about;
    TRY(spmd__dataset_open(reading->file, reading->name, &dataset));
    spmd_status status = spmd__dataset_describe(reading->file, reading->name, dataset, &about);
    if (status == SPMD_OK)
        status = plan_reading(reading, &about);
    if (status == SPMD_OK)
        status = spmd__transfer(reading->file, reading->name, dataset, FROM_FILE,
                                &reading->array->block);
    H5Dclose(dataset);
    return status;
}

static spmd_status read_on_member(struct reading *reading, spmd_array **out)
{
    spmd_array *array = NULL;
    spmd_status status;
    QUIETLY(status = load(reading));
    status = spmd__array_settle(reading->sharding, status, 0, reading->array, &array);
    if (status == SPMD_OK) {
        status = spmd__reshard(array, reading->sharding, out);
        spmd_array_free(&array);
    }
    if (reading->lay)
        spmd_sharding_free(&reading->lay);
    return status;
}

static spmd_status check_reading(const spmd_file *file, spmd_dtype dtype, spmd_array **array)
{
    TRY(check_output(array));
    if (dtype != SPMD_DTYPE_NONE && spmd_dtype_size(dtype) == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)dtype);
    return spmd__file_check_old(file);
}

spmd_status spmd_dataset_read(spmd_file *file, const char *name, const char *spec, spmd_dtype dtype,
                              spmd_array **array)
{
    TRY(spmd__file_check(file));
    spmd_sharding *sharding = NULL;
    spmd_status status = check_reading(file, dtype, array);
    if (status == SPMD_OK)
        status = spmd_sharding_create(file->mesh, spec, &sharding);
    if (spmd__mesh_is_member(file->mesh)) {
        status = enter(file, __func__, name, status);
        struct reading reading = {.file = file, .name = name, .sharding = sharding, .dtype = dtype};
        if (status == SPMD_OK)
            status = read_on_member(&reading, array);
    } else if (status == SPMD_OK) {
        status = spmd__array_unknown(sharding, dtype, sharding->spec.ndim, array);
    }
    spmd_sharding_free(&sharding);
    return status;
}

static hid_t create_space(spmd_shape shape)
{
    hsize_t extent[SPMD_MAX_DIMS];
    for (int d = 0; d < shape.ndim; d++)
        extent[d] = (hsize_t)shape.dim[d];
    return shape.ndim == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.ndim, extent, NULL);
}

/* Contiguous, with its place in the file taken at once and not filled: every byte is written. */
static spmd_status create_dataset(const spmd_file *file, const char *name, const spmd_array *array,
                                  hid_t *dataset)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    hid_t type = spmd__type_create(array->dtype), space = create_space(array->shape);
    hid_t made = H5Dcreate2(file->id, name, type, space, links, creation, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (made < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be created: %s", file->path,
                           name, spmd__io_cause().text);
    else
        *dataset = made;
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(creation);
    H5Pclose(links);
    return status;
}

/* The dataset with everything but its elements. */
static spmd_status prepare_dataset(spmd_file *file, const char *name, const spmd_array *array,
                                   hid_t *dataset)
{
    enum { TYPE_TEXT_BYTES = 1024 };
    char type[TYPE_TEXT_BYTES];
    spmd_array_format(type, sizeof type, array);
    TRY(create_dataset(file, name, array, dataset));
    TRY(spmd__attribute_write(file, name, *dataset, "spmd_sharding", type));
    return spmd__aside_reserve(file, *dataset);
}

/* Each part is written by the first rank that holds it. */
static spmd_status write_elements(spmd_file *file, const char *name, const spmd_array *lay,
                                  hid_t dataset)
{
    if (lay->block.replica > 0)
        return SPMD_OK;
    return spmd__transfer(file, name, dataset, TO_FILE, &lay->block);
}

/* `array` as it is, `lay` the same array as it moves. */
static spmd_status store(spmd_file *file, const char *name, const spmd_array *array,
                         const spmd_array *lay)
{
    hid_t dataset = H5I_INVALID_HID;
    TRY(spmd__mesh_agree(file->mesh, spmd__dataset_check_free(file, name), 0));
    spmd_status status = prepare_dataset(file, name, array, &dataset);
    status = spmd__mesh_agree(file->mesh, status, 0);
    if (status == SPMD_OK)
        status = spmd__mesh_agree(file->mesh, write_elements(file, name, lay, dataset), 0);
    if (dataset >= 0)
        H5Dclose(dataset);
    file->broken = file->broken || status != SPMD_OK;
    return status;
}

static spmd_status check_writing(const spmd_file *file, const spmd_array *array)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the array is NULL");
    if (!spmd_mesh_equal(array->sharding->mesh, file->mesh))
        return spmd_fail(SPMD_ERR_MESH, "%s: the array lies on another mesh than the file",
                         file->path);
    return spmd__file_check_new(file);
}

/* On members; of an array whose blocks are its values. */
static spmd_status write_values(spmd_file *file, const char *name, spmd_array *array)
{
    spmd_sharding *sharding = NULL;
    spmd_array *lay = NULL;
    spmd_status status =
        spmd__staging_choose(array->sharding, array->dtype, array->shape, &sharding);
    status = spmd__mesh_agree(file->mesh, status,
                              spmd__array_digest(array->sharding, array->dtype, array->shape));
    if (status == SPMD_OK)
        status = spmd__reshard(array, sharding, &lay);
    if (status == SPMD_OK)
        QUIETLY(status = store(file, name, array, lay));
    spmd_array_free(&lay);
    spmd_sharding_free(&sharding);
    return status;
}

spmd_status spmd_dataset_write(spmd_file *file, const char *name, spmd_array *array)
{
    TRY(spmd__file_check(file));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    TRY(enter(file, __func__, name, check_writing(file, array)));
    spmd_array *values = NULL;
    TRY(spmd__array_values(array, &values));
    spmd_status status = write_values(file, name, values);
    spmd_array_free(&values);
    return status;
}

spmd_status spmd_read(spmd_mesh *mesh, const char *path, const char *name, const char *spec,
                      spmd_dtype dtype, spmd_array **array)
{
    spmd_file *file = NULL;
    spmd_array *made = NULL;
    TRY(spmd_file_open(mesh, path, &file));
    spmd_status status = spmd_dataset_read(file, name, spec, dtype, array ? &made : NULL);
    if (status != SPMD_OK) {
        spmd_file_discard(&file);
        return status;
    }
    status = spmd_file_close(&file);
    if (status == SPMD_OK)
        *array = made;
    else
        spmd_array_free(&made);
    return status;
}

spmd_status spmd_write(spmd_array *array, const char *path, const char *name)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the array is NULL");
    spmd_file *file = NULL;
    TRY(spmd_file_create(array->sharding->mesh, path, &file));
    spmd_status status = spmd_dataset_write(file, name, array);
    if (status == SPMD_OK)
        return spmd_file_close(&file);
    spmd_file_discard(&file);
    return status;
}
