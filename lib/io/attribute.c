/* io/attribute.c - text attributes of datasets, groups and files. */
#include "io/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "io/cause.h"
#include "io/missing.h"
#include "io/object.h"
#include "io/string.h"

spmd_status spmd__attribute_write(const spmd_file *file, const char *name, hid_t object,
                                  const char *attribute, const char *text)
{
    if (H5Aexists(object, attribute) > 0)
        H5Adelete(object, attribute);
    hid_t type = spmd__string_type(text), space = H5Screate(H5S_SCALAR);
    hid_t made = H5Acreate2(object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (made < 0 || H5Awrite(made, type, text) < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: attribute \"%s\" of \"%s\" cannot be written: %s",
                           file->path, attribute, name, spmd__io_cause().text);
    if (made >= 0)
        H5Aclose(made);
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

/* The object that has the attribute: it must be there. */
static spmd_status open_owner(const spmd_file *file, const char *name, hid_t *object)
{
    TRY(spmd__object_open(file, name, object));
    if (*object < 0)
        return spmd__missing_object(file, name);
    return SPMD_OK;
}

static spmd_status check_names(const char *name, const char *attribute)
{
    if (!attribute || *attribute == '\0')
        return spmd_fail(SPMD_ERR_ARGUMENT, "the name of the attribute is %s",
                         attribute ? "empty" : "NULL");
    return name && strcmp(name, "/") == 0 ? SPMD_OK : spmd__name_check(name);
}

static uint64_t digest(const char *name, const char *attribute, const char *text)
{
    return spmd__hash_text(spmd__hash_text(spmd__hash_text(0, name), attribute), text);
}

static spmd_status set_text(const spmd_file *file, const char *name, const char *attribute,
                            const char *text)
{
    hid_t object;
    TRY(open_owner(file, name, &object));
    spmd_status status = spmd__attribute_write(file, name, object, attribute, text);
    H5Oclose(object);
    return status;
}

spmd_status spmd_dataset_set_text(spmd_file *file, const char *name, const char *attribute,
                                  const char *text)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    spmd_status status = check_names(name, attribute);
    if (status == SPMD_OK && !text)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "the text of attribute \"%s\" is NULL", attribute);
    if (status == SPMD_OK)
        status = spmd__file_check_new(file);
    TRY(spmd__file_enter(file, __func__, status, digest(name, attribute, text)));
    QUIETLY(status = set_text(file, name, attribute, text));
    return spmd__mesh_agree(file->mesh, status, 0);
}

static spmd_status get_text(const spmd_file *file, const char *name, const char *attribute,
                            char **text)
{
    hid_t object;
    TRY(open_owner(file, name, &object));
    spmd_status status = SPMD_OK;
    if (H5Aexists(object, attribute) > 0) {
        hid_t opened = H5Aopen(object, attribute, H5P_DEFAULT);
        status = spmd__string_read(opened, text);
        H5Aclose(opened);
        if (status != SPMD_OK)
            status = spmd__io_refine(status, "%s: attribute \"%s\" of \"%s\"", file->path,
                                     attribute, name);
    }
    H5Oclose(object);
    return status;
}

spmd_status spmd_dataset_get_text(spmd_file *file, const char *name, const char *attribute,
                                  char **text)
{
    TRY(spmd__file_check(file, __func__, name));
    char *found = NULL;
    spmd_status status = check_names(name, attribute);
    if (status == SPMD_OK && !text)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the text is NULL");
    if (spmd__mesh_is_member(file->mesh)) {
        TRY(spmd__file_enter(file, __func__, status, digest(name, attribute, "")));
        QUIETLY(status = get_text(file, name, attribute, &found));
        status = spmd__mesh_agree(file->mesh, status, 0);
    }
    if (status == SPMD_OK)
        *text = found;
    else
        free(found);
    return status;
}
