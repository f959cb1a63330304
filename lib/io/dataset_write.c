/* io/dataset_write.c - arrays into datasets: new ones, and parts of those that are there. */
#include "io/cause.h"
#include "io/dataset_create.h"
#include "io/hyperslab.h"
#include "io/room.h"
#include "io/writing.h"

static spmd_status make(struct writing *writing)
{
    const spmd_array *array = writing->array;
    spmd_box part = spmd__sharding_box_of(array->sharding, array->shape, 0);
    struct creation creation = {.file = writing->file,
                                .name = writing->name,
                                .dtype = array->dtype,
                                .shape = array->shape,
                                .part = spmd_box_shape(&part),
                                .options = writing->options,
                                .overwritten = true};
    TRY(spmd__dataset_make(&creation, &writing->begun, &writing->dataset));
    TRY(spmd__hyperslab_resolve(NULL, array->shape, &writing->slab));
    return spmd__writing_label(writing, array->dtype, array->shape);
}

spmd_status spmd_dataset_write_as(spmd_file *file, const char *name, spmd_array *array,
                                  const spmd_dataset_options *options)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    options = spmd__options_or_none(options);
    struct writing writing = {.file = file, .name = name, .array = array, .options = options};
    uint64_t digest = 0;
    spmd_status status = SPMD_OK;
    if (array) {
        status = spmd__options_check(options, array->dtype, array->shape);
        digest = spmd__options_digest(options, array->dtype, array->shape);
    }
    return spmd__writing_run(&writing, __func__, status, digest, make);
}

spmd_status spmd_dataset_write(spmd_file *file, const char *name, spmd_array *array)
{
    return spmd_dataset_write_as(file, name, array, NULL);
}

static spmd_status find_part(struct writing *writing)
{
    struct description about;
    TRY(spmd__writing_open(writing, &about));
    spmd_status status = spmd__hyperslab_resolve(writing->asked, about.shape, &writing->slab);
    if (status != SPMD_OK)
        return spmd__io_refine(status, "%s: dataset \"%s\"", writing->file->path, writing->name);
    spmd_shape part = spmd__hyperslab_shape(&writing->slab);
    TRY(spmd__writing_check_shape(writing, 0, "hyperslab", part));
    TRY(spmd__writing_check_packed(writing, about.shape));
    if (spmd_shape_equal(part, about.shape)) {
        writing->begun = true;
        TRY(spmd__writing_label(writing, about.dtype, about.shape));
    }
    return spmd__room_reserve(writing->file, 0);
}

spmd_status spmd_dataset_write_hyperslab(spmd_file *file, const char *name,
                                         const spmd_hyperslab *slab, spmd_array *array)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    struct writing writing = {.file = file, .name = name, .array = array, .asked = slab};
    return spmd__writing_run(&writing, __func__, SPMD_OK, spmd__hyperslab_digest(slab), find_part);
}

spmd_status spmd_write(spmd_array *array, const char *path, const char *name)
{
    if (!array)
        return spmd__io_refuse(__func__, path, "the array is NULL");
    spmd_file *file = NULL;
    TRY(spmd_file_create(array->sharding->mesh, path, &file));
    return spmd__file_end(&file, spmd_dataset_write(file, name, array));
}
