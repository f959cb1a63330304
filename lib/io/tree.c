/* io/tree.c - what calls on trees in files have in common. */
#include "io/tree.h"

#include <string.h>

#include "array/array.h"
#include "array/tree.h"
#include "core/block.h"
#include "core/hash.h"
#include "io/object.h"

spmd_status spmd__tree_name(const char *name, const char **in_file)
{
    bool is_file = name && (*name == '\0' || strcmp(name, "/") == 0);
    if (!is_file)
        TRY(spmd__name_check(name));
    *in_file = is_file ? "/" : name;
    return SPMD_OK;
}

static spmd_status check_leaf(const spmd_file *file, const spmd_tree *leaf)
{
    const spmd_array *array = spmd__tree_array(leaf);
    const spmd_block *block = spmd__tree_block(leaf);
    if (array && !spmd_mesh_equal(array->sharding->mesh, file->mesh))
        return spmd_fail(SPMD_ERR_MESH, "the array lies on another mesh than the file");
    if (!block)
        return SPMD_OK;
    TRY(spmd__block_check(block, "the block"));
    if (!spmd__block_is_dense(block))
        return spmd_fail(SPMD_ERR_SHAPE, "host data has to be dense, this block is not");
    return SPMD_OK;
}

/* Checks all below a node of `tree`; `before` counts the leaves. */
static spmd_status check_leaves(const spmd_file *file, const spmd_tree *tree, const char *what,
                                const spmd_tree *node, int *before)
{
    if (node->kind == TREE_LEAF) {
        spmd_status status = check_leaf(file, node);
        int index = (*before)++;
        return status == SPMD_OK ? status : spmd__tree_fail_leaf(status, what, tree, index);
    }
    for (int i = 0; i < node->count; i++)
        TRY(check_leaves(file, tree, what, node->child[i], before));
    return SPMD_OK;
}

spmd_status spmd__tree_check_data(const spmd_file *file, const spmd_tree *tree, const char *what)
{
    if (!tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s is NULL", what);
    int leaves = 0;
    return check_leaves(file, tree, what, tree, &leaves);
}

static uint64_t hash_block(const spmd_block *block)
{
    uint64_t hash = spmd__hash(0, &block->dtype, sizeof block->dtype);
    return spmd__hash(hash, block->shape, (size_t)block->ndim * sizeof block->shape[0]);
}

static uint64_t hash_leaf(const spmd_tree *leaf)
{
    const spmd_array *array = spmd__tree_array(leaf);
    const spmd_block *block = spmd__tree_block(leaf);
    if (array)
        return spmd__array_digest(array->sharding, array->dtype, array->shape);
    if (block)
        return hash_block(block);
    if (leaf->leaf == &spmd__leaf_text)
        return spmd__hash_text(0, leaf->value.pointer);
    if (leaf->leaf == &spmd__leaf_key)
        return spmd__hash(0, &leaf->value.key, sizeof leaf->value.key);
    return spmd__hash(0, &leaf->value.integer, sizeof leaf->value.integer);
}

static uint64_t hash_leaves(uint64_t hash, const spmd_tree *tree)
{
    if (tree->kind == TREE_LEAF) {
        const uint64_t leaf[] = {(uint64_t)spmd_tree_kind_of(tree), hash_leaf(tree)};
        return spmd__hash(hash, leaf, sizeof leaf);
    }
    for (int i = 0; i < tree->count; i++)
        hash = hash_leaves(hash, tree->child[i]);
    return hash;
}

uint64_t spmd__tree_digest_leaves(const spmd_tree *tree)
{
    return hash_leaves(spmd__tree_digest(tree), tree);
}
