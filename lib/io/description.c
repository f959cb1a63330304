/* io/description.c - what a dataset's elements are, and how many. */
#include "io/description.h"

#include "io/damage.h"
#include "io/types.h"

static spmd_status describe_type(const spmd_file *file, const char *name, hid_t dataset,
                                 spmd_dtype *dtype)
{
    hid_t type = H5Dget_type(dataset);
    *dtype = spmd__type_dtype(type);
    const char *noun = spmd__type_noun(type);
    H5Tclose(type);
    if (*dtype == SPMD_DTYPE_NONE)
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: dataset \"%s\" holds %s; numbers, bools and complex pairs of r and "
                         "i can be read",
                         file->path, name, noun);
    return SPMD_OK;
}

static spmd_shape shape_of(hid_t space)
{
    hsize_t extent[SPMD_MAX_DIMS];
    spmd_shape shape = {.ndim = H5Sget_simple_extent_dims(space, extent, NULL)};
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = (int64_t)extent[d];
    return shape;
}

spmd_shape spmd__dataset_shape(hid_t dataset)
{
    hid_t space = H5Dget_space(dataset);
    spmd_shape shape = shape_of(space);
    H5Sclose(space);
    return shape;
}

static spmd_status describe_shape(const spmd_file *file, const char *name, hid_t space,
                                  spmd_shape *shape)
{
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" has no shape (a null dataspace)",
                         file->path, name);
    int ndim = H5Sget_simple_extent_ndims(space);
    if (ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" has %d dimensions, more than %d",
                         file->path, name, ndim, SPMD_MAX_DIMS);
    *shape = shape_of(space);
    return SPMD_OK;
}

spmd_status spmd__dataset_describe(const spmd_file *file, const char *name, hid_t dataset,
                                   struct description *about)
{
    TRY(describe_type(file, name, dataset, &about->dtype));
    hid_t space = H5Dget_space(dataset);
    spmd_status status = describe_shape(file, name, space, &about->shape);
    H5Sclose(space);
    TRY(status);
    return file->aside ? SPMD_OK : spmd__damage_check(file, name, dataset);
}
