/* io/object.c - what lies at a name in a file. */
#include "io/object.h"

#include <stdlib.h>
#include <string.h>

#include "io/cause.h"
#include "io/missing.h"

spmd_status spmd__name_check(const char *name)
{
    if (!name)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the name of the dataset is NULL");
    const char *part = *name == '/' ? name + 1 : name;
    for (;;) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && *part == '.'))
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "\"%s\" is no name of a dataset; write \"x\" or \"group/x\"", name);
        if (part[length] == '\0')
            return SPMD_OK;
        part += length + 1;
    }
}

/* Calls `visit` with each leading part of `name`, up to the whole; stops at its first `false`. */
typedef bool part_visitor(hid_t file, const char *part, bool whole);

static spmd_status walk(const spmd_file *file, const char *name, part_visitor *visit, bool *all)
{
    char *part = strdup(name);
    if (!part)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", file->path);
    bool going = true;
    for (size_t at = 1; going && name[at - 1] != '\0'; at++) {
        if (name[at] != '/' && name[at] != '\0')
            continue;
        part[at] = '\0';
        going = visit(file->id, part, name[at] == '\0');
        part[at] = name[at];
    }
    free(part);
    *all = going;
    return SPMD_OK;
}

static bool is_linked(hid_t file, const char *part, bool whole)
{
    (void)whole;
    return strcmp(part, "/") == 0 || H5Lexists(file, part, H5P_DEFAULT) > 0;
}

spmd_status spmd__object_open(const spmd_file *file, const char *name, hid_t *object)
{
    bool linked = false;
    TRY(walk(file, name, is_linked, &linked));
    *object = H5I_INVALID_HID;
    if (!linked)
        return SPMD_OK;
    *object = H5Oopen(file->id, name, H5P_DEFAULT);
    if (*object < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: \"%s\" cannot be opened: %s", file->path, name,
                         spmd__io_cause().text);
    return SPMD_OK;
}

bool spmd__object_is(hid_t file, const char *name, H5I_type_t type)
{
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    bool is = object >= 0 && H5Iget_type(object) == type;
    if (object >= 0)
        H5Oclose(object);
    return is;
}

spmd_status spmd__dataset_open(const spmd_file *file, const char *name, hid_t *dataset)
{
    hid_t object = H5I_INVALID_HID;
    TRY(spmd__object_open(file, name, &object));
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET) {
        *dataset = object;
        return SPMD_OK;
    }
    bool is_group = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    if (object >= 0)
        H5Oclose(object);
    return spmd__missing_dataset(file, name, is_group);
}

/* Whether a leading part is a group, or can become one; the whole must be nothing yet. */
static bool is_open_for_new(hid_t file, const char *part, bool whole)
{
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0)
        return true;
    return !whole && spmd__object_is(file, part, H5I_GROUP);
}

spmd_status spmd__dataset_check_free(const spmd_file *file, const char *name)
{
    bool is_free = false;
    TRY(walk(file, name, is_open_for_new, &is_free));
    if (is_free)
        return SPMD_OK;
    if (spmd__object_is(file->id, name, H5I_DATASET))
        return spmd_fail(SPMD_ERR_FILE, "%s: already has a dataset \"%s\"", file->path, name);
    if (spmd__object_is(file->id, name, H5I_GROUP))
        return spmd_fail(SPMD_ERR_FILE, "%s: already has a group \"%s\"", file->path, name);
    return spmd_fail(SPMD_ERR_FILE, "%s: a part of \"%s\" is a dataset, and so cannot be a group",
                     file->path, name);
}

/* A name that is told to be UTF-8 takes its group into HDF5's newer format. */
hid_t spmd__object_link(const char *name)
{
    bool is_ascii = true;
    for (const char *at = name; is_ascii && *at; at++)
        is_ascii = (unsigned char)*at < 0x80;
    hid_t link = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(link, 1);
    H5Pset_char_encoding(link, is_ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    return link;
}
