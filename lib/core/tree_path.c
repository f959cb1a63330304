/* core/tree_path.c - the way to a node of a tree, as a text. */
#include "core/tree_path.h"

#include <string.h>

#include "core/cursor.h"

struct tree_step spmd__tree_step(const struct tree_step *up, const spmd_tree *parent, int index)
{
    return (struct tree_step){up, parent->key ? parent->key[index] : NULL, index};
}

void spmd__tree_path_plain(struct text *text, const struct tree_step *at)
{
    if (!at)
        return;
    spmd__tree_path_plain(text, at->up);
    if (at->up)
        spmd__text_add(text, "/");
    if (at->key)
        spmd__text_add(text, "%s", at->key);
    else
        spmd__text_add(text, "%d", at->index);
}

void spmd__tree_path_jax(struct text *text, const struct tree_step *at)
{
    if (!at)
        return;
    spmd__tree_path_jax(text, at->up);
    if (at->key)
        spmd__text_add(text, "['%s']", at->key);
    else
        spmd__text_add(text, "[%d]", at->index);
}

/* Writes the path of a leaf below `tree`, which stands at `at`. */
static void find_leaf(struct text *text, const spmd_tree *tree, const struct tree_step *at,
                      int index, tree_path_form *form)
{
    if (tree->kind == TREE_LEAF) {
        form(text, at);
        return;
    }
    for (int i = 0; i < tree->count; i++) {
        int leaves = spmd__tree_nleaves(tree->child[i]);
        if (index < leaves) {
            struct tree_step step = spmd__tree_step(at, tree, i);
            find_leaf(text, tree->child[i], &step, index, form);
            return;
        }
        index -= leaves;
    }
}

void spmd__tree_leaf_path(struct text *text, const spmd_tree *tree, int index, tree_path_form *form)
{
    find_leaf(text, tree, NULL, index, form);
}

static spmd_status check_bytes(const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)key[i];
        if (byte < ' ' || byte == 0x7f)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "the key of a tree has the control character %d in it: leave it out",
                             byte);
        if (strchr("/[]'\"\\", byte))
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "the key %.*s has %c in it, which paths are made of: name it without",
                             (int)length, key, byte);
    }
    return SPMD_OK;
}

spmd_status spmd__tree_check_key(const char *key, size_t length)
{
    if (length == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a key of a tree is empty: give it a name");
    if (length > TREE_MAX_KEY)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the key %.16s... has %zu bytes: at most %d", key,
                         length, TREE_MAX_KEY);
    if (strncmp(key, "..", length) == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "the key %.*s is a way to another place in a file: choose another name",
                         (int)length, key);
    return check_bytes(key, length);
}

/* A step of a path that is being read. */
struct step {
    bool is_key, is_index; /* both, if it is a number without brackets */
    char key[TREE_MAX_KEY + 1];
    int64_t index;
};

static spmd_status fail_path(const struct cursor *path, const char *expected)
{
    return spmd_fail(SPMD_ERR_SYNTAX,
                     "path \"%s\": expected %s at column %d, as in layer1/w/0 or "
                     "['layer1']['w'][0]",
                     path->start, expected, spmd__cursor_column(path));
}

static spmd_status set_key(struct step *step, const char *key, size_t length)
{
    TRY(spmd__tree_check_key(key, length));
    memcpy(step->key, key, length);
    step->key[length] = '\0';
    step->is_key = true;
    return SPMD_OK;
}

/* Digits alone, as JAX writes an index. */
static bool read_index(const char *digits, size_t length, int64_t *index)
{
    struct cursor cursor = {digits, digits};
    return length > 0 && strspn(digits, "0123456789") >= length &&
           spmd__cursor_number(&cursor, index);
}

/* What stands behind "[". */
static spmd_status read_bracket(struct cursor *path, struct step *step)
{
    char quote = *path->at;
    if (quote != '\'' && quote != '"') {
        size_t length = strcspn(path->at, "]");
        if (!read_index(path->at, length, &step->index))
            return fail_path(path, "an index or a key in quotes");
        step->is_index = true;
        path->at += length;
    } else {
        const char *key = path->at + 1, *end = strchr(key, quote);
        if (!end)
            return fail_path(path, "a closing quote");
        TRY(set_key(step, key, (size_t)(end - key)));
        path->at = end + 1;
    }
    if (*path->at != ']')
        return fail_path(path, "]");
    path->at++;
    return *path->at == '\0' || *path->at == '[' ? SPMD_OK : fail_path(path, "[");
}

