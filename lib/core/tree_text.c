/* core/tree_text.c - trees as texts, read and written. */
#include "core/tree_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/cursor.h"
#include "core/tree_path.h"

/* A text of a tree being read, and what its leaves look like. */
struct reader {
    struct cursor cursor;
    const char *what; /* "specs", for messages */
    const char *leaf;
    const char *example;
    spmd_status (*read_leaf)(struct reader *reader, spmd_tree **tree);
    int depth;
};

static spmd_status fail_syntax(const struct reader *reader, const char *expected)
{
    return spmd_fail(SPMD_ERR_SYNTAX, "%s \"%s\": expected %s at column %d, as in %s", reader->what,
                     reader->cursor.start, expected, spmd__cursor_column(&reader->cursor),
                     reader->example);
}

/* The length of what stands before the bracket that closes one left open; of all, if there is
 * none. */
static size_t balanced(const char *at)
{
    size_t length = 0;
    for (int open = 0; at[length]; length++) {
        open += strchr("([{", at[length]) != NULL;
        if (strchr(")]}", at[length]) && --open < 0)
            break;
    }
    return length;
}

static bool is_balanced(const char *at)
{
    int open = 0;
    for (const char *end = at + balanced(at); at < end; at++)
        open += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
    return open == 0 && *at == '\0';
}

/* Makes the leaf "P(entries)". */
static spmd_status make_spec(const char *entries, size_t length, spmd_tree **tree)
{
    char *spec = malloc(length + sizeof "P()");
    if (!spec)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a spec of %zu bytes", length);
    memcpy(spec, "P(", 2);
    memcpy(spec + 2, entries, length);
    memcpy(spec + 2 + length, ")", 2);
    return spmd__tree_make_leaf(&spmd__leaf_text, (union leaf){.pointer = spec}, tree);
}

/* Takes "P(" or "PartitionSpec(". */
static bool take_head(struct cursor *cursor)
{
    struct cursor ahead = *cursor;
    const char *name;
    size_t length = spmd__cursor_name(&ahead, &name);
    bool known = (length == 1 && *name == 'P') ||
                 (length == strlen("PartitionSpec") && strncmp(name, "PartitionSpec", length) == 0);
    if (!known || !spmd__cursor_take(&ahead, "("))
        return false;
    *cursor = ahead;
    return true;
}

static spmd_status read_spec(struct reader *reader, spmd_tree **tree)
{
    struct cursor *cursor = &reader->cursor;
    if (!take_head(cursor))
        return fail_syntax(reader, reader->leaf);
    const char *entries = cursor->at;
    size_t length = balanced(entries);
    if (entries[length] != ')')
        return fail_syntax(reader, "the ) of this spec after what stands");
    cursor->at += length + 1;
    return make_spec(entries, length, tree);
}

static spmd_status read_axis(struct reader *reader, spmd_tree **tree)
{
    bool negative = spmd__cursor_take(&reader->cursor, "-");
    int64_t axis;
    if (!isdigit((unsigned char)*reader->cursor.at) && negative)
        return fail_syntax(reader, "a number");
    if (!spmd__cursor_number(&reader->cursor, &axis))
        return fail_syntax(reader, reader->leaf);
    if (axis > SPMD_MAX_DIMS)
        return fail_syntax(reader, "a dimension that arrays may have before what stands");
    return spmd__tree_make_leaf(&spmd__leaf_integer,
                                (union leaf){.integer = negative ? -axis : axis}, tree);
}

static spmd_status read_tree(struct reader *reader, spmd_tree **tree);

/* Reads a child, and puts it into its parent. */
static spmd_status read_child(struct reader *reader, spmd_tree *parent, const char *key)
{
    spmd_tree *child;
    TRY(read_tree(reader, &child));
    return spmd__tree_add(parent, key, &child);
}

/* A key that may stand without quotes is of these bytes. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_-.", at[length])))
        length++;
    return length;
}

static spmd_status read_key(struct reader *reader, const spmd_tree *dict,
                            char key[TREE_MAX_KEY + 1])
{
    struct cursor *cursor = &reader->cursor;
    const char *quote = spmd__cursor_take(cursor, "'")    ? "'"
                        : spmd__cursor_take(cursor, "\"") ? "\""
                                                          : "";
    const char *at = cursor->at;
    size_t length = *quote ? strcspn(at, quote) : word_length(at);
    if (*quote && at[length] == '\0')
        return fail_syntax(reader, "a key and its closing quote");
    if (!*quote && length == 0)
        return fail_syntax(reader, "a key or }");
    spmd_status status = spmd__tree_check_key(at, length);
    if (status != SPMD_OK)
        return spmd_fail(status, "%s \"%s\": %s", reader->what, cursor->start,
                         spmd_error_message());
    memcpy(key, at, length);
    key[length] = '\0';
    if (spmd__tree_find(dict, key) >= 0)
        return fail_syntax(reader, "another key than one that was there before");
    cursor->at += length + strlen(quote);
    return spmd__cursor_take(cursor, ":") ? SPMD_OK : fail_syntax(reader, "a colon");
}

/* The entries of a list or a dict up to `close`. */
static spmd_status read_entries(struct reader *reader, spmd_tree *node, const char *close)
{
    char key[TREE_MAX_KEY + 1];
    while (!spmd__cursor_take(&reader->cursor, close)) {
        if (node->kind == TREE_DICT)
            TRY(read_key(reader, node, key));
        TRY(read_child(reader, node, key));
        if (!spmd__cursor_take(&reader->cursor, ",")) {
            if (!spmd__cursor_take(&reader->cursor, close))
                return fail_syntax(reader, *close == '}' ? "a comma or }"
                                                         : "a comma or the end of "
                                                           "the list");
            break;
        }
    }
    return SPMD_OK;
}

