/* array/tree_walk.c - trees leaf by leaf: in order, by path, put together again, compared, shown.
 */
#include <errno.h>
#include <stdlib.h>

#include "array/tree.h"
#include "core/mem.h"
#include "core/stream.h"
#include "core/tree_match.h"
#include "core/tree_path.h"
#include "core/tree_text.h"

int spmd_tree_nleaves(const spmd_tree *tree)
{
    return spmd__tree_nleaves(tree);
}

int spmd_tree_flatten(const spmd_tree *tree, int capacity, const spmd_tree *leaves[])
{
    return spmd__tree_flatten(tree, capacity, leaves);
}

static int format_path(char *buffer, size_t size, const spmd_tree *tree, int index,
                       tree_path_form *form)
{
    if (index < 0 || index >= spmd__tree_nleaves(tree))
        return -1;
    struct text text = spmd__text_begin(buffer, size);
    spmd__tree_leaf_path(&text, tree, index, form);
    return (int)text.length;
}

int spmd_tree_path(char *buffer, size_t size, const spmd_tree *tree, int index)
{
    return format_path(buffer, size, tree, index, spmd__tree_path_plain);
}

int spmd_tree_keystr(char *buffer, size_t size, const spmd_tree *tree, int index)
{
    return format_path(buffer, size, tree, index, spmd__tree_path_jax);
}

spmd_status spmd__tree_fail_leaf(spmd_status status, const char *name, const spmd_tree *tree,
                                 int index)
{
    char path[512];
    spmd_tree_keystr(path, sizeof path, tree, index);
    return spmd_fail(status, "%s%s: %s", name, path, spmd_error_message());
}

static spmd_status check_leaves(const spmd_tree *structure, int count, const void *leaves,
                                spmd_tree *const *tree)
{
    if (!structure || !tree || (count > 0 && !leaves))
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "unflatten needs a structure, its leaves and a place for the tree");
    int wanted = spmd__tree_nleaves(structure);
    if (count != wanted)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%d leaves for a structure that has %d", count, wanted);
    return SPMD_OK;
}

static spmd_status copy_nth(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    const spmd_tree *const *leaves = user;
    (void)old;
    if (!leaves[index])
        return spmd_fail(SPMD_ERR_ARGUMENT, "leaf %d for a tree is NULL", index);
    return spmd__tree_copy(leaves[index], leaf);
}

spmd_status spmd_tree_unflatten(const spmd_tree *structure, int count,
                                const spmd_tree *const leaves[], spmd_tree **tree)
{
    TRY(check_leaves(structure, count, leaves, tree));
    return spmd__tree_unflatten(structure, copy_nth, (void *)leaves, tree);
}

static spmd_status hold_nth(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    spmd_array *const *arrays = user;
    (void)old;
    return spmd__tree_make_array(arrays[index], leaf);
}

spmd_status spmd_tree_unflatten_arrays(const spmd_tree *structure, int count,
                                       spmd_array *const arrays[], spmd_tree **tree)
{
    TRY(check_leaves(structure, count, arrays, tree));
    return spmd__tree_unflatten(structure, hold_nth, (void *)arrays, tree);
}

/* A map over trees of one structure. */
struct mapping {
    int ntrees;
    int nleaves;
    const spmd_tree **leaves; /* [ntrees][nleaves] */
    const spmd_tree **row;    /* [ntrees] those of one path */
    const spmd_tree *first;
    spmd_tree_fn *fn;
    void *user;
};

static spmd_status map_leaf(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    struct mapping *mapping = user;
    (void)old;
    for (int t = 0; t < mapping->ntrees; t++)
        mapping->row[t] = mapping->leaves[t * mapping->nleaves + index];
    size_t length = (size_t)spmd_tree_path(NULL, 0, mapping->first, index);
    char *path;
    spmd_tree *result = NULL;
    TRY(spmd__alloc(length + 1, 1, &path));
    spmd_tree_path(path, length + 1, mapping->first, index);
    spmd_status status = spmd_tree_create(&result);
    if (status == SPMD_OK)
        status = mapping->fn(mapping->row, path, result, mapping->user);
    free(path);
    if (status == SPMD_OK)
        *leaf = result;
    else
        spmd__tree_free(&result);
    return status;
}

static spmd_status check_trees(int ntrees, const spmd_tree *const trees[], spmd_tree_fn *fn,
                               spmd_tree *const *result)
{
    if (ntrees < 1 || !trees || !fn || !result)
        return spmd_fail(
            SPMD_ERR_ARGUMENT,
            "a map needs trees, a function of their leaves, and a place for the result");
    for (int t = 0; t < ntrees; t++) {
        if (!trees[t])
            return spmd_fail(SPMD_ERR_ARGUMENT, "tree %d of a map is NULL", t);
        char name[32];
        snprintf(name, sizeof name, "tree %d", t);
        TRY(spmd__tree_compare(trees[0], "tree 0", trees[t], name));
    }
    return SPMD_OK;
}

