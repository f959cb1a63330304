/* io/survey.c - what lies below a name in a file, as a tree.
 *
 * Foreign files have links that lead nowhere, up again, or from many places to one: a walk that
 * follows them has to end. */
#include "io/survey.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "io/cause.h"
#include "io/kind.h"
#include "io/members.h"
#include "io/missing.h"
#include "io/object.h"

enum { MOST_LEAVES = 1 << 20 };

/* The leaves are told apart for messages alone. */
static const struct leaf_kind stored_array = {.what = "an array"};
static const struct leaf_kind stored_key = {.what = "a key"};
static const struct leaf_kind stored_text = {.what = "a text"};
static const struct leaf_kind stored_integer = {.what = "an integer"};

static const struct leaf_kind *leaf_kind_of(spmd_tree_kind kind)
{
    return kind == SPMD_TREE_KEY       ? &stored_key
           : kind == SPMD_TREE_TEXT    ? &stored_text
           : kind == SPMD_TREE_INTEGER ? &stored_integer
                                       : &stored_array;
}

const struct stored *spmd__survey_leaf(const struct survey *survey, const spmd_tree *node)
{
    return node->kind == TREE_LEAF ? &survey->stored[node->value.integer] : NULL;
}

void spmd__survey_free(struct survey *survey)
{
    for (int i = 0; i < survey->count; i++)
        free(survey->stored[i].problem);
    free(survey->stored);
    spmd__tree_free(&survey->tree);
}

spmd_status spmd__survey_child_name(const char *name, const spmd_tree *node, int index,
                                    char **child)
{
    char number[16];
    const char *last = number;
    if (node->key)
        last = node->key[index];
    else
        snprintf(number, sizeof number, "%d", index);
    return spmd__member_name(name, last, child);
}

static spmd_status grow(struct survey *survey)
{
    if (survey->count < survey->capacity)
        return SPMD_OK;
    int capacity = survey->capacity > 0 ? 2 * survey->capacity : 16;
    struct stored *more = realloc(survey->stored, (size_t)capacity * sizeof *more);
    if (!more)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a list of %d datasets", capacity);
    survey->stored = more;
    survey->capacity = capacity;
    return SPMD_OK;
}

/* A walk, and the groups that it is in. */
struct above {
    const struct above *up;
    int depth;
    unsigned long file; /* HDF5's number of it */
    haddr_t address;
};

struct walk {
    const spmd_file *file;
    struct survey *survey;
};

/* Takes over what is in `stored`. */
static spmd_status add_leaf(struct walk *walk, struct stored stored, spmd_tree **leaf)
{
    struct survey *survey = walk->survey;
    spmd_status status = grow(survey);
    if (status == SPMD_OK && survey->count == MOST_LEAVES)
        status = spmd_fail(SPMD_ERR_FILE, "%s: leads to more than %d datasets: read parts of it",
                           walk->file->path, MOST_LEAVES);
    if (status != SPMD_OK) {
        free(stored.problem);
        return status;
    }
    survey->stored[survey->count] = stored;
    return spmd__tree_make_leaf(leaf_kind_of(stored.kind), (union leaf){.integer = survey->count++},
                                leaf);
}

/* A leaf for what the last failure was about; other kinds of failure end the walk. */
static spmd_status add_problem(struct walk *walk, spmd_status status, spmd_tree **leaf)
{
    if (status != SPMD_ERR_FILE)
        return status;
    struct stored stored = {.kind = SPMD_TREE_ARRAY, .problem = strdup(spmd_error_message())};
    if (!stored.problem)
        return spmd_fail(SPMD_ERR_MEMORY, "%s: out of memory", walk->file->path);
    return add_leaf(walk, stored, leaf);
}

/* A mark that does not fit is no reason to read what is there as something else. */
static spmd_status check_marked(const struct walk *walk, const char *name,
                                const struct stored *stored)
{
    const struct description *about = &stored->about;
    bool fits = stored->kind == SPMD_TREE_KEY
                    ? about->dtype == SPMD_U32 && spmd_shape_equal(about->shape, SPMD_SHAPE(2))
                : stored->kind == SPMD_TREE_INTEGER
                    ? about->dtype == SPMD_I64 && about->shape.ndim == 0
                    : true;
    if (!fits)
        return spmd_fail(SPMD_ERR_FILE, "%s: dataset \"%s\" is marked as %s, but does not hold one",
                         walk->file->path, name, leaf_kind_of(stored->kind)->what);
    return SPMD_OK;
}

static spmd_status look_at_dataset(const struct walk *walk, const char *name, hid_t dataset,
                                   struct stored *stored)
{
    TRY(spmd__kind_read(walk->file, name, dataset, &stored->kind));
    if (stored->kind == SPMD_TREE_TEXT)
        return SPMD_OK;
    TRY(spmd__dataset_describe(walk->file, name, dataset, &stored->about));
    return check_marked(walk, name, stored);
}

static spmd_status survey_dataset(struct walk *walk, const char *name, hid_t dataset,
                                  spmd_tree **leaf)
{
    struct stored stored = {.kind = SPMD_TREE_ARRAY};
    spmd_status status = look_at_dataset(walk, name, dataset, &stored);
    return status == SPMD_OK ? add_leaf(walk, stored, leaf) : add_problem(walk, status, leaf);
}

static spmd_status fail_kind(const spmd_file *file, const char *name)
{
    return spmd_fail(SPMD_ERR_FILE, "%s: \"%s\" is neither a group nor a dataset", file->path,
                     name);
}

