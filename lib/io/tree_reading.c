/* io/tree_reading.c - what is the same in all ways to read a tree. */
#include "io/tree_reading.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree_path.h"
#include "io/cause.h"

spmd_status spmd__tree_reading_begin(struct tree_reading *reading, const char *name,
                                     spmd_tree *const *tree)
{
    if (!tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new tree, it is NULL");
    TRY(spmd__tree_name(name, &reading->name));
    return spmd__file_check_old(reading->file);
}

/* A leaf stands for all below. */
static const spmd_tree *asked_of_child(const spmd_tree *asked, int index)
{
    return asked->kind == TREE_LEAF ? asked : asked->child[index];
}

static spmd_status check_leaf(const struct tree_reading *reading, const char *name,
                              const spmd_tree *asked, const struct stored *stored)
{
    if (stored->problem)
        return spmd_fail(SPMD_ERR_FILE, "%s", stored->problem);
    return reading->check ? reading->check(reading, name, asked, stored) : SPMD_OK;
}

/* Keys of other programs may be none of ours. */
static spmd_status check_key(const struct tree_reading *reading, const char *name,
                             const spmd_tree *node, int index)
{
    if (!node->key)
        return SPMD_OK;
    spmd_status status = spmd__tree_check_key(node->key[index], strlen(node->key[index]));
    if (status == SPMD_OK)
        return SPMD_OK;
    return spmd__io_refine(SPMD_ERR_FILE, "%s: \"%s\" cannot be read as a tree",
                           reading->file->path, name);
}

/* Local. Finds out before anything is read whether all can be. */
static spmd_status check(const struct tree_reading *reading, const char *name,
                         const spmd_tree *asked, const spmd_tree *node)
{
    if (asked->kind == TREE_NONE)
        return SPMD_OK;
    const struct stored *stored = spmd__survey_leaf(&reading->survey, node);
    if (stored)
        return check_leaf(reading, name, asked, stored);
    for (int i = 0; i < node->count; i++) {
        char *child = NULL;
        TRY(check_key(reading, name, node, i));
        TRY(spmd__survey_child_name(name, node, i, &child));
        spmd_status status = check(reading, child, asked_of_child(asked, i), node->child[i]);
        free(child);
        TRY(status);
    }
    return SPMD_OK;
}

static spmd_status read_node(const struct tree_reading *reading, const char *name,
                             const spmd_tree *asked, const spmd_tree *node, spmd_tree **tree);

static spmd_status read_children(const struct tree_reading *reading, const char *name,
                                 const spmd_tree *asked, const spmd_tree *node, spmd_tree *parent)
{
    for (int i = 0; i < node->count; i++) {
        char *child_name = NULL;
        spmd_tree *child = NULL;
        TRY(spmd__survey_child_name(name, node, i, &child_name));
        spmd_status status =
            read_node(reading, child_name, asked_of_child(asked, i), node->child[i], &child);
        free(child_name);
        TRY(status);
        TRY(spmd__tree_add(parent, node->key ? node->key[i] : NULL, &child));
    }
    return SPMD_OK;
}

/* Collective. */
static spmd_status read_node(const struct tree_reading *reading, const char *name,
                             const spmd_tree *asked, const spmd_tree *node, spmd_tree **tree)
{
    const struct stored *stored = spmd__survey_leaf(&reading->survey, node);
    if (stored && asked->kind == TREE_LEAF)
        return reading->read(reading, name, asked, stored, tree);
    if (asked->kind == TREE_NONE)
        return spmd__tree_make(TREE_NONE, tree);
    spmd_tree *made = NULL;
    TRY(spmd__tree_make(node->kind, &made));
    spmd_status status = read_children(reading, name, asked, node, made);
    if (status == SPMD_OK)
        *tree = made;
    else
        spmd__tree_free(&made);
    return status;
}

/* "model.h5:params", "model.h5" */
static spmd_status match(const struct tree_reading *reading)
{
    char what[256];
    bool is_file = strcmp(reading->name, "/") == 0;
    snprintf(what, sizeof what, "%s%s%s", reading->file->path, is_file ? "" : ":",
             is_file ? "" : reading->name);
    return reading->match(reading, what);
}

/* Local. */
static spmd_status plan(struct tree_reading *reading)
{
    TRY(spmd__survey_make(reading->file, reading->name, &reading->survey));
    TRY(match(reading));
    return check(reading, reading->name, reading->asked, reading->survey.tree);
}

spmd_status spmd__tree_reading_run(struct tree_reading *reading, spmd_tree **tree)
{
    spmd_status status;
    QUIETLY(status = plan(reading));
    status = spmd__mesh_agree(reading->file->mesh, status,
                              status == SPMD_OK ? spmd__tree_digest(reading->survey.tree) : 0);
    if (status == SPMD_OK)
        status = read_node(reading, reading->name, reading->asked, reading->survey.tree, tree);
    spmd__survey_free(&reading->survey);
    return status;
}
