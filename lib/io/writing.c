/* io/writing.c - an array on its way into a dataset. */
#include "io/writing.h"

#include "array/reshard.h"
#include "io/attribute.h"
#include "io/cause.h"
#include "io/checksum.h"
#include "io/chunks.h"
#include "io/dataset.h"
#include "io/direct.h"
#include "io/filters.h"
#include "io/object.h"
#include "io/rounds.h"
#include "io/staging.h"
#include "io/transfer.h"
#include "io/types.h"

static spmd_status check_array(const struct writing *writing)
{
    if (!writing->array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the array is NULL");
    if (!spmd_mesh_equal(writing->array->sharding->mesh, writing->file->mesh))
        return spmd_fail(SPMD_ERR_MESH, "the array lies on another mesh than the file");
    return spmd__file_check_new(writing->file);
}

static spmd_status check_layout(const struct writing *writing, hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    H5D_layout_t layout = H5Pget_layout(creation);
    bool elsewhere = layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) > 0;
    H5Pclose(creation);
    if ((layout == H5D_CONTIGUOUS && !elsewhere) || layout == H5D_CHUNKED)
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" lies %s, where ranks cannot write together; write a new "
                     "dataset",
                     writing->file->path, writing->name,
                     layout == H5D_COMPACT ? "in its header" : "in other files");
}

/* No integer is made a bool. */
static spmd_status check_type(const struct writing *writing, spmd_dtype stored)
{
    spmd_dtype dtype = writing->array->dtype;
    bool to_bool = stored == SPMD_BOOL && dtype != SPMD_BOOL;
    if (!to_bool && spmd__type_converts(dtype, stored))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_DTYPE, "%s: dataset \"%s\" is %s; %s is not converted to that",
                     writing->file->path, writing->name, spmd_dtype_name(stored),
                     spmd_dtype_name(dtype));
}

spmd_status spmd__writing_open(struct writing *writing, struct description *about)
{
    TRY(spmd__dataset_open(writing->file, writing->name, &writing->dataset));
    TRY(spmd__dataset_describe(writing->file, writing->name, writing->dataset, about));
    TRY(check_type(writing, about->dtype));
    TRY(check_layout(writing, writing->dataset));
    return spmd__filters_check(writing->file, writing->name, writing->dataset);
}

spmd_status spmd__writing_check_shape(const struct writing *writing, int first, const char *place,
                                      spmd_shape shape)
{
    spmd_shape own = writing->array->shape;
    if (first == 1 && own.ndim == shape.ndim - 1)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset \"%s\": the array has %d dimensions, the %s %d; dimension 0 "
                         "is of rows, and has extent 1 in an array of one",
                         writing->file->path, writing->name, own.ndim, place, shape.ndim);
    if (own.ndim != shape.ndim)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%s: dataset \"%s\": the array has %d dimensions, the %s %d",
                         writing->file->path, writing->name, own.ndim, place, shape.ndim);
    for (int d = first; d < own.ndim; d++)
        if (own.dim[d] != shape.dim[d])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "%s: dataset \"%s\": along dimension %d the array has %lld indices, "
                             "the %s %lld",
                             writing->file->path, writing->name, d, (long long)own.dim[d], place,
                             (long long)shape.dim[d]);
    return SPMD_OK;
}

spmd_status spmd__writing_check_packed(const struct writing *writing, spmd_shape shape)
{
    int64_t chunk[SPMD_MAX_DIMS];
    hid_t creation = H5Dget_create_plist(writing->dataset);
    H5D_alloc_time_t when = H5D_ALLOC_TIME_ERROR;
    H5Pget_alloc_time(creation, &when);
    H5Pclose(creation);
    if (when == H5D_ALLOC_TIME_EARLY || spmd__filters_count(writing->dataset) == 0 ||
        !spmd__chunks_of(writing->dataset, chunk) ||
        spmd__chunks_are_there(writing->dataset, chunk, shape))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE,
                     "%s: dataset \"%s\" is packed, and some of its chunks get their place only as "
                     "they are written, which ranks cannot do together; let spmd convert write the "
                     "file anew, or leave out the filters",
                     writing->file->path, writing->name);
}

