/* io/text.c - datasets that are one text. */
#include "io/text.h"

#include <stdlib.h>

#include "core/hash.h"
#include "io/cause.h"
#include "io/object.h"
#include "io/damage.h"
#include "io/room.h"
#include "io/string.h"

static spmd_status fail(const spmd_file *file, const char *name, const char *what)
{
    return spmd_fail(SPMD_ERR_FILE, "%s: text \"%s\" cannot be %s: %s", file->path, name, what,
                     spmd__io_cause().text);
}

/* With its place in the file. */
static spmd_status create_text(spmd_file *file, const char *name, hid_t type, hid_t *dataset)
{
    hid_t link = spmd__object_link(name), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate(H5S_SCALAR);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    *dataset = H5Dcreate2(file->id, name, type, space, link, creation, H5P_DEFAULT);
    spmd_status status = *dataset < 0 ? fail(file, name, "created") : SPMD_OK;
    H5Sclose(space);
    H5Pclose(creation);
    H5Pclose(link);
    return status == SPMD_OK ? spmd__room_reserve(file, 0) : status;
}

/* Position 0 has it as well as any. */
static spmd_status write_text(const spmd_file *file, const char *name, hid_t dataset, hid_t type,
                              const char *text)
{
    if (file->mesh->position != 0)
        return SPMD_OK;
    if (H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
        return fail(file, name, "written");
    return SPMD_OK;
}

static spmd_status store(spmd_file *file, const char *name, const char *text)
{
    hid_t dataset = H5I_INVALID_HID, type = spmd__string_type(text);
    spmd_status status = create_text(file, name, type, &dataset);
    status = spmd__mesh_agree(file->mesh, status, 0);
    if (status == SPMD_OK)
        status = spmd__mesh_agree(file->mesh, write_text(file, name, dataset, type, text), 0);
    if (dataset >= 0)
        H5Dclose(dataset);
    H5Tclose(type);
    return status;
}

spmd_status spmd__text_write(spmd_file *file, const char *name, const char *text)
{
    spmd_status status;
    QUIETLY(status = store(file, name, text));
    return status;
}

static spmd_status read_text(const spmd_file *file, const char *name, hid_t dataset, char **text)
{
    spmd_status status = spmd__string_read(dataset, text);
    if (status != SPMD_OK)
        return spmd__io_refine(status, "%s: text \"%s\" cannot be read", file->path, name);
    return SPMD_OK;
}

static spmd_status load(const spmd_file *file, const char *name, char **text)
{
    hid_t dataset;
    TRY(spmd__dataset_open(file, name, &dataset));
    spmd_status status = spmd__damage_check(file, name, dataset);
    if (status == SPMD_OK)
        status = read_text(file, name, dataset, text);
    status = spmd__damage_confirm(file, name, status);
    H5Dclose(dataset);
    return status;
}

spmd_status spmd__text_read(const spmd_file *file, const char *name, char **text)
{
    char *found = NULL;
    spmd_status status;
    QUIETLY(status = load(file, name, &found));
    status = spmd__mesh_agree(file->mesh, status, spmd__hash_text(0, found));
    if (status == SPMD_OK)
        *text = found;
    else
        free(found);
    return status;
}
