/* io/copy.c - objects and attributes from one file to another, of any type that HDF5 has. */
#include <spmd/object.h>

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "io/attribute.h"
#include "io/cause.h"
#include "io/checksum.h"
#include "io/missing.h"
#include "io/object.h"
#include "io/room.h"
#include "io/string.h"
#include "io/types.h"

static spmd_status check_files(const spmd_file *from, const spmd_file *to)
{
    if (!from)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the file to copy from is NULL");
    if (!spmd_mesh_equal(from->mesh, to->mesh))
        return spmd_fail(SPMD_ERR_MESH, "lies on another mesh than %s", from->path);
    spmd_status status = spmd__file_check_old(from);
    if (status != SPMD_OK)
        return spmd__io_refine(status, "a copy from %s", from->path);
    return spmd__file_check_new(to);
}

static spmd_status enter(const spmd_file *from, const char *name, const spmd_file *to,
                         const char *call, spmd_status status)
{
    if (status == SPMD_OK)
        status = check_files(from, to);
    uint64_t digest = spmd__hash_text(spmd__hash_text(0, from ? from->path : NULL), name);
    return spmd__file_enter(to, call, status, digest);
}

static spmd_status fail_to_copy(const spmd_file *from, const char *name, const spmd_file *to)
{
    return spmd_fail(SPMD_ERR_FILE, "%s: \"%s\" cannot be copied to %s: %s", from->path, name,
                     to->path, spmd__io_cause().text);
}

/* The two objects whose attributes become alike. */
struct pair {
    const spmd_file *from, *to;
    const char *name;
    hid_t source, target;
    spmd_dtype converted; /* the target's type, if the elements are others than the source's */
    spmd_status status;
};

/* With values of varying length the library's own memory comes along, to be given back. */
static spmd_status copy_values(const struct pair *pair, hid_t source, hid_t target, hid_t type,
                               hid_t space)
{
    hssize_t count = H5Sget_simple_extent_npoints(space);
    void *values = NULL;
    TRY(spmd__alloc(count > 0 ? (size_t)count : 1, H5Tget_size(type), &values));
    spmd_status status = SPMD_OK;
    if (H5Aread(source, type, values) < 0 || H5Awrite(target, type, values) < 0)
        status = fail_to_copy(pair->from, pair->name, pair->to);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, values);
    free(values);
    return status;
}

static spmd_status copy_as(const struct pair *pair, const char *attribute, hid_t source, hid_t type,
                           hid_t space)
{
    hid_t target = H5Acreate2(pair->target, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (target < 0)
        return fail_to_copy(pair->from, pair->name, pair->to);
    spmd_status status = SPMD_OK;
    if (H5Sget_simple_extent_npoints(space) > 0)
        status = copy_values(pair, source, target, type, space);
    H5Aclose(target);
    return status;
}

/* Of elements that were converted, the sharding is told with their type, and a checksum not. */
static spmd_status copy_converted(const struct pair *pair, const char *attribute, hid_t source,
                                  bool *done)
{
    char *old = NULL, *text = NULL;
    bool is_sharding = strcmp(attribute, SHARDING_ATTRIBUTE) == 0;
    *done = is_sharding || strcmp(attribute, CHECKSUM_ATTRIBUTE) == 0;
    if (!is_sharding)
        return SPMD_OK;
    TRY(spmd__string_read(source, &old));
    if (asprintf(&text, "%s%s", spmd_dtype_name(pair->converted), old + strcspn(old, "[")) < 0)
        text = NULL;
    free(old);
    if (!text)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", pair->to->path);
    spmd_status status = spmd__attribute_write(pair->to, pair->name, pair->target, attribute, text);
    free(text);
    return status;
}

static herr_t copy_attribute(hid_t object, const char *attribute, const H5A_info_t *info,
                             void *user)
{
    (void)info;
    struct pair *pair = user;
    hid_t source = H5Aopen(object, attribute, H5P_DEFAULT);
    hid_t type = H5Aget_type(source), space = H5Aget_space(source);
    bool done = H5Tdetect_class(type, H5T_REFERENCE) > 0;
    if (!done && pair->converted != SPMD_DTYPE_NONE)
        pair->status = copy_converted(pair, attribute, source, &done);
    if (!done)
        pair->status = copy_as(pair, attribute, source, type, space);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(source);
    return pair->status == SPMD_OK ? 0 : -1;
}

static spmd_dtype dtype_of(hid_t object)
{
    if (H5Iget_type(object) != H5I_DATASET)
        return SPMD_DTYPE_NONE;
    hid_t type = H5Dget_type(object);
    spmd_dtype dtype = spmd__type_dtype(type);
    H5Tclose(type);
    return dtype;
}

static spmd_status remove_attributes(const spmd_file *to, const char *name, hid_t object)
{
    while (H5Aget_num_attrs(object) > 0)
        if (H5Adelete_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT) < 0)
            return spmd_fail(SPMD_ERR_FILE, "%s: an attribute of \"%s\" cannot be removed: %s",
                             to->path, name, spmd__io_cause().text);
    return SPMD_OK;
}

