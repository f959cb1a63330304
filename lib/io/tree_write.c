/* io/tree_write.c - trees to files: groups, and datasets in them. */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/tree.h"
#include "core/hash.h"
#include "io/cause.h"
#include "io/kind.h"
#include "io/members.h"
#include "io/object.h"
#include "io/survey.h"
#include "io/text.h"
#include "io/tree.h"

static spmd_status create_group(const spmd_file *file, const char *name)
{
    hid_t link = spmd__object_link(name);
    hid_t group = H5Gcreate2(file->id, name, link, H5P_DEFAULT, H5P_DEFAULT);
    spmd_status status = SPMD_OK;
    if (group < 0)
        status = spmd_fail(SPMD_ERR_FILE, "%s: group \"%s\" cannot be created: %s", file->path,
                           name, spmd__io_cause().text);
    else
        H5Gclose(group);
    H5Pclose(link);
    return status;
}

/* The file itself is a group that is there. */
static spmd_status write_group(const spmd_file *file, const char *name)
{
    if (strcmp(name, "/") == 0)
        return SPMD_OK;
    spmd_status status;
    QUIETLY(status = create_group(file, name));
    return spmd__mesh_agree(file->mesh, status, 0);
}

/* Writes what every rank has. */
static spmd_status write_host(spmd_file *file, const char *name, const void *data, spmd_dtype dtype,
                              spmd_shape shape)
{
    spmd_sharding *everywhere = NULL;
    spmd_array *array = NULL;
    TRY(spmd_sharding_create(file->mesh, "P()", &everywhere));
    spmd_status status =
        spmd_device_put(data, spmd_shape_size(shape), dtype, shape, everywhere, &array);
    if (status == SPMD_OK)
        status = spmd_dataset_write(file, name, array);
    else
        status = spmd__io_refine(status, "%s: dataset \"%s\"", file->path, name);
    spmd_array_free(&array);
    spmd_sharding_free(&everywhere);
    return status;
}

static spmd_status write_leaf(spmd_file *file, const char *name, const spmd_tree *leaf)
{
    spmd_array *array = spmd__tree_array(leaf);
    const spmd_block *block = spmd__tree_block(leaf);
    if (array)
        return spmd_dataset_write(file, name, array);
    if (block)
        return write_host(file, name, block->data, block->dtype, spmd_block_shape(block));
    if (leaf->leaf == &spmd__leaf_text)
        return spmd__text_write(file, name, leaf->value.pointer);
    if (leaf->leaf == &spmd__leaf_key)
        return write_host(file, name, leaf->value.key.word, SPMD_U32, SPMD_SHAPE(2));
    return write_host(file, name, &leaf->value.integer, SPMD_I64, SPMD_SCALAR);
}

static spmd_status write_tree(spmd_file *file, const char *name, const spmd_tree *tree)
{
    TRY(tree->kind == TREE_LEAF ? write_leaf(file, name, tree) : write_group(file, name));
    const char *kind = spmd__kind_text(spmd_tree_kind_of(tree));
    if (kind)
        TRY(spmd_dataset_set_text(file, name, KIND_ATTRIBUTE, kind));
    for (int i = 0; i < tree->count; i++) {
        char *child = NULL;
        TRY(spmd__survey_child_name(name, tree, i, &child));
        spmd_status status = write_tree(file, child, tree->child[i]);
        free(child);
        TRY(status);
    }
    return SPMD_OK;
}

static spmd_status check_writing(const spmd_file *file, const char *name, const spmd_tree *tree,
                                 const char **in_file)
{
    TRY(spmd__tree_name(name, in_file));
    TRY(spmd__tree_check_data(file, tree, "the tree"));
    if (tree->kind == TREE_LEAF && strcmp(*in_file, "/") == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a leaf cannot be the file itself; name its dataset");
    return spmd__file_check_new(file);
}

/* A file that has something can get more, but not become a list or None, or stay one. */
static spmd_status check_root(const spmd_file *file, hid_t root, const spmd_tree *tree)
{
    struct members members = {0};
    spmd_tree_kind kind = SPMD_TREE_DICT;
    spmd_status status = spmd__kind_read(file, "/", root, &kind);
    if (status == SPMD_OK)
        status = spmd__members_list(file, "/", root, &members);
    bool fits = kind == SPMD_TREE_DICT && (tree->kind == TREE_DICT || members.count == 0);
    if (status == SPMD_OK && !fits)
        status = spmd_fail(SPMD_ERR_FILE,
                           "%s: has something already, which only dicts are added to; give the "
                           "tree a name",
                           file->path);
    spmd__members_free(&members);
    return status;
}

/* That the file itself can be this tree. */
static spmd_status check_free_root(const spmd_file *file, const spmd_tree *tree)
{
    hid_t root = H5I_INVALID_HID;
    TRY(spmd__object_open(file, "/", &root));
    spmd_status status = check_root(file, root, tree);
    H5Oclose(root);
    for (int i = 0; status == SPMD_OK && i < tree->count; i++) {
        char *child = NULL;
        TRY(spmd__survey_child_name("/", tree, i, &child));
        status = spmd__dataset_check_free(file, child);
        free(child);
    }
    return status;
}

/* That there is nothing yet where the tree goes. Below a new group all is free. */
static spmd_status check_free(const spmd_file *file, const char *name, const spmd_tree *tree)
{
    return strcmp(name, "/") == 0 ? check_free_root(file, tree)
                                  : spmd__dataset_check_free(file, name);
}

spmd_status spmd_tree_write(spmd_file *file, const char *name, const spmd_tree *tree)
{
    TRY(spmd__file_check(file, __func__, name));
    if (!spmd__mesh_is_member(file->mesh))
        return SPMD_OK;
    const char *in_file = NULL;
    spmd_status status = check_writing(file, name, tree, &in_file);
    TRY(spmd__file_enter(file, __func__, status, spmd__hash_text(0, name)));
    TRY(spmd__tree_agree(file->mesh, SPMD_OK, spmd__tree_digest_leaves(tree)));
    QUIETLY(status = check_free(file, in_file, tree));
    TRY(spmd__mesh_agree(file->mesh, status, 0));
    status = write_tree(file, in_file, tree);
    file->broken = file->broken || status != SPMD_OK;
    return status;
}