static spmd_status survey_object(struct walk *walk, const char *name, hid_t object,
                                 const struct above *up, spmd_tree **tree);

/* In a list each member has its place, whatever it is. */
static spmd_status survey_member(struct walk *walk, const char *group, const char *member,
                                 bool is_listed, const struct above *up, spmd_tree **tree)
{
    char *name = NULL;
    TRY(spmd__member_name(group, member, &name));
    hid_t object = H5Oopen(walk->file->id, name, H5P_DEFAULT);
    spmd_status status;
    if (object < 0) {
        status = spmd_fail(SPMD_ERR_FILE, "%s: \"%s\" cannot be opened: %s", walk->file->path, name,
                           spmd__io_cause().text);
        status = add_problem(walk, status, tree);
    } else {
        status = survey_object(walk, name, object, up, tree);
        H5Oclose(object);
        if (status == SPMD_OK && !*tree && is_listed)
            status = add_problem(walk, fail_kind(walk->file, name), tree);
    }
    free(name);
    return status;
}

static spmd_status survey_members(struct walk *walk, const char *group,
                                  const struct members *members, const struct above *here,
                                  spmd_tree *node)
{
    for (int i = 0; i < members->count; i++) {
        spmd_tree *child = NULL;
        TRY(survey_member(walk, group, members->name[i], node->kind == TREE_LIST, here, &child));
        if (child)
            TRY(spmd__tree_add(node, members->name[i], &child));
    }
    return SPMD_OK;
}

static spmd_status make_group(struct walk *walk, const char *name, spmd_tree_kind kind,
                              struct members *members, const struct above *here, spmd_tree **tree)
{
    spmd_tree *node = NULL;
    TRY(spmd__tree_make(kind == SPMD_TREE_NONE   ? TREE_NONE
                        : kind == SPMD_TREE_LIST ? TREE_LIST
                                                 : TREE_DICT,
                        &node));
    spmd_status status = survey_members(walk, name, members, here, node);
    if (status == SPMD_OK)
        *tree = node;
    else
        spmd__tree_free(&node);
    return status;
}

/* Brings the members of a list into its order. */
static spmd_status check_members(const struct walk *walk, const char *name, spmd_tree_kind kind,
                                 struct members *members)
{
    if (kind == SPMD_TREE_LIST && !spmd__members_number(members))
        return spmd_fail(SPMD_ERR_FILE,
                         "%s: group \"%s\" is marked as a list, but its members are not 0, 1, ...",
                         walk->file->path, name);
    if (kind == SPMD_TREE_NONE && members->count > 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: group \"%s\" is marked as None, but has \"%s\"",
                         walk->file->path, name, members->name[0]);
    return SPMD_OK;
}

/* Where the walk is, one level further down. */
static spmd_status enter_group(const struct walk *walk, const char *name, hid_t group,
                               const struct above *up, struct above *here)
{
    H5O_info_t info;
    if (H5Oget_info2(group, &info, H5O_INFO_BASIC) < 0)
        return spmd_fail(SPMD_ERR_FILE, "%s: group \"%s\" cannot be read: %s", walk->file->path,
                         name, spmd__io_cause().text);
    *here = (struct above){up, up ? up->depth + 1 : 1, info.fileno, info.addr};
    if (here->depth >= TREE_MAX_DEPTH)
        return spmd_fail(SPMD_ERR_FILE, "%s: group \"%.64s...\" is on level %d: a tree has %d",
                         walk->file->path, name, here->depth, TREE_MAX_DEPTH);
    for (; up; up = up->up)
        if (up->file == here->file && up->address == here->address)
            return spmd_fail(SPMD_ERR_FILE, "%s: group \"%s\" is a link to a group above it",
                             walk->file->path, name);
    return SPMD_OK;
}

static spmd_status survey_group(struct walk *walk, const char *name, hid_t group,
                                const struct above *up, spmd_tree **tree)
{
    struct above here;
    spmd_tree_kind kind = SPMD_TREE_DICT;
    struct members members = {0};
    spmd_status status = enter_group(walk, name, group, up, &here);
    if (status == SPMD_OK)
        status = spmd__kind_read(walk->file, name, group, &kind);
    if (status == SPMD_OK)
        status = spmd__members_list(walk->file, name, group, &members);
    if (status == SPMD_OK)
        status = check_members(walk, name, kind, &members);
    status = status == SPMD_OK ? make_group(walk, name, kind, &members, &here, tree)
                               : add_problem(walk, status, tree);
    spmd__members_free(&members);
    return status;
}

/* Gives no tree for what is no data, as a named type. */
static spmd_status survey_object(struct walk *walk, const char *name, hid_t object,
                                 const struct above *up, spmd_tree **tree)
{
    switch (H5Iget_type(object)) {
    case H5I_GROUP:
        return survey_group(walk, name, object, up, tree);
    case H5I_DATASET:
        return survey_dataset(walk, name, object, tree);
    default:
        return SPMD_OK;
    }
}

spmd_status spmd__survey_make(const spmd_file *file, const char *name, struct survey *survey)
{
    hid_t object;
    TRY(spmd__object_open(file, name, &object));
    if (object < 0)
        return spmd__missing_object(file, name);
    *survey = (struct survey){0};
    struct walk walk = {file, survey};
    spmd_status status = survey_object(&walk, name, object, NULL, &survey->tree);
    H5Oclose(object);
    if (status == SPMD_OK && !survey->tree)
        status = fail_kind(file, name);
    if (status != SPMD_OK)
        spmd__survey_free(survey);
    return status;
}
