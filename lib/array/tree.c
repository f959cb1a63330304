/* array/tree.c - trees of arrays: made, set, asked. */
#include "array/tree.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "core/block.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/tree_path.h"

static spmd_status hold_array(union leaf *value)
{
    spmd_array_hold(value->pointer);
    return SPMD_OK;
}

static void release_array(union leaf *value)
{
    spmd_array *array = value->pointer;
    spmd_array_free(&array);
}

static void print_array(struct text *text, const union leaf *value)
{
    char type[512];
    spmd_array_format(type, sizeof type, value->pointer);
    spmd__text_add(text, "%s", type);
}

static void print_block(struct text *text, const union leaf *value)
{
    const spmd_block *block = value->pointer;
    spmd__text_add(text, "block ");
    spmd__type_print(text, block->dtype, spmd_block_shape(block));
}

static void release_block(union leaf *value)
{
    spmd_block *block = value->pointer;
    free(block->data);
    free(block);
}

static spmd_status hold_block(union leaf *value)
{
    spmd_block *block, *old = value->pointer;
    size_t bytes = spmd__block_bytes(old);
    void *data;
    TRY(spmd__alloc_block(bytes, &data));
    spmd_status status = spmd__alloc(1, sizeof *block, &block);
    if (status != SPMD_OK) {
        free(data);
        return status;
    }
    memcpy(data, old->data, bytes);
    *block = *old;
    block->data = data;
    value->pointer = block;
    return SPMD_OK;
}

const struct leaf_kind spmd__leaf_array = {"an array", hold_array, release_array, print_array};
const struct leaf_kind spmd__leaf_block = {"a block", NULL, NULL, print_block};
const struct leaf_kind spmd__leaf_own_block = {"a block", hold_block, release_block, print_block};

spmd_array *spmd__tree_array(const spmd_tree *node)
{
    return node->kind == TREE_LEAF && node->leaf == &spmd__leaf_array ? node->value.pointer : NULL;
}

const spmd_block *spmd__tree_block(const spmd_tree *node)
{
    bool is_block = node->kind == TREE_LEAF &&
                    (node->leaf == &spmd__leaf_block || node->leaf == &spmd__leaf_own_block);
    return is_block ? node->value.pointer : NULL;
}

spmd_status spmd__tree_make_array(spmd_array *array, spmd_tree **leaf)
{
    if (!array)
        return spmd_fail(SPMD_ERR_ARGUMENT, "an array for a tree is NULL: None has no array");
    return spmd__tree_make_leaf(&spmd__leaf_array, (union leaf){.pointer = spmd_array_hold(array)},
                                leaf);
}

spmd_status spmd__tree_make_block(const spmd_block *block, spmd_tree **leaf)
{
    if (!block)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a block for a tree is NULL: None has no block");
    /* Whoever may write the block says so elsewhere. */
    return spmd__tree_make_leaf(&spmd__leaf_block, (union leaf){.pointer = (spmd_block *)block},
                                leaf);
}

