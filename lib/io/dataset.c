/* io/dataset.c - what datasets there are, and of what type and shape. */
#include "io/dataset.h"

#include "core/hash.h"
#include "io/cause.h"
#include "io/description.h"
#include "io/object.h"

spmd_status spmd__output_check(const void *output)
{
    if (!output)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the result is NULL");
    return SPMD_OK;
}

spmd_status spmd__dataset_enter(const spmd_file *file, const char *call, const char *name,
                                spmd_status status, uint64_t digest)
{
    if (status != SPMD_OK && name)
        status = spmd__io_refine(status, "dataset \"%s\"", name);
    else if (status == SPMD_OK)
        status = spmd__name_check(name);
    return spmd__file_enter(file, call, status, spmd__hash_text(digest, name));
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
    TRY(spmd__file_check(file, __func__, name));
    struct description about = {.dtype = SPMD_DTYPE_NONE};
    spmd_status status = spmd__output_check(dtype && shape ? dtype : NULL);
    if (spmd__mesh_is_member(file->mesh)) {
        TRY(spmd__dataset_enter(file, __func__, name, status, 0));
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
    TRY(spmd__file_check(file, __func__, name));
    bool found = false;
    spmd_status status = spmd__output_check(exists);
    if (spmd__mesh_is_member(file->mesh)) {
        TRY(spmd__dataset_enter(file, __func__, name, status, 0));
        QUIETLY(status = find(file, name, &found));
        status = spmd__mesh_agree(file->mesh, status, 0);
    }
    TRY(status);
    *exists = found;
    return SPMD_OK;
}
