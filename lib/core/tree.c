/* core/tree.c - the nodes of trees: made, copied, taken apart and put together again. */
#include "core/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"

static spmd_status hold_text(union leaf *value)
{
    char *copy = strdup(value->pointer);
    if (!copy)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a tree's text");
    value->pointer = copy;
    return SPMD_OK;
}

static void release_text(union leaf *value)
{
    free(value->pointer);
}

static void print_text(struct text *text, const union leaf *value)
{
    spmd__text_add(text, "%s", (const char *)value->pointer);
}

static void print_integer(struct text *text, const union leaf *value)
{
    spmd__text_add(text, "%lld", (long long)value->integer);
}

static void print_key(struct text *text, const union leaf *value)
{
    spmd__text_add(text, "key(%u,%u)", (unsigned)value->key.word[0], (unsigned)value->key.word[1]);
}

const struct leaf_kind spmd__leaf_text = {"a text", hold_text, release_text, print_text};
const struct leaf_kind spmd__leaf_integer = {"an integer", NULL, NULL, print_integer};
const struct leaf_kind spmd__leaf_key = {"a key", NULL, NULL, print_key};

spmd_status spmd__tree_make(enum tree_kind kind, spmd_tree **tree)
{
    spmd_tree *made;
    TRY(spmd__alloc(1, sizeof *made, &made));
    made->kind = kind;
    *tree = made;
    return SPMD_OK;
}

spmd_status spmd__tree_make_leaf(const struct leaf_kind *kind, union leaf value, spmd_tree **tree)
{
    spmd_tree *made;
    spmd_status status = spmd__tree_make(TREE_LEAF, &made);
    if (status != SPMD_OK) {
        if (kind->release)
            kind->release(&value);
        return status;
    }
    made->leaf = kind;
    made->value = value;
    *tree = made;
    return SPMD_OK;
}

/* Frees what a node has, but not the node. */
static void clear(spmd_tree *tree)
{
    if (tree->kind == TREE_LEAF && tree->leaf->release)
        tree->leaf->release(&tree->value);
    for (int i = 0; i < tree->count; i++) {
        if (tree->key)
            free(tree->key[i]);
        spmd__tree_free(&tree->child[i]);
    }
    free(tree->key);
    free(tree->child);
}

void spmd__tree_free(spmd_tree **handle)
{
    spmd_tree *tree = *handle;
    *handle = NULL;
    if (!tree)
        return;
    clear(tree);
    free(tree);
}

void spmd__tree_replace(spmd_tree *to, spmd_tree **from)
{
    spmd_tree *shell = *from;
    *from = NULL;
    clear(to);
    *to = *shell;
    free(shell);
}

/* Room for one more child. */
static spmd_status reserve(spmd_tree *parent)
{
    if (parent->count < parent->capacity)
        return SPMD_OK;
    int capacity = parent->capacity ? 2 * parent->capacity : 4;
    spmd_tree **child = realloc(parent->child, (size_t)capacity * sizeof(spmd_tree *));
    if (child)
        parent->child = child;
    char **key = NULL;
    if (child && parent->kind == TREE_DICT)
        key = realloc(parent->key, (size_t)capacity * sizeof(char *));
    if (key)
        parent->key = key;
    if (!child || (parent->kind == TREE_DICT && !key))
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a tree's node of %d", capacity);
    parent->capacity = capacity;
    return SPMD_OK;
}