static spmd_status read_node(struct reader *reader, enum tree_kind kind, const char *close,
                             spmd_tree **tree)
{
    spmd_tree *node;
    if (reader->depth == TREE_MAX_DEPTH - 1)
        return fail_syntax(reader, "a tree of fewer levels");
    TRY(spmd__tree_make(kind, &node));
    reader->depth++;
    spmd_status status = read_entries(reader, node, close);
    reader->depth--;
    if (status == SPMD_OK)
        *tree = node;
    else
        spmd__tree_free(&node);
    return status;
}

/* Takes the word None. */
static bool take_none(struct cursor *cursor)
{
    struct cursor ahead = *cursor;
    const char *name;
    if (spmd__cursor_name(&ahead, &name) != 4 || strncmp(name, "None", 4) != 0)
        return false;
    *cursor = ahead;
    return true;
}

static spmd_status read_tree(struct reader *reader, spmd_tree **tree)
{
    struct cursor *cursor = &reader->cursor;
    if (spmd__cursor_take(cursor, "["))
        return read_node(reader, TREE_LIST, "]", tree);
    if (spmd__cursor_take(cursor, "("))
        return read_node(reader, TREE_LIST, ")", tree);
    if (spmd__cursor_take(cursor, "{"))
        return read_node(reader, TREE_DICT, "}", tree);
    if (take_none(cursor))
        return spmd__tree_make(TREE_NONE, tree);
    return reader->read_leaf(reader, tree);
}

static spmd_status read_all(struct reader *reader, spmd_tree **tree)
{
    spmd_tree *made;
    TRY(read_tree(reader, &made));
    if (!spmd__cursor_at_end(&reader->cursor)) {
        spmd__tree_free(&made);
        return fail_syntax(reader, "the end of the text");
    }
    *tree = made;
    return SPMD_OK;
}

/* Whether a text is one spec without P( ): its first word says. */
static bool is_bare(struct cursor cursor)
{
    if (spmd__cursor_at_end(&cursor) || strchr("[({", *cursor.at) || take_head(&cursor))
        return false;
    return !take_none(&cursor) || !spmd__cursor_at_end(&cursor);
}

static spmd_status read_bare(struct reader *reader, spmd_tree **tree)
{
    struct cursor *cursor = &reader->cursor;
    (void)spmd__cursor_at_end(cursor); /* skips blanks */
    if (!is_balanced(cursor->at))
        return fail_syntax(reader, "as many opening as closing brackets");
    size_t length = strlen(cursor->at);
    while (isspace((unsigned char)cursor->at[length - 1]))
        length--;
    return make_spec(cursor->at, length, tree);
}

spmd_status spmd__tree_parse_specs(const char *text, const char *what, spmd_tree **tree)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read %s from, it is NULL", what);
    if (!tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new tree, it is NULL");
    struct reader reader = {.cursor = {text, text},
                            .what = what,
                            .leaf = "a spec, None, [ or {",
                            .example = "[P(x), {w: P(-,y), b: P()}, None]",
                            .read_leaf = read_spec};
    return is_bare(reader.cursor) ? read_bare(&reader, tree) : read_all(&reader, tree);
}

spmd_status spmd__tree_parse_axes(const char *text, const char *what, spmd_tree **tree)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read %s from, it is NULL", what);
    if (!tree)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new tree, it is NULL");
    struct reader reader = {.cursor = {text, text},
                            .what = what,
                            .leaf = "a dimension, None, [ or {",
                            .example = "[0, {w: -1, b: None}]",
                            .read_leaf = read_axis};
    return read_all(&reader, tree);
}

static void print_key(struct text *text, const char *key)
{
    const char *quote = word_length(key) == strlen(key) ? "" : "'";
    spmd__text_add(text, "%s%s%s: ", quote, key, quote);
}

void spmd__tree_print(struct text *text, const spmd_tree *tree)
{
    if (tree->kind == TREE_NONE) {
        spmd__text_add(text, "None");
        return;
    }
    if (tree->kind == TREE_LEAF) {
        tree->leaf->print(text, &tree->value);
        return;
    }
    spmd__text_add(text, tree->kind == TREE_LIST ? "[" : "{");
    for (int i = 0; i < tree->count; i++) {
        spmd__text_add(text, i ? ", " : "");
        if (tree->key)
            print_key(text, tree->key[i]);
        spmd__tree_print(text, tree->child[i]);
    }
    spmd__text_add(text, tree->kind == TREE_LIST ? "]" : "}");
}