static spmd_status read_plain(struct cursor *path, struct step *step)
{
    size_t length = strcspn(path->at, "/");
    if (length == 0)
        return fail_path(path, "a key or an index");
    TRY(set_key(step, path->at, length));
    step->is_index = read_index(step->key, length, &step->index);
    path->at += length;
    if (*path->at == '\0')
        return SPMD_OK;
    path->at++;
    return *path->at ? SPMD_OK : fail_path(path, "a key or an index");
}

/* The next step of a path that is not at its end. */
static spmd_status read_step(struct cursor *path, struct step *step)
{
    *step = (struct step){.index = -1};
    if (path->start[0] != '[')
        return read_plain(path, step);
    path->at++;
    return read_bracket(path, step);
}

/* The child that a step leads to; -1: none. */
static int child_of(const spmd_tree *node, const struct step *step)
{
    if (node->kind == TREE_DICT && step->is_key)
        return spmd__tree_find(node, step->key);
    if (node->kind == TREE_LIST && step->is_index && step->index >= 0 && step->index < node->count)
        return (int)step->index;
    return -1;
}

/* `from` is where in the path the step stands that leads nowhere. */
static spmd_status fail_missing(const char *path, const char *from, const spmd_tree *node)
{
    char buffer[512];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__tree_describe(&text, node);
    if (from == path)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no %s: the tree is %s", path, buffer);
    int length = (int)(from - path) - (*path != '[');
    return spmd_fail(SPMD_ERR_ARGUMENT, "there is no %s: %.*s is %s", path, length, path, buffer);
}

static spmd_status check_path(const spmd_tree *tree, const char *path)
{
    if (!tree || !path)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s",
                         tree ? "a path in a tree is NULL: \"\" is all"
                              : "there is no tree, it is NULL");
    return SPMD_OK;
}

spmd_status spmd__tree_at(const spmd_tree *tree, const char *path, const spmd_tree **node,
                          int *leaf)
{
    TRY(check_path(tree, path));
    const spmd_tree *at = tree;
    int before = 0;
    for (struct cursor cursor = {path, path}; *cursor.at;) {
        const char *from = cursor.at;
        struct step step;
        TRY(read_step(&cursor, &step));
        int child = child_of(at, &step);
        if (child < 0)
            return fail_missing(path, from, at);
        for (int i = 0; leaf && i < child; i++)
            before += spmd__tree_nleaves(at->child[i]);
        at = at->child[child];
    }
    *node = at;
    if (leaf)
        *leaf = before;
    return SPMD_OK;
}

/* A tree that has only *value, at the rest of a path: what a None there becomes. */
static spmd_status wrap(struct cursor *path, spmd_tree **value)
{
    if (*path->at == '\0')
        return SPMD_OK;
    struct step step;
    TRY(read_step(path, &step));
    bool is_list = step.is_index && (step.index == 0 || !step.is_key);
    if (is_list && step.index != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "path \"%s\": a new list begins with index 0, not %lld",
                         path->start, (long long)step.index);
    spmd_tree *node;
    TRY(wrap(path, value));
    TRY(spmd__tree_make(is_list ? TREE_LIST : TREE_DICT, &node));
    spmd_status status = spmd__tree_add(node, step.key, value);
    if (status == SPMD_OK)
        *value = node;
    else
        spmd__tree_free(&node);
    return status;
}

/* Puts *value at the rest of a path below `node`. */
static spmd_status put(spmd_tree *node, struct cursor *path, spmd_tree **value)
{
    const char *from = path->at;
    if (*from == '\0' || node->kind == TREE_NONE) {
        TRY(wrap(path, value));
        spmd__tree_replace(node, value);
        return SPMD_OK;
    }
    struct step step;
    TRY(read_step(path, &step));
    int child = child_of(node, &step);
    if (child >= 0)
        return put(node->child[child], path, value);
    bool grows = node->kind == TREE_DICT ? step.is_key
                                         : node->kind == TREE_LIST && step.index == node->count;
    if (!grows)
        return fail_missing(path->start, from, node);
    TRY(wrap(path, value));
    return spmd__tree_add(node, step.key, value);
}

/* How many levels a path leads down, at most. */
static int levels_of(const char *path)
{
    int levels = 0;
    for (const char *at = path; *at; at++)
        levels += *at == '/' || *at == '[';
    return levels + 1;
}

spmd_status spmd__tree_put(spmd_tree *tree, const char *path, spmd_tree **value)
{
    spmd_status status = check_path(tree, path);
    if (status == SPMD_OK && spmd__tree_depth(*value) + levels_of(path) > TREE_MAX_DEPTH)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "path \"%.64s\": a tree has at most %d levels", path,
                           TREE_MAX_DEPTH);
    if (status == SPMD_OK)
        status = put(tree, &(struct cursor){path, path}, value);
    spmd__tree_free(value);
    return status;
}