spmd_status spmd_tree_map(int ntrees, const spmd_tree *const trees[], spmd_tree_fn *fn, void *user,
                          spmd_tree **result)
{
    TRY(check_trees(ntrees, trees, fn, result));
    struct mapping mapping = {ntrees, spmd__tree_nleaves(trees[0]), .first = trees[0], .fn = fn,
                              .user = user};
    size_t rows = (size_t)mapping.nleaves + 1; /* one more for a row of one leaf each */
    TRY(spmd__alloc(rows * (size_t)ntrees, sizeof(spmd_tree *), &mapping.leaves));
    mapping.row = mapping.leaves + (size_t)mapping.nleaves * (size_t)ntrees;
    for (int t = 0; t < ntrees; t++)
        spmd__tree_flatten(trees[t], mapping.nleaves, mapping.leaves + t * mapping.nleaves);
    spmd_status status = spmd__tree_unflatten(trees[0], map_leaf, &mapping, result);
    free(mapping.leaves);
    return status;
}

bool spmd_tree_equal(const spmd_tree *a, const spmd_tree *b)
{
    return spmd_tree_compare(a, b) == SPMD_OK;
}

spmd_status spmd_tree_compare(const spmd_tree *a, const spmd_tree *b)
{
    if (!a || !b)
        return spmd_fail(SPMD_ERR_ARGUMENT, "two trees to compare, and one is NULL");
    return spmd__tree_compare(a, "a", b, "b");
}

spmd_status spmd_tree_broadcast(const spmd_tree *prefix, const spmd_tree *tree,
                                const spmd_tree *leaves[])
{
    if (!prefix || !tree || !leaves)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "a broadcast needs a prefix, a tree, and a place for each of its leaves");
    return spmd__tree_broadcast(prefix, "the prefix", tree, "the tree", leaves);
}

spmd_status spmd_tree_parse_specs(const char *text, spmd_tree **tree)
{
    return spmd__tree_parse_specs(text, "specs", tree);
}

spmd_status spmd_tree_parse_axes(const char *text, spmd_tree **tree)
{
    return spmd__tree_parse_axes(text, "axes", tree);
}

int spmd_tree_format(char *buffer, size_t size, const spmd_tree *tree)
{
    struct text text = spmd__text_begin(buffer, size);
    spmd__tree_print(&text, tree);
    return (int)text.length;
}

/* Calls `visit` for each leaf and each None below `tree`. */
typedef void visit_line(const spmd_tree *node, const struct tree_step *at, void *user);

static void each_line(const spmd_tree *tree, const struct tree_step *at, visit_line *visit,
                      void *user)
{
    if (tree->kind == TREE_LEAF || tree->kind == TREE_NONE)
        visit(tree, at, user);
    for (int i = 0; i < tree->count; i++) {
        struct tree_step step = spmd__tree_step(at, tree, i);
        each_line(tree->child[i], &step, visit, user);
    }
}

static void widen(const spmd_tree *node, const struct tree_step *at, void *user)
{
    size_t *width = user;
    struct text text = spmd__text_begin(NULL, 0);
    (void)node;
    spmd__tree_path_plain(&text, at);
    *width = text.length > *width ? text.length : *width;
}

/* What the lines of a tree are printed with. */
struct printing {
    FILE *stream;
    size_t width; /* of the widest path */
    char *path;   /* [width + 1] */
};

static void print_line(const spmd_tree *node, const struct tree_step *at, void *user)
{
    struct printing *printing = user;
    char value[1024];
    struct text text = spmd__text_begin(printing->path, printing->width + 1);
    spmd__tree_path_plain(&text, at);
    spmd_tree_format(value, sizeof value, node);
    if (printing->width > 0)
        fprintf(printing->stream, "%-*s  ", (int)printing->width, printing->path);
    spmd__stream_plain(printing->stream, value);
    fputc('\n', printing->stream);
}

spmd_status spmd_tree_print(const spmd_tree *tree, FILE *stream)
{
    struct printing printing = {.stream = stream};
    if (!tree || !stream)
        return spmd_fail(SPMD_ERR_ARGUMENT, "to print a tree needs a tree and a stream");
    each_line(tree, NULL, widen, &printing.width);
    TRY(spmd__alloc(printing.width + 1, 1, &printing.path));
    errno = 0;
    each_line(tree, NULL, print_line, &printing);
    free(printing.path);
    return spmd__stream_finish(stream, "a tree");
}
