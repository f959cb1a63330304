/* io/dataset_create.c - new datasets. */
#include "io/dataset_create.h"

#include "core/hash.h"
#include "io/cause.h"
#include "io/chunks.h"
#include "io/dataset.h"
#include "io/filters.h"
#include "io/object.h"
#include "io/room.h"
#include "io/types.h"

const spmd_dataset_options *spmd__options_or_none(const spmd_dataset_options *options)
{
    static const spmd_dataset_options none;
    return options ? options : &none;
}

spmd_status spmd__options_check(const spmd_dataset_options *options, spmd_dtype dtype,
                                spmd_shape shape)
{
    if (spmd_dtype_size(dtype) == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)dtype);
    if (spmd_shape_size(shape) < 0)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "there is no such shape: an extent is negative, or all are "
                         "too many elements");
    TRY(spmd__chunks_check(options, dtype, shape));
    return options->deflate > 0 ? spmd__filter_check_deflate() : SPMD_OK;
}

uint64_t spmd__options_digest(const spmd_dataset_options *options, spmd_dtype dtype,
                              spmd_shape shape)
{
    const int flags[] = {options->unlimited, options->deflate, options->shuffle,
                         options->fletcher32, (int)dtype};
    uint64_t digest = spmd__hash(0, flags, sizeof flags);
    if (shape.ndim > 0 && shape.ndim <= SPMD_MAX_DIMS) {
        size_t bytes = (size_t)shape.ndim * sizeof *shape.dim;
        digest = spmd__hash(digest, shape.dim, bytes);
        digest = spmd__hash(digest, options->chunk, bytes);
        digest = spmd__hash(digest, options->most, bytes);
    }
    return options->fill ? spmd__hash(digest, options->fill, spmd_dtype_size(dtype)) : digest;
}

/* HDF5 wants an extent of at least 1 to come where there are chunks. */
static hid_t create_space(const struct creation *creation, bool chunked)
{
    hsize_t extent[SPMD_MAX_DIMS], most[SPMD_MAX_DIMS];
    spmd_shape shape = creation->shape;
    if (shape.ndim == 0)
        return H5Screate(H5S_SCALAR);
    for (int d = 0; d < shape.ndim; d++) {
        int64_t limit = spmd__chunks_most(creation->options, shape, d);
        extent[d] = (hsize_t)shape.dim[d];
        most[d] = limit == SPMD_UNLIMITED ? H5S_UNLIMITED
                  : limit == 0 && chunked ? 1
                                          : (hsize_t)limit;
    }
    return H5Screate_simple(shape.ndim, extent, most);
}

/* Whether HDF5 has to fill what it allocates. Not where all of it is written anyway: that would be
 * written twice. What a dataset without rows grows by is written, too. */
static bool has_to_fill(const struct creation *creation)
{
    return creation->options->fill ||
           (!creation->overwritten && spmd_shape_size(creation->shape) > 0);
}

static void set_chunks(const struct creation *creation, const int64_t chunk[], hid_t properties)
{
    hsize_t extent[SPMD_MAX_DIMS];
    for (int d = 0; d < creation->shape.ndim; d++)
        extent[d] = (hsize_t)chunk[d];
    H5Pset_chunk(properties, creation->shape.ndim, extent);
    if (creation->options->shuffle)
        H5Pset_shuffle(properties);
    if (creation->options->deflate > 0)
        H5Pset_deflate(properties, (unsigned)creation->options->deflate);
    if (creation->options->fletcher32)
        H5Pset_fletcher32(properties);
}

/* Its place in the file is taken at once. `chunk` NULL: contiguous. */
static hid_t create_properties(const struct creation *creation, const int64_t chunk[], hid_t type)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk)
        set_chunks(creation, chunk, properties);
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties, has_to_fill(creation) ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER);
    if (creation->options->fill)
        H5Pset_fill_value(properties, type, creation->options->fill);
    return properties;
}

static spmd_status create(const struct creation *creation, const int64_t chunk[], hid_t *dataset)
{
    hid_t link = spmd__object_link(creation->name);
    hid_t type = spmd__type_create(creation->dtype), space = create_space(creation, chunk != NULL);
    hid_t properties = create_properties(creation, chunk, type);
    hid_t made =
        H5Dcreate2(creation->file->id, creation->name, type, space, link, properties, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (made < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot be created: %s",
                           creation->file->path, creation->name, spmd__io_cause().text);
    else
        *dataset = made;
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(link);
    return status;
}

/* What its elements take before any is written: HDF5 fills filtered chunks with equal elements,
 * which deflate makes very small. */
static int64_t room_to_begin(const struct creation *creation, const int64_t chunk[])
{
    enum { PACKED_AT_LEAST = 100 };
    size_t element = spmd_dtype_size(creation->dtype);
    if (!chunk)
        return spmd__chunks_bytes(NULL, 0, element, spmd_shape_size(creation->shape));
    int64_t count = spmd__chunks_count(chunk, creation->shape);
    int64_t bytes = spmd__chunks_bytes(chunk, creation->shape.ndim, element, count);
    return creation->options->deflate > 0 ? bytes / PACKED_AT_LEAST : bytes;
}

spmd_status spmd__dataset_make(const struct creation *creation, bool *begun, hid_t *dataset)
{
    spmd_file *file = creation->file;
    bool chunked = spmd__chunks_wanted(creation->options, creation->shape);
    int64_t extents[SPMD_MAX_DIMS], *chunk = chunked ? extents : NULL;
    if (chunked)
        spmd__chunks_choose(creation->options, creation->dtype, creation->part, extents);
    TRY(spmd__mesh_agree(file->mesh, spmd__dataset_check_free(file, creation->name), 0));
    *begun = true;
    spmd_status status = spmd__room_reserve(file, room_to_begin(creation, chunk));
    TRY(spmd__mesh_agree(file->mesh, status, 0));
    TRY(create(creation, chunk, dataset));
    return spmd__room_reserve(file, 0);
}

static spmd_status make_and_close(const struct creation *creation)
{
    hid_t dataset = H5I_INVALID_HID;
    bool begun = false;
    spmd_status status = spmd__dataset_make(creation, &begun, &dataset);
    status = spmd__mesh_agree(creation->file->mesh, status, 0);
    if (dataset >= 0)
        H5Dclose(dataset);
    creation->file->broken |= begun && status != SPMD_OK;
    return status;
}

/* What a rank would hold of it as rows over all ranks. */
static spmd_shape rows_of(const spmd_mesh *mesh, spmd_shape shape)
{
    int64_t size = spmd_mesh_size(mesh);
    if (shape.ndim > 0)
        shape.dim[0] = shape.dim[0] / size + (shape.dim[0] % size != 0);
    return shape;
}

spmd_status spmd_dataset_create(spmd_file *file, const char *name, spmd_dtype dtype,
                                spmd_shape shape, const spmd_dataset_options *options)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    options = spmd__options_or_none(options);
    spmd_status status = spmd__options_check(options, dtype, shape);
    if (status == SPMD_OK)
        status = spmd__file_check_new(file);
    TRY(spmd__dataset_enter(file, __func__, name, status,
                            spmd__options_digest(options, dtype, shape)));
    struct creation creation = {.file = file,
                                .name = name,
                                .dtype = dtype,
                                .shape = shape,
                                .part = rows_of(file->mesh, shape),
                                .options = options};
    QUIETLY(status = make_and_close(&creation));
    return status;
}
