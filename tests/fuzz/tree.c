/* tree.c - fuzzes texts of trees: of axes, if the input begins with a newline, else of specs. */
#include "core/tree_text.h"
#include "core/tree_match.h"
#include "core/tree_path.h"
#include "fuzz.h"

typedef spmd_status parse_tree(const char *text, const char *what, spmd_tree **tree);

static char *print(const spmd_tree *tree)
{
    struct text length = spmd__text_begin(NULL, 0);
    spmd__tree_print(&length, tree);
    char *buffer = malloc(length.length + 1);
    HOLDS(buffer);
    struct text text = spmd__text_begin(buffer, length.length + 1);
    spmd__tree_print(&text, tree);
    HOLDS(text.length == length.length && strlen(buffer) == text.length);
    return buffer;
}

/* The canonical text reads back as the same tree, and is its own. */
static void check_print(const spmd_tree *tree, parse_tree *parse)
{
    char *printed = print(tree);
    spmd_tree *again;
    HOLDS(FUZZ_PARSE(&again, parse(printed, "tree", &again)) == SPMD_OK);
    HOLDS(spmd__tree_compare(tree, "a", again, "b") == SPMD_OK);
    HOLDS(spmd__tree_digest(tree) == spmd__tree_digest(again));
    char *reprinted = print(again);
    HOLDS(strcmp(printed, reprinted) == 0);
    spmd__tree_free(&again);
    free(reprinted);
    free(printed);
}

/* Each leaf is found by either form of its path, as the number that it has. */
static void check_leaf(const spmd_tree *tree, int index, const spmd_tree *leaf,
                       tree_path_form *form)
{
    char path[8192];
    struct text text = spmd__text_begin(path, sizeof path);
    spmd__tree_leaf_path(&text, tree, index, form);
    const spmd_tree *found = NULL;
    int number = -1;
    if (text.length >= sizeof path)
        return;
    HOLDS(spmd__tree_at(tree, path, &found, &number) == SPMD_OK);
    HOLDS(found == leaf && number == index);
}

static void check_leaves(const spmd_tree *tree)
{
    int count = spmd__tree_nleaves(tree);
    const spmd_tree **leaves = calloc((size_t)count + 1, sizeof *leaves);
    HOLDS(leaves && spmd__tree_flatten(tree, count, leaves) == count);
    for (int k = 0; k < count && k < 64; k++) {
        check_leaf(tree, k, leaves[k], spmd__tree_path_plain);
        check_leaf(tree, k, leaves[k], spmd__tree_path_jax);
    }
    const spmd_tree **own = calloc((size_t)count + 1, sizeof *own);
    HOLDS(own && spmd__tree_broadcast(tree, "a", tree, "b", own) == SPMD_OK);
    HOLDS(memcmp(own, leaves, (size_t)count * sizeof *own) == 0);
    free(own);
    free(leaves);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    bool axes = text[0] == '\n';
    parse_tree *parse = axes ? spmd__tree_parse_axes : spmd__tree_parse_specs;
    spmd_tree *tree;
    spmd_status status = FUZZ_PARSE(&tree, parse(text + axes, "tree", &tree));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_ARGUMENT);
    if (status == SPMD_OK) {
        HOLDS(spmd__tree_depth(tree) <= TREE_MAX_DEPTH);
        check_print(tree, parse);
        check_leaves(tree);
        spmd__tree_free(&tree);
    }
    free(text);
    return 0;
}
