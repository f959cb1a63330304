/* io/listing.c - what a file has: an entry for each group and dataset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spmd/object.h>

#include "core/hash.h"
#include "core/mem.h"
#include "io/attribute.h"
#include "io/checksum.h"
#include "io/storage.h"
#include "io/string.h"
#include "io/survey.h"
#include "io/tree.h"
#include "io/types.h"

enum { TEXT_BYTES = 1024 };

void spmd_file_listing_free(spmd_file_listing **handle)
{
    if (!handle || !*handle)
        return;
    spmd_file_listing *listing = *handle;
    *handle = NULL;
    for (int i = 0; i < listing->count; i++) {
        spmd_file_entry *entry = &listing->entry[i];
        free(entry->name);
        free(entry->link);
        free(entry->problem);
        free(entry->elements);
        free(entry->layout);
        free(entry->sharding);
        free((void *)entry->options.fill);
    }
    free(listing->entry);
    free(listing);
}

static spmd_status copy_text(const char *text, char **copy)
{
    *copy = strdup(text);
    return *copy ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "no memory for the listing of a file");
}

static void describe_space(hid_t dataset, spmd_file_entry *entry)
{
    hsize_t extent[H5S_MAX_RANK], most[H5S_MAX_RANK];
    hid_t space = H5Dget_space(dataset);
    int ndim = H5Sget_simple_extent_dims(space, extent, most);
    H5Sclose(space);
    if (ndim < 0 || ndim > SPMD_MAX_DIMS)
        return;
    entry->shape.ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        entry->shape.dim[d] = (int64_t)extent[d];
        if (most[d] > extent[d])
            entry->options.most[d] = most[d] == H5S_UNLIMITED ? SPMD_UNLIMITED : (int64_t)most[d];
    }
    entry->options.unlimited = entry->options.most[0] == SPMD_UNLIMITED;
}

static spmd_status describe_elements(hid_t dataset, spmd_file_entry *entry)
{
    hid_t type = H5Dget_type(dataset);
    entry->dtype = spmd__type_dtype(type);
    const char *elements = entry->kind == SPMD_TREE_TEXT     ? "text"
                           : entry->dtype == SPMD_DTYPE_NONE ? spmd__type_noun(type)
                                                             : spmd_dtype_name(entry->dtype);
    H5Tclose(type);
    return copy_text(elements, &entry->elements);
}

static spmd_status describe_sharding(hid_t dataset, spmd_file_entry *entry)
{
    if (H5Aexists(dataset, SHARDING_ATTRIBUTE) <= 0)
        return SPMD_OK;
    hid_t attribute = H5Aopen(dataset, SHARDING_ATTRIBUTE, H5P_DEFAULT);
    char *text = NULL;
    spmd_status status = attribute < 0 ? SPMD_OK : spmd__string_read(attribute, &text);
    if (attribute >= 0)
        H5Aclose(attribute);
    entry->sharding = text;
    return status == SPMD_ERR_MEMORY ? status : SPMD_OK;
}

static spmd_status describe(hid_t dataset, spmd_file_entry *entry)
{
    char layout[TEXT_BYTES];
    struct text text = spmd__text_begin(layout, sizeof layout);
    spmd__storage_print(&text, dataset);
    describe_space(dataset, entry);
    entry->stored = (int64_t)H5Dget_storage_size(dataset);
    entry->checksum = H5Aexists(dataset, CHECKSUM_ATTRIBUTE) > 0;
    TRY(copy_text(layout, &entry->layout));
    TRY(describe_elements(dataset, entry));
    spmd__storage_options(dataset, entry->dtype, &entry->options);
    return describe_sharding(dataset, entry);
}

/* What could not be opened has a problem, and nothing else is known of it. */
static spmd_status describe_leaf(const spmd_file *file, const char *name,
                                 const struct stored *stored, spmd_file_entry *entry)
{
    entry->kind = stored->kind;
    if (stored->problem)
        TRY(copy_text(stored->problem, &entry->problem));
    hid_t object = H5Oopen(file->id, name, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
        status = describe(object, entry);
    if (object >= 0)
        H5Oclose(object);
    return status;
}

static spmd_status copy_target(const char *value, const H5L_info_t *info, char **link)
{
    char text[TEXT_BYTES];
    const char *file = NULL, *object = NULL;
    if (info->type == H5L_TYPE_SOFT)
        return copy_text(value, link);
    if (H5Lunpack_elink_val(value, info->u.val_size, NULL, &file, &object) < 0)
        return copy_text("something of a foreign kind", link);
    snprintf(text, sizeof text, "%s in %s", object, file);
    return copy_text(text, link);
}

static spmd_status describe_link(const spmd_file *file, const char *name, spmd_file_entry *entry)
{
    H5L_info_t info;
    char *value = NULL;
    if (H5Lget_info(file->id, name, &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD)
        return SPMD_OK;
    TRY(spmd__alloc(info.u.val_size + 1, 1, &value));
    spmd_status status = SPMD_OK;
    if (H5Lget_val(file->id, name, value, info.u.val_size, H5P_DEFAULT) >= 0)
        status = copy_target(value, &info, &entry->link);
    free(value);
    return status;
}

/* How many nodes there are below one, and itself. */
static int count_nodes(const spmd_tree *tree)
{
    int count = 1;
    for (int i = 0; i < tree->count; i++)
        count += count_nodes(tree->child[i]);
    return count;
}

static spmd_status list_node(const spmd_file *file, const char *name, const struct survey *survey,
                             const spmd_tree *node, spmd_file_listing *listing);

static spmd_status list_children(const spmd_file *file, const char *name,
                                 const struct survey *survey, const spmd_tree *node,
                                 spmd_file_listing *listing)
{
    for (int i = 0; i < node->count; i++) {
        char *child = NULL;
        TRY(spmd__survey_child_name(name, node, i, &child));
        spmd_status status = list_node(file, child, survey, node->child[i], listing);
        free(child);
        TRY(status);
    }
    return SPMD_OK;
}

static spmd_status list_node(const spmd_file *file, const char *name, const struct survey *survey,
                             const spmd_tree *node, spmd_file_listing *listing)
{
    spmd_file_entry *entry = &listing->entry[listing->count++];
    const struct stored *stored = spmd__survey_leaf(survey, node);
    TRY(copy_text(name, &entry->name));
    TRY(describe_link(file, name, entry));
    if (stored)
        return describe_leaf(file, name, stored, entry);
    entry->kind = node->kind == TREE_LIST   ? SPMD_TREE_LIST
                  : node->kind == TREE_NONE ? SPMD_TREE_NONE
                                            : SPMD_TREE_DICT;
    return list_children(file, name, survey, node, listing);
}

/* Of a group, all but itself. */
static spmd_status fill(const spmd_file *file, const char *name, const struct survey *survey,
                        spmd_file_listing *listing)
{
    const spmd_tree *tree = survey->tree;
    listing->step = file->step;
    TRY(spmd__alloc((size_t)count_nodes(tree), sizeof *listing->entry, &listing->entry));
    return tree->kind == TREE_LEAF ? list_node(file, name, survey, tree, listing)
                                   : list_children(file, name, survey, tree, listing);
}

/* Local. *digest is of what was found. */
static spmd_status list(const spmd_file *file, const char *name, spmd_file_listing *listing,
                        uint64_t *digest)
{
    struct survey survey;
    TRY(spmd__survey_make(file, name, &survey));
    spmd_status status = fill(file, name, &survey, listing);
    *digest = status == SPMD_OK ? spmd__tree_digest(survey.tree) : 0;
    spmd__survey_free(&survey);
    return status;
}

static spmd_status list_on_member(spmd_file *file, const char *name, spmd_status status,
                                  spmd_file_listing *listing)
{
    const char *in_file = NULL;
    uint64_t digest = 0;
    if (status == SPMD_OK)
        status = spmd__tree_name(name, &in_file);
    TRY(spmd__file_enter(file, "spmd_file_list", status, spmd__hash_text(0, name)));
    QUIETLY(status = list(file, in_file, listing, &digest));
    return spmd__mesh_agree(file->mesh, status, digest);
}

spmd_status spmd_file_list(spmd_file *file, const char *name, spmd_file_listing **listing)
{
    TRY(spmd__file_check(file, __func__, name));
    spmd_file_listing *made = NULL;
    spmd_status status = spmd__alloc(1, sizeof *made, &made);
    if (status == SPMD_OK)
        made->step = -1;
    if (status == SPMD_OK && !listing)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "the pointer for the listing is NULL");
    if (spmd__mesh_is_member(file->mesh))
        status = list_on_member(file, name, status, made);
    if (status == SPMD_OK)
        *listing = made;
    else
        spmd_file_listing_free(&made);
    return status;
}