/* The number of the first child whose key is not below `key`. */
static int lower_bound(const spmd_tree *dict, const char *key)
{
    int lo = 0, hi = dict->count;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (strcmp(dict->key[middle], key) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

int spmd__tree_find(const spmd_tree *dict, const char *key)
{
    int at = lower_bound(dict, key);
    return at < dict->count && strcmp(dict->key[at], key) == 0 ? at : -1;
}

static void insert(spmd_tree *dict, char *key, spmd_tree *child)
{
    int at = lower_bound(dict, key);
    size_t behind = (size_t)(dict->count - at);
    memmove(dict->key + at + 1, dict->key + at, behind * sizeof *dict->key);
    memmove(dict->child + at + 1, dict->child + at, behind * sizeof *dict->child);
    dict->key[at] = key;
    dict->child[at] = child;
    dict->count++;
}

static spmd_status add(spmd_tree *parent, const char *key, spmd_tree *child)
{
    TRY(reserve(parent));
    if (parent->kind == TREE_LIST) {
        parent->child[parent->count++] = child;
        return SPMD_OK;
    }
    char *copy = strdup(key);
    if (!copy)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a tree's key");
    insert(parent, copy, child);
    return SPMD_OK;
}

spmd_status spmd__tree_add(spmd_tree *parent, const char *key, spmd_tree **child)
{
    spmd_status status = add(parent, key, *child);
    if (status == SPMD_OK)
        *child = NULL;
    else
        spmd__tree_free(child);
    return status;
}

int spmd__tree_depth(const spmd_tree *tree)
{
    int deepest = 0;
    for (int i = 0; i < tree->count; i++) {
        int depth = spmd__tree_depth(tree->child[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

int spmd__tree_nleaves(const spmd_tree *tree)
{
    return spmd__tree_flatten(tree, 0, NULL);
}

int spmd__tree_flatten(const spmd_tree *tree, int capacity, const spmd_tree *leaves[])
{
    int count = 0;
    if (tree->kind == TREE_LEAF) {
        if (capacity > 0)
            leaves[0] = tree;
        return 1;
    }
    for (int i = 0; i < tree->count; i++) {
        int left = capacity > count ? capacity - count : 0;
        count += spmd__tree_flatten(tree->child[i], left, left ? leaves + count : NULL);
    }
    return count;
}

/* A tree being built after the structure of another one. */
struct building {
    tree_make_leaf *make;
    void *user;
    int leaves; /* so far */
};

static spmd_status build(const spmd_tree *structure, struct building *building, spmd_tree **tree)
{
    if (structure->kind == TREE_LEAF)
        return building->make(structure, building->leaves++, building->user, tree);
    spmd_tree *made;
    TRY(spmd__tree_make(structure->kind, &made));
    spmd_status status = SPMD_OK;
    for (int i = 0; status == SPMD_OK && i < structure->count; i++) {
        spmd_tree *child;
        status = build(structure->child[i], building, &child);
        if (status == SPMD_OK)
            status = spmd__tree_add(made, structure->key ? structure->key[i] : NULL, &child);
    }
    if (status == SPMD_OK)
        *tree = made;
    else
        spmd__tree_free(&made);
    return status;
}

spmd_status spmd__tree_unflatten(const spmd_tree *structure, tree_make_leaf *make, void *user,
                                 spmd_tree **tree)
{
    struct building building = {make, user, 0};
    return build(structure, &building, tree);
}

static spmd_status copy_leaf(const spmd_tree *old, int index, void *user, spmd_tree **leaf)
{
    (void)index, (void)user;
    union leaf value = old->value;
    if (old->leaf->hold)
        TRY(old->leaf->hold(&value));
    return spmd__tree_make_leaf(old->leaf, value, leaf);
}

spmd_status spmd__tree_copy(const spmd_tree *tree, spmd_tree **copy)
{
    return spmd__tree_unflatten(tree, copy_leaf, NULL, copy);
}

uint64_t spmd__tree_digest(const spmd_tree *tree)
{
    const int node[] = {tree->kind, tree->count};
    uint64_t hash = spmd__hash(0, node, sizeof node);
    for (int i = 0; i < tree->count; i++) {
        uint64_t child = spmd__tree_digest(tree->child[i]);
        if (tree->key)
            hash = spmd__hash(hash, tree->key[i], strlen(tree->key[i]));
        hash = spmd__hash(hash, &child, sizeof child);
    }
    return hash;
}

enum { KEYS_LISTED = 8 };

void spmd__tree_list_key(struct text *text, int nth, const char *key)
{
    if (nth < KEYS_LISTED)
        spmd__text_add(text, "%s%s", nth ? ", " : "", key);
}

void spmd__tree_list_end(struct text *text, int count)
{
    if (count > KEYS_LISTED)
        spmd__text_add(text, " and %d more", count - KEYS_LISTED);
}

void spmd__tree_describe(struct text *text, const spmd_tree *tree)
{
    switch (tree->kind) {
    case TREE_NONE:
        spmd__text_add(text, "None");
        return;
    case TREE_LEAF:
        spmd__text_add(text, "%s", tree->leaf->what);
        return;
    case TREE_LIST:
        spmd__text_add(text, "a list of %d", tree->count);
        return;
    case TREE_DICT:
        spmd__text_add(text, tree->count ? "a dict of " : "an empty dict");
        for (int i = 0; i < tree->count; i++)
            spmd__tree_list_key(text, i, tree->key[i]);
        spmd__tree_list_end(text, tree->count);
        return;
    }
}
