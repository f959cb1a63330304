/* io/leaf.c - datasets as new leaves of a tree. */
#include "io/leaf.h"

#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "array/tree.h"
#include "core/block.h"
#include "core/mem.h"
#include "io/pad.h"
#include "io/text.h"

/* Gives the hold on `array` to a new leaf. */
static spmd_status make_array(spmd_array *array, spmd_tree **leaf)
{
    spmd_status status = spmd__tree_make_array(array, leaf);
    spmd_array_free(&array);
    return status;
}

spmd_status spmd__leaf_read_array(spmd_file *file, const char *name, const char *spec,
                                  spmd_tree **leaf)
{
    spmd_array *array = NULL;
    TRY(spmd_dataset_read(file, name, spec, SPMD_DTYPE_NONE, &array));
    return make_array(array, leaf);
}

spmd_status spmd__leaf_read_array_like(spmd_file *file, const char *name, spmd_shape stored,
                                       const spmd_array *like, spmd_tree **leaf)
{
    spmd_array *array = NULL;
    TRY(spmd__pad_read(file, name, stored, like->sharding, like->dtype, like->shape, &array));
    return make_array(array, leaf);
}

/* Reads the whole on every rank. */
static spmd_status read_whole(spmd_file *file, const char *name, spmd_shape stored,
                              spmd_dtype dtype, spmd_shape shape, spmd_array **array)
{
    spmd_sharding *everywhere = NULL;
    TRY(spmd_sharding_create(file->mesh, "P()", &everywhere));
    spmd_status status = spmd__pad_read(file, name, stored, everywhere, dtype, shape, array);
    spmd_sharding_free(&everywhere);
    return status;
}

/* Local. A block with data of its own. */
static spmd_status copy_block(const spmd_block *block, spmd_tree **leaf)
{
    spmd_block borrowed = spmd_block_borrow(block->data, block->dtype, spmd_block_shape(block));
    union leaf value = {.pointer = &borrowed};
    TRY(spmd__leaf_own_block.hold(&value));
    return spmd__tree_make_leaf(&spmd__leaf_own_block, value, leaf);
}

spmd_status spmd__leaf_read_block_like(spmd_file *file, const char *name, spmd_shape stored,
                                       const spmd_block *like, spmd_tree **leaf)
{
    spmd_array *array = NULL;
    spmd_tree *made = NULL;
    TRY(read_whole(file, name, stored, like->dtype, spmd_block_shape(like), &array));
    spmd_status status = copy_block(&array->block, &made);
    spmd_array_free(&array);
    status = spmd__mesh_agree(file->mesh, status, 0);
    if (status == SPMD_OK)
        *leaf = made;
    else
        spmd__tree_free(&made);
    return status;
}

spmd_status spmd__leaf_read_key(spmd_file *file, const char *name, spmd_tree **leaf)
{
    spmd_array *array = NULL;
    union leaf value = {0};
    TRY(spmd_dataset_read(file, name, "P()", SPMD_U32, &array));
    memcpy(value.key.word, array->block.data, sizeof value.key.word);
    spmd_array_free(&array);
    return spmd__tree_make_leaf(&spmd__leaf_key, value, leaf);
}

spmd_status spmd__leaf_read_integer(spmd_file *file, const char *name, spmd_tree **leaf)
{
    spmd_array *array = NULL;
    union leaf value = {0};
    TRY(spmd_dataset_read(file, name, "P()", SPMD_I64, &array));
    memcpy(&value.integer, array->block.data, sizeof value.integer);
    spmd_array_free(&array);
    return spmd__tree_make_leaf(&spmd__leaf_integer, value, leaf);
}

spmd_status spmd__leaf_read_text(const spmd_file *file, const char *name, spmd_tree **leaf)
{
    char *text = NULL;
    TRY(spmd__text_read(file, name, &text));
    return spmd__tree_make_leaf(&spmd__leaf_text, (union leaf){.pointer = text}, leaf);
}
