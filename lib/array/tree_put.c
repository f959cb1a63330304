/* array/tree_put.c - trees placed on a mesh, or moved, leaf by leaf under a prefix tree of specs.
 */
#include <stdlib.h>

#include "array/array.h"
#include "array/tree.h"
#include "core/block.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/tree_match.h"
#include "core/tree_text.h"

/* A call, and how far it is. */
struct putting {
    const spmd_tree *tree;
    spmd_mesh *mesh; /* NULL: each array's own */
    spmd_tree *specs;
    int nleaves;
    const spmd_tree **leaf;   /* [nleaves] */
    const spmd_tree **spec;   /* [nleaves] */
    spmd_sharding **sharding; /* [nleaves] NULL: the leaf stays as it is */
};

/* Local. The mesh that a leaf will lie on; NULL: it is no data. */
static spmd_status mesh_of(const struct putting *putting, const spmd_tree *leaf, spmd_mesh **mesh)
{
    spmd_array *array = spmd__tree_array(leaf);
    const spmd_block *block = spmd__tree_block(leaf);
    *mesh = array || block ? putting->mesh : NULL;
    if (array && !putting->mesh)
        *mesh = array->sharding->mesh;
    if (block && !putting->mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a block is on no mesh: spmd_tree_device_put needs one");
    if (block && !spmd__block_is_dense(block))
        return spmd_fail(SPMD_ERR_SHAPE, "host data has to be dense, this block is not");
    return SPMD_OK;
}

/* Local. Where leaf `index` goes. */
static spmd_status find_sharding(struct putting *putting, int index)
{
    const spmd_tree *leaf = putting->leaf[index], *spec = putting->spec[index];
    const char *text = spec->kind == TREE_NONE ? NULL : spec->value.pointer;
    spmd_mesh *mesh;
    TRY(mesh_of(putting, leaf, &mesh));
    if (spmd__tree_block(leaf) && !text)
        text = "P()";
    if (!mesh || !text)
        return SPMD_OK;
    TRY(spmd_sharding_create(mesh, text, &putting->sharding[index]));
    const spmd_block *block = spmd__tree_block(leaf);
    spmd_array *array = spmd__tree_array(leaf);
    if (array && !spmd__mesh_is_member(array->sharding->mesh))
        return SPMD_OK; /* its shape may not be known here */
    return spmd_sharding_check(putting->sharding[index],
                               block ? spmd_block_shape(block) : array->shape);
}

/* Local. Reads the specs, and finds where each leaf goes. */
static spmd_status plan(struct putting *putting, const char *specs)
{
    if (!putting->tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no tree to place, it is NULL");
    TRY(spmd__tree_parse_specs(specs, "specs", &putting->specs));
    putting->nleaves = spmd__tree_nleaves(putting->tree);
    size_t nleaves = (size_t)putting->nleaves;
    TRY(spmd__alloc(nleaves, sizeof *putting->leaf, &putting->leaf));
    TRY(spmd__alloc(nleaves, sizeof *putting->spec, &putting->spec));
    TRY(spmd__alloc(nleaves, sizeof *putting->sharding, &putting->sharding));
    TRY(spmd__tree_broadcast(putting->specs, "specs", putting->tree, "the tree", putting->spec));
    spmd__tree_flatten(putting->tree, putting->nleaves, putting->leaf);
    for (int k = 0; k < putting->nleaves; k++) {
        spmd_status status = find_sharding(putting, k);
        if (status != SPMD_OK)
            return spmd__tree_fail_leaf(status, "the tree", putting->tree, k);
    }
    return SPMD_OK;
}

/* Collective. The new leaf for an old one. */
static spmd_status put_leaf(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    const struct putting *putting = user;
    const spmd_sharding *sharding = putting->sharding[index];
    const spmd_block *block = spmd__tree_block(old);
    if (!sharding)
        return spmd__tree_copy(old, leaf);
    spmd_array *array = NULL;
    spmd_status status = block ? spmd_device_put(block->data, spmd_block_size(block), block->dtype,
                                                 spmd_block_shape(block), sharding, &array)
                               : spmd_reshard_to(spmd__tree_array(old), sharding, &array);
    if (status != SPMD_OK)
        return spmd__tree_fail_leaf(status, "the tree", putting->tree, index);
    status = spmd__tree_make_array(array, leaf);
    spmd_array_free(&array);
    return status;
}

/* The mesh of the first array in a tree; NULL: it has none. */
static spmd_mesh *mesh_in(const spmd_tree *tree)
{
    const spmd_array *array = spmd__tree_array(tree);
    spmd_mesh *mesh = array ? array->sharding->mesh : NULL;
    for (int i = 0; !mesh && i < tree->count; i++)
        mesh = mesh_in(tree->child[i]);
    return mesh;
}

/* A mesh whose ranks can agree: the one given, else the first array's. */
static spmd_mesh *some_mesh(const struct putting *putting)
{
    if (putting->mesh || !putting->tree)
        return putting->mesh;
    return mesh_in(putting->tree);
}

static void end(struct putting *putting)
{
    for (int k = 0; putting->sharding && k < putting->nleaves; k++)
        spmd_sharding_free(&putting->sharding[k]);
    free(putting->sharding);
    free(putting->spec);
    free(putting->leaf);
    spmd__tree_free(&putting->specs);
}

static spmd_status put_tree(struct putting *putting, const char *specs, spmd_tree **out)
{
    spmd_mesh *mesh = some_mesh(putting);
    spmd_status status = plan(putting, specs);
    if (status == SPMD_OK && !out)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new tree, it is NULL");
    if (mesh)
        status = spmd__tree_agree(mesh, status,
                                  status == SPMD_OK ? spmd__tree_digest(putting->tree) : 0);
    if (status == SPMD_OK)
        status = spmd__tree_unflatten(putting->tree, put_leaf, putting, out);
    end(putting);
    return status;
}

spmd_status spmd__tree_agree(spmd_mesh *mesh, spmd_status status, uint64_t digest)
{
    bool well = status == SPMD_OK;
    status = spmd__mesh_agree(mesh, status, digest);
    if (well && status == SPMD_ERR_DISAGREE) {
        char message[ERROR_MESSAGE_BYTES];
        snprintf(message, sizeof message, "trees: %s", spmd_error_message());
        return spmd__error_agreed(status, message, spmd_error_place(), spmd__error_is_speaker());
    }
    return status;
}

spmd_status spmd_tree_device_put(const spmd_tree *tree, spmd_mesh *mesh, const char *specs,
                                 spmd_tree **out)
{
    struct putting putting = {.tree = tree, .mesh = mesh};
    if (!mesh)
        return spmd_fail(SPMD_ERR_ARGUMENT, "device_put of a tree needs a mesh, this is NULL");
    return put_tree(&putting, specs, out);
}

spmd_status spmd_tree_reshard(const spmd_tree *tree, const char *specs, spmd_tree **out)
{
    return put_tree(&(struct putting){.tree = tree}, specs, out);
}