spmd_status spmd__writing_label(const struct writing *writing, spmd_dtype dtype, spmd_shape shape)
{
    enum { TYPE_TEXT_BYTES = 1024 };
    char type[TYPE_TEXT_BYTES];
    spmd_sharding_format_type(type, sizeof type, writing->array->sharding, dtype, shape);
    return spmd__attribute_write(writing->file, writing->name, writing->dataset, SHARDING_ATTRIBUTE,
                                 type);
}

/* `lay` is the array as it moves. Each part is written by the first rank that holds it. */
static spmd_status move(const struct writing *writing, const spmd_array *lay)
{
    int64_t chunk[SPMD_MAX_DIMS];
    if (spmd_shape_size(lay->shape) == 0)
        return SPMD_OK;
    spmd_status status = SPMD_OK;
    if (spmd__chunks_of(writing->dataset, chunk)) {
        status = spmd__direct_check_chunks(writing->file, writing->name);
        TRY(spmd__mesh_agree(writing->file->mesh, status, 0));
        return spmd__rounds_write(writing->file, writing->name, writing->dataset, &writing->slab,
                                  &lay->block);
    }
    if (lay->block.replica == 0)
        status = spmd__transfer(writing->file, writing->name, writing->dataset, TO_FILE,
                                &writing->slab, &lay->block);
    return spmd__mesh_agree(writing->file->mesh, status, 0);
}

/* The datasets of a checkpoint have checksums. Another one that had a checksum has other elements
 * from here on. */
static spmd_status note_checksum(const struct writing *writing, const spmd_array *lay)
{
    const spmd_file *file = writing->file;
    uint64_t checksum = 0;
    if (file->seal == 0)
        return spmd__checksum_drop(file, writing->name, writing->dataset);
    TRY(spmd__checksum_sum(file->mesh, &lay->block, &checksum));
    return spmd__checksum_set(file, writing->name, writing->dataset, checksum);
}

static spmd_status stage_and_move(struct writing *writing)
{
    const spmd_array *array = writing->array;
    spmd_sharding *sharding = NULL;
    spmd_array *lay = NULL;
    spmd_status status = spmd__staging_choose(writing->dataset, TO_FILE, array->sharding,
                                              array->dtype, array->shape, &sharding);
    status = spmd__mesh_agree(writing->file->mesh, status, 0);
    if (status == SPMD_OK)
        status = spmd__reshard(writing->array, sharding, &lay);
    writing->begun = true;
    if (status == SPMD_OK) {
        QUIETLY(status = note_checksum(writing, lay));
        status = spmd__mesh_agree(writing->file->mesh, status, 0);
    }
    if (status == SPMD_OK)
        QUIETLY(status = move(writing, lay));
    spmd_array_free(&lay);
    spmd_sharding_free(&sharding);
    return status;
}

/* On members; of an array whose blocks are its values. */
static spmd_status store(struct writing *writing, prepare_writing *prepare)
{
    spmd_status status;
    QUIETLY(status = prepare(writing));
    status = spmd__mesh_agree(writing->file->mesh, status, 0);
    if (status == SPMD_OK)
        status = stage_and_move(writing);
    if (writing->dataset >= 0)
        QUIETLY(H5Dclose(writing->dataset));
    writing->file->broken |= writing->begun && status != SPMD_OK;
    return status;
}

static uint64_t array_digest(const spmd_array *array)
{
    return array ? spmd__array_digest(array->sharding, array->dtype, array->shape) : 0;
}

spmd_status spmd__writing_run(struct writing *writing, const char *call, spmd_status status,
                              uint64_t digest, prepare_writing *prepare)
{
    spmd_array *array = writing->array, *values = NULL;
    if (status == SPMD_OK)
        status = check_array(writing);
    TRY(spmd__dataset_enter(writing->file, call, writing->name, status,
                            digest ^ array_digest(array)));
    TRY(spmd__array_values(array, &values));
    writing->array = values;
    writing->dataset = H5I_INVALID_HID;
    status = store(writing, prepare);
    spmd_array_free(&values);
    return status;
}