static spmd_status copy_attributes(const spmd_file *from, const char *name, const spmd_file *to)
{
    struct pair pair = {.from = from, .to = to, .name = name};
    TRY(spmd__object_open(from, name, &pair.source));
    spmd_status status = spmd__object_open(to, name, &pair.target);
    if (status == SPMD_OK && (pair.source < 0 || pair.target < 0))
        status = spmd__missing_object(pair.source < 0 ? from : to, name);
    if (status == SPMD_OK)
        status = remove_attributes(to, name, pair.target);
    if (status == SPMD_OK && dtype_of(pair.source) != dtype_of(pair.target))
        pair.converted = dtype_of(pair.target);
    if (status == SPMD_OK &&
        H5Aiterate2(pair.source, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &pair) < 0)
        status = pair.status != SPMD_OK ? pair.status : fail_to_copy(from, name, to);
    if (pair.source >= 0)
        H5Oclose(pair.source);
    if (pair.target >= 0)
        H5Oclose(pair.target);
    return status;
}

/* Soft and external links: what they lead to may be elsewhere, or nowhere. */
static spmd_status copy_link(const spmd_file *from, const char *name, const H5L_info_t *link,
                             const spmd_file *to, hid_t creation)
{
    char *value = NULL;
    const char *file = NULL, *object = NULL;
    TRY(spmd__alloc(link->u.val_size + 1, 1, &value));
    herr_t failed = H5Lget_val(from->id, name, value, link->u.val_size, H5P_DEFAULT);
    if (failed >= 0 && link->type == H5L_TYPE_SOFT)
        failed = H5Lcreate_soft(value, to->id, name, creation, H5P_DEFAULT);
    else if (failed >= 0)
        failed = H5Lunpack_elink_val(value, link->u.val_size, NULL, &file, &object);
    if (failed >= 0 && file)
        failed = H5Lcreate_external(file, object, to->id, name, creation, H5P_DEFAULT);
    free(value);
    return failed < 0 ? fail_to_copy(from, name, to) : SPMD_OK;
}

static spmd_status copy_group(const spmd_file *from, const char *name, const spmd_file *to,
                              hid_t creation)
{
    hid_t group = H5Gcreate2(to->id, name, creation, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return fail_to_copy(from, name, to);
    H5Gclose(group);
    return copy_attributes(from, name, to);
}

/* A dataset, as it lies in its file, or a named type. */
static spmd_status copy_whole(const spmd_file *from, const char *name, hid_t object, spmd_file *to,
                              hid_t creation)
{
    bool dataset = H5Iget_type(object) == H5I_DATASET;
    int64_t bytes = dataset ? (int64_t)H5Dget_storage_size(object) : 0;
    TRY(spmd__mesh_agree(to->mesh, spmd__room_reserve(to, bytes), 0));
    if (H5Ocopy(from->id, name, to->id, name, H5P_DEFAULT, creation) < 0)
        return fail_to_copy(from, name, to);
    return SPMD_OK;
}

static spmd_status copy_object(const spmd_file *from, const char *name, spmd_file *to,
                               hid_t creation)
{
    H5L_info_t link;
    hid_t object = H5I_INVALID_HID;
    if (H5Lget_info(from->id, name, &link, H5P_DEFAULT) < 0)
        return spmd__missing_object(from, name);
    if (link.type != H5L_TYPE_HARD)
        return copy_link(from, name, &link, to, creation);
    TRY(spmd__object_open(from, name, &object));
    spmd_status status = H5Iget_type(object) == H5I_GROUP
                             ? copy_group(from, name, to, creation)
                             : copy_whole(from, name, object, to, creation);
    H5Oclose(object);
    return status;
}

static spmd_status make_copy(const spmd_file *from, const char *name, spmd_file *to)
{
    TRY(spmd__mesh_agree(to->mesh, spmd__dataset_check_free(to, name), 0));
    hid_t link = spmd__object_link(name);
    spmd_status status = spmd__mesh_agree(to->mesh, copy_object(from, name, to, link), 0);
    H5Pclose(link);
    to->broken = to->broken || status != SPMD_OK;
    return status;
}

spmd_status spmd_object_copy(spmd_file *from, const char *name, spmd_file *to)
{
    TRY(spmd__file_check(to, __func__, name));
    if (!spmd__mesh_is_member(to->mesh))
        return SPMD_OK;
    TRY(enter(from, name, to, __func__, spmd__name_check(name)));
    spmd_status status;
    QUIETLY(status = make_copy(from, name, to));
    return status;
}

spmd_status spmd_attributes_copy(spmd_file *from, const char *name, spmd_file *to)
{
    TRY(spmd__file_check(to, __func__, name));
    if (!spmd__mesh_is_member(to->mesh))
        return SPMD_OK;
    bool root = name && strcmp(name, "/") == 0;
    TRY(enter(from, name, to, __func__, root ? SPMD_OK : spmd__name_check(name)));
    spmd_status status;
    QUIETLY(status = copy_attributes(from, name, to));
    status = spmd__mesh_agree(to->mesh, status, 0);
    to->broken = to->broken || status != SPMD_OK;
    return status;
}
