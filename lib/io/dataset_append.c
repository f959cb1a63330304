/* io/dataset_append.c - arrays behind the rows of a dataset. */
#include "io/cause.h"
#include "io/chunks.h"
#include "io/hyperslab.h"
#include "io/room.h"
#include "io/writing.h"

static spmd_status fail_to_grow(const struct writing *writing, const char *why)
{
    return spmd_fail(
        SPMD_ERR_SHAPE,
        "%s: dataset \"%s\" cannot grow: %s; make it with spmd_dataset_options.unlimited",
        writing->file->path, writing->name, why);
}

/* Whether the dataset may have as many rows as `shape`. */
static spmd_status check_limit(const struct writing *writing, spmd_shape shape)
{
    hsize_t extent[SPMD_MAX_DIMS], most[SPMD_MAX_DIMS];
    hid_t space = H5Dget_space(writing->dataset);
    H5Sget_simple_extent_dims(space, extent, most);
    H5Sclose(space);
    if (most[0] != H5S_UNLIMITED && most[0] < (hsize_t)shape.dim[0])
        return fail_to_grow(writing, "dimension 0 has a last index");
    return SPMD_OK;
}

/* Room for the chunks that come along; filtered ones take theirs as they are written. */
static spmd_status reserve(const struct writing *writing, size_t element, spmd_shape old,
                           spmd_shape grown)
{
    int64_t chunk[SPMD_MAX_DIMS];
    spmd__chunks_of(writing->dataset, chunk);
    int64_t count = spmd__chunks_count(chunk, grown) - spmd__chunks_count(chunk, old);
    return spmd__room_reserve(writing->file, spmd__chunks_bytes(chunk, old.ndim, element, count));
}

static spmd_status extend(struct writing *writing, spmd_shape grown)
{
    hsize_t extent[SPMD_MAX_DIMS];
    for (int d = 0; d < grown.ndim; d++)
        extent[d] = (hsize_t)grown.dim[d];
    if (H5Dset_extent(writing->dataset, extent) < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" cannot grow: %s", writing->file->path,
                         writing->name, spmd__io_cause().text);
    return SPMD_OK;
}

/* What the dataset will be, and where in it the array goes. */
static spmd_status plan(struct writing *writing, struct description *about, spmd_shape *grown)
{
    int64_t chunk[SPMD_MAX_DIMS];
    spmd_shape shape = writing->array->shape;
    TRY(spmd__writing_open(writing, about));
    if (about->shape.ndim == 0)
        return fail_to_grow(writing, "it is a scalar");
    TRY(spmd__writing_check_shape(writing, 1, "dataset", about->shape));
    *grown = about->shape;
    if (shape.dim[0] > INT64_MAX - grown->dim[0])
        return fail_to_grow(writing, "it would have more than 2^63 - 1 rows");
    grown->dim[0] += shape.dim[0];
    if (!spmd__chunks_of(writing->dataset, chunk))
        return fail_to_grow(writing, "it is contiguous");
    TRY(check_limit(writing, *grown));
    TRY(spmd__writing_check_packed(writing, *grown));
    int64_t start[SPMD_MAX_DIMS] = {about->shape.dim[0]};
    writing->slab = spmd_hyperslab_make(shape.ndim, start, shape.dim, NULL);
    return SPMD_OK;
}

static spmd_status grow(struct writing *writing)
{
    spmd_mesh *mesh = writing->file->mesh;
    struct description about;
    spmd_shape grown;
    TRY(spmd__mesh_agree(mesh, plan(writing, &about, &grown), 0));
    spmd_status status = reserve(writing, spmd_dtype_size(about.dtype), about.shape, grown);
    TRY(spmd__mesh_agree(mesh, status, 0));
    writing->begun = true;
    TRY(extend(writing, grown));
    TRY(spmd__writing_label(writing, about.dtype, grown));
    return spmd__room_reserve(writing->file, 0);
}

spmd_status spmd_dataset_append(spmd_file *file, const char *name, spmd_array *array)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    struct writing writing = {.file = file, .name = name, .array = array};
    return spmd__writing_run(&writing, __func__, SPMD_OK, 0, grow);
}
