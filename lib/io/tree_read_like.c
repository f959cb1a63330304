/* io/tree_read_like.c - trees from files: structure, types, shapes and shardings are those of a
 * tree that there is. */
#include "array/array.h"
#include "array/tree.h"
#include "core/hash.h"
#include "core/tree_match.h"
#include "io/leaf.h"
#include "io/tree_reading.h"
#include "io/types.h"

/* What a leaf of `like` wants of a dataset. */
static struct description wish_of(const spmd_tree *like)
{
    const spmd_array *array = spmd__tree_array(like);
    const spmd_block *block = spmd__tree_block(like);
    if (array)
        return (struct description){array->dtype, array->shape};
    if (block)
        return (struct description){block->dtype, spmd_block_shape(block)};
    if (like->leaf == &spmd__leaf_key)
        return (struct description){SPMD_U32, SPMD_SHAPE(2)};
    return (struct description){SPMD_I64, SPMD_SCALAR};
}

static bool fits(const spmd_tree *like, const spmd_tree *leaf, void *user)
{
    const struct stored *stored = spmd__survey_leaf(user, leaf);
    bool is_text = stored->kind == SPMD_TREE_TEXT, wants_text = like->leaf == &spmd__leaf_text;
    if (stored->problem || is_text || wants_text)
        return stored->problem || is_text == wants_text;
    if (like->leaf == &spmd__leaf_key)
        return stored->about.dtype == SPMD_U32 && stored->about.shape.ndim == 1 &&
               stored->about.shape.dim[0] == 2;
    if (like->leaf == &spmd__leaf_integer)
        return spmd__type_is_integer(stored->about.dtype) && stored->about.shape.ndim == 0;
    return true;
}

static spmd_status match_like(const struct tree_reading *reading, const char *what)
{
    return spmd__tree_fit(reading->asked, "like", reading->survey.tree, what, fits,
                          (void *)&reading->survey);
}

static spmd_status fail_shape(const struct tree_reading *reading, const char *name,
                              const struct description *stored, const struct description *wish,
                              const char *reason)
{
    char types[2][256];
    struct text is = spmd__text_begin(types[0], sizeof types[0]);
    struct text wanted = spmd__text_begin(types[1], sizeof types[1]);
    spmd__type_print(&is, stored->dtype, stored->shape);
    spmd__type_print(&wanted, wish->dtype, wish->shape);
    return spmd_fail(SPMD_ERR_SHAPE, "%s: dataset \"%s\" is %s, and %s is wanted: %s",
                     reading->file->path, name, types[0], types[1], reason);
}

static spmd_status check_shape(const struct tree_reading *reading, const char *name,
                               const struct description *stored, const struct description *wish)
{
    bool larger = false, smaller = stored->shape.ndim != wish->shape.ndim;
    for (int d = 0; !smaller && d < wish->shape.ndim; d++) {
        larger = larger || wish->shape.dim[d] > stored->shape.dim[d];
        smaller = wish->shape.dim[d] < stored->shape.dim[d];
    }
    if (smaller)
        return fail_shape(reading, name, stored, wish, "it has no place there");
    if (larger && !reading->pad)
        return fail_shape(reading, name, stored, wish, "with `pad` zeros are put behind it");
    return SPMD_OK;
}

static spmd_status check_leaf(const struct tree_reading *reading, const char *name,
                              const spmd_tree *like, const struct stored *stored)
{
    if (stored->kind == SPMD_TREE_TEXT)
        return SPMD_OK;
    struct description wish = wish_of(like);
    if (!spmd__type_converts(stored->about.dtype, wish.dtype))
        return spmd_fail(SPMD_ERR_DTYPE, "%s: dataset \"%s\" is %s; that is not converted to %s",
                         reading->file->path, name, spmd_dtype_name(stored->about.dtype),
                         spmd_dtype_name(wish.dtype));
    return check_shape(reading, name, &stored->about, &wish);
}

static spmd_status read_leaf(const struct tree_reading *reading, const char *name,
                             const spmd_tree *like, const struct stored *stored, spmd_tree **leaf)
{
    const spmd_array *array = spmd__tree_array(like);
    const spmd_block *block = spmd__tree_block(like);
    if (array)
        return spmd__leaf_read_array_like(reading->file, name, stored->about.shape, array, leaf);
    if (block)
        return spmd__leaf_read_block_like(reading->file, name, stored->about.shape, block, leaf);
    if (stored->kind == SPMD_TREE_TEXT)
        return spmd__leaf_read_text(reading->file, name, leaf);
    if (like->leaf == &spmd__leaf_key)
        return spmd__leaf_read_key(reading->file, name, leaf);
    return spmd__leaf_read_integer(reading->file, name, leaf);
}

spmd_status spmd_tree_read_like(spmd_file *file, const char *name, const spmd_tree *like,
                                const spmd_tree_read_options *options, spmd_tree **tree)
{
    TRY(spmd__file_check(file, __func__, name));
    struct tree_reading reading = {.file = file,
                                   .asked = like,
                                   .match = match_like,
                                   .check = check_leaf,
                                   .read = read_leaf,
                                   .pad = options && options->pad};
    spmd_status status = spmd__tree_reading_begin(&reading, name, tree);
    if (status == SPMD_OK)
        status = spmd__tree_check_data(file, like, "like");
    if (!spmd__mesh_is_member(file->mesh))
        return status == SPMD_OK ? spmd_tree_copy(like, tree) : status;
    const uint64_t pad = reading.pad;
    uint64_t digest = spmd__hash(spmd__hash_text(0, name), &pad, sizeof pad);
    TRY(spmd__file_enter(file, __func__, status, digest));
    TRY(spmd__tree_agree(file->mesh, SPMD_OK, spmd__tree_digest_leaves(like)));
    return spmd__tree_reading_run(&reading, tree);
}