spmd_status spmd_tree_create(spmd_tree **tree)
{
    if (!tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new tree, it is NULL");
    return spmd__tree_make(TREE_NONE, tree);
}

void spmd_tree_free(spmd_tree **tree)
{
    spmd__tree_free(tree);
}

spmd_status spmd_tree_copy(const spmd_tree *tree, spmd_tree **copy)
{
    if (!tree || !copy)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a copy needs a tree and a place for it");
    return spmd__tree_copy(tree, copy);
}

spmd_status spmd_tree_set_array(spmd_tree *tree, const char *path, spmd_array *array)
{
    spmd_tree *leaf;
    TRY(spmd__tree_make_array(array, &leaf));
    return spmd__tree_put(tree, path, &leaf);
}

spmd_status spmd_tree_set_block(spmd_tree *tree, const char *path, const spmd_block *block)
{
    spmd_tree *leaf;
    TRY(spmd__tree_make_block(block, &leaf));
    return spmd__tree_put(tree, path, &leaf);
}

static spmd_status set_leaf(spmd_tree *tree, const char *path, const struct leaf_kind *kind,
                            union leaf value)
{
    spmd_tree *leaf;
    TRY(spmd__tree_make_leaf(kind, value, &leaf));
    return spmd__tree_put(tree, path, &leaf);
}

spmd_status spmd_tree_set_key(spmd_tree *tree, const char *path, spmd_key key)
{
    return set_leaf(tree, path, &spmd__leaf_key, (union leaf){.key = key});
}

spmd_status spmd_tree_set_text(spmd_tree *tree, const char *path, const char *text)
{
    union leaf value = {.pointer = (char *)text};
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a text for a tree is NULL");
    TRY(spmd__leaf_text.hold(&value));
    return set_leaf(tree, path, &spmd__leaf_text, value);
}

spmd_status spmd_tree_set_integer(spmd_tree *tree, const char *path, int64_t integer)
{
    return set_leaf(tree, path, &spmd__leaf_integer, (union leaf){.integer = integer});
}

static spmd_status set_node(spmd_tree *tree, const char *path, enum tree_kind kind)
{
    spmd_tree *node;
    TRY(spmd__tree_make(kind, &node));
    return spmd__tree_put(tree, path, &node);
}

spmd_status spmd_tree_set_none(spmd_tree *tree, const char *path)
{
    return set_node(tree, path, TREE_NONE);
}

spmd_status spmd_tree_set_list(spmd_tree *tree, const char *path)
{
    return set_node(tree, path, TREE_LIST);
}

spmd_status spmd_tree_set_dict(spmd_tree *tree, const char *path)
{
    return set_node(tree, path, TREE_DICT);
}

spmd_status spmd_tree_set_tree(spmd_tree *tree, const char *path, const spmd_tree *subtree)
{
    spmd_tree *copy;
    TRY(spmd_tree_copy(subtree, &copy));
    return spmd__tree_put(tree, path, &copy);
}

/* Whether there is a place for what a call gives. */
static spmd_status check_place(const void *place)
{
    return place ? SPMD_OK
                 : spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for what is found, it is NULL");
}

spmd_status spmd_tree_get(const spmd_tree *tree, const char *path, const spmd_tree **node)
{
    TRY(check_place(node));
    return spmd__tree_at(tree, path, node, NULL);
}

static spmd_status fail_kind(const spmd_tree *node, const char *path, const char *wanted)
{
    char is[256];
    struct text text = spmd__text_begin(is, sizeof is);
    spmd__tree_describe(&text, node);
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s is %s, not %s", *path ? path : "the tree", is, wanted);
}

spmd_status spmd_tree_get_array(const spmd_tree *tree, const char *path, spmd_array **array)
{
    const spmd_tree *node;
    TRY(check_place(array));
    TRY(spmd_tree_get(tree, path, &node));
    spmd_array *found = spmd__tree_array(node);
    if (!found)
        return fail_kind(node, path, spmd__leaf_array.what);
    *array = found;
    return SPMD_OK;
}

spmd_status spmd_tree_get_block(const spmd_tree *tree, const char *path, const spmd_block **block)
{
    const spmd_tree *node;
    TRY(check_place(block));
    TRY(spmd_tree_get(tree, path, &node));
    const spmd_block *found = spmd__tree_block(node);
    if (!found)
        return fail_kind(node, path, spmd__leaf_block.what);
    *block = found;
    return SPMD_OK;
}

/* The leaf at `path`, which has to be of this kind. */
static spmd_status get_leaf(const spmd_tree *tree, const char *path, const struct leaf_kind *kind,
                            const spmd_tree **leaf)
{
    TRY(spmd_tree_get(tree, path, leaf));
    if ((*leaf)->kind != TREE_LEAF || (*leaf)->leaf != kind)
        return fail_kind(*leaf, path, kind->what);
    return SPMD_OK;
}

spmd_status spmd_tree_get_key(const spmd_tree *tree, const char *path, spmd_key *key)
{
    const spmd_tree *leaf;
    TRY(check_place(key));
    TRY(get_leaf(tree, path, &spmd__leaf_key, &leaf));
    *key = leaf->value.key;
    return SPMD_OK;
}

spmd_status spmd_tree_get_text(const spmd_tree *tree, const char *path, const char **text)
{
    const spmd_tree *leaf;
    TRY(check_place(text));
    TRY(get_leaf(tree, path, &spmd__leaf_text, &leaf));
    *text = leaf->value.pointer;
    return SPMD_OK;
}

spmd_status spmd_tree_get_integer(const spmd_tree *tree, const char *path, int64_t *integer)
{
    const spmd_tree *leaf;
    TRY(check_place(integer));
    TRY(get_leaf(tree, path, &spmd__leaf_integer, &leaf));
    *integer = leaf->value.integer;
    return SPMD_OK;
}

spmd_tree_kind spmd_tree_kind_of(const spmd_tree *node)
{
    switch (node->kind) {
    case TREE_NONE:
        return SPMD_TREE_NONE;
    case TREE_LIST:
        return SPMD_TREE_LIST;
    case TREE_DICT:
        return SPMD_TREE_DICT;
    case TREE_LEAF:
        break;
    }
    return node->leaf == &spmd__leaf_array     ? SPMD_TREE_ARRAY
           : node->leaf == &spmd__leaf_key     ? SPMD_TREE_KEY
           : node->leaf == &spmd__leaf_text    ? SPMD_TREE_TEXT
           : node->leaf == &spmd__leaf_integer ? SPMD_TREE_INTEGER
                                               : SPMD_TREE_BLOCK;
}

int spmd_tree_count(const spmd_tree *node)
{
    return node->count;
}

const spmd_tree *spmd_tree_child(const spmd_tree *node, int index, const char **key)
{
    if (index < 0 || index >= node->count)
        return NULL;
    if (key)
        *key = node->key ? node->key[index] : NULL;
    return node->child[index];
}
