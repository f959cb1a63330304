/* tree_path.c - fuzzes paths: each line of the input is one, and is set in a tree that grows. */
#include "core/tree_path.h"
#include "fuzz.h"

static spmd_tree *make_integer(int64_t integer)
{
    spmd_tree *leaf;
    HOLDS(spmd__tree_make_leaf(&spmd__leaf_integer, (union leaf){.integer = integer}, &leaf) ==
          SPMD_OK);
    return leaf;
}

/* What was set at a path stands there, and nowhere else. */
static void check_set(const spmd_tree *tree, const char *path, int64_t integer)
{
    const spmd_tree *node = NULL;
    int leaf = -1;
    char plain[4096], again[4096];
    HOLDS(spmd__tree_at(tree, path, &node, &leaf) == SPMD_OK);
    HOLDS(node->kind == TREE_LEAF && node->value.integer == integer);
    struct text text = spmd__text_begin(plain, sizeof plain);
    spmd__tree_leaf_path(&text, tree, leaf, spmd__tree_path_plain);
    HOLDS(text.length < sizeof plain);
    const spmd_tree *other = NULL;
    HOLDS(spmd__tree_at(tree, plain, &other, NULL) == SPMD_OK && other == node);
    text = spmd__text_begin(again, sizeof again);
    spmd__tree_leaf_path(&text, tree, leaf, spmd__tree_path_jax);
    HOLDS(spmd__tree_at(tree, again, &other, NULL) == SPMD_OK && other == node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    spmd_tree *tree;
    HOLDS(spmd__tree_make(TREE_NONE, &tree) == SPMD_OK);
    char *rest = text;
    for (int64_t line = 0; *rest && line < 100; line++) {
        char *path = rest;
        rest = fuzz_cut_line(path);
        int before = spmd__tree_nleaves(tree);
        spmd_tree *leaf = make_integer(line);
        spmd__error_clear();
        spmd_status status = spmd__tree_put(tree, path, &leaf);
        HOLDS(leaf == NULL && spmd__tree_depth(tree) <= TREE_MAX_DEPTH);
        HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_ARGUMENT);
        if (status == SPMD_OK)
            check_set(tree, path, line);
        else
            HOLDS(spmd_error_message()[0] != '\0' && spmd__tree_nleaves(tree) == before);
    }
    spmd__tree_free(&tree);
    free(text);
    return 0;
}
