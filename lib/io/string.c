/* io/string.c - texts, as HDF5 keeps them in attributes and datasets. */
#include "io/string.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "io/cause.h"

static hid_t create_type(size_t bytes, H5T_cset_t characters)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, characters);
    return type;
}

hid_t spmd__string_type(const char *text)
{
    return create_type(strlen(text) + 1, H5T_CSET_UTF8);
}

static bool is_attribute(hid_t object)
{
    return H5Iget_type(object) == H5I_ATTR;
}

static hid_t type_of(hid_t object)
{
    return is_attribute(object) ? H5Aget_type(object) : H5Dget_type(object);
}

static spmd_status read_as(hid_t object, hid_t type, void *text)
{
    herr_t failed = is_attribute(object)
                        ? H5Aread(object, type, text)
                        : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
    return failed < 0 ? spmd_fail(SPMD_ERR_FILE, "%s", spmd__io_cause().text) : SPMD_OK;
}

/* Copies text of fixed length; whatever padding it has ends up as a closing NUL. */
static spmd_status read_fixed(hid_t object, hid_t stored, char **text)
{
    size_t bytes = H5Tget_size(stored) + 1;
    char *copy = NULL;
    TRY(spmd__alloc(bytes, 1, &copy));
    hid_t type = create_type(bytes, H5Tget_cset(stored));
    spmd_status status = read_as(object, type, copy);
    H5Tclose(type);
    if (status == SPMD_OK)
        *text = copy;
    else
        free(copy);
    return status;
}

/* Text of varying length, as other programs write it. */
static spmd_status read_varying(hid_t object, hid_t stored, char **text)
{
    char *found = NULL;
    hid_t type = create_type(H5T_VARIABLE, H5Tget_cset(stored));
    spmd_status status = read_as(object, type, &found);
    H5Tclose(type);
    if (status != SPMD_OK)
        return status;
    *text = strdup(found ? found : "");
    H5free_memory(found);
    return *text ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
}

bool spmd__string_is(hid_t object)
{
    hid_t type = type_of(object);
    hid_t space = is_attribute(object) ? H5Aget_space(object) : H5Dget_space(object);
    bool is = H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
    H5Sclose(space);
    H5Tclose(type);
    return is;
}

spmd_status spmd__string_read(hid_t object, char **text)
{
    if (!spmd__string_is(object))
        return spmd_fail(SPMD_ERR_FILE, "not a text");
    hid_t type = type_of(object);
    spmd_status status = H5Tis_variable_str(type) > 0 ? read_varying(object, type, text)
                                                      : read_fixed(object, type, text);
    H5Tclose(type);
    return status;
}
