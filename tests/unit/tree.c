/* tree.c - unit tests of trees without a mesh: integers stand for arrays. */
#include <stdio.h>

#include <spmd.h>

#include "unit.h"

static spmd_tree *new_tree(void)
{
    spmd_tree *tree = NULL;
    ASSERT_OK(spmd_tree_create(&tree));
    return tree;
}

/* A tree of integers, as a text of axes has it. */
static spmd_tree *tree_of(const char *text)
{
    spmd_tree *tree = NULL;
    ASSERT_OK(spmd_tree_parse_axes(text, &tree));
    return tree;
}

static void assert_format(const spmd_tree *tree, const char *wanted)
{
    char text[1024];
    ck_assert_int_eq(spmd_tree_format(text, sizeof text, tree), (int)strlen(wanted));
    ck_assert_str_eq(text, wanted);
}

/* The texts parse, and are written so. */
static void assert_specs(const char *text, const char *wanted)
{
    spmd_tree *tree = NULL;
    ASSERT_OK(spmd_tree_parse_specs(text, &tree));
    assert_format(tree, wanted);
    spmd_tree_free(&tree);
}

static void assert_axes(const char *text, const char *wanted)
{
    spmd_tree *tree = tree_of(text);
    assert_format(tree, wanted);
    spmd_tree_free(&tree);
}

START_TEST(a_tree_is_none_until_set)
{
    spmd_tree *tree = new_tree();
    ck_assert_int_eq(spmd_tree_kind_of(tree), SPMD_TREE_NONE);
    ck_assert_int_eq(spmd_tree_nleaves(tree), 0);
    ASSERT_OK(spmd_tree_set_integer(tree, "", 7));
    assert_format(tree, "7");
    ASSERT_OK(spmd_tree_set_none(tree, ""));
    assert_format(tree, "None");
    spmd_tree_free(&tree);
    ck_assert_ptr_null(tree);
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(set_makes_what_is_on_the_way)
{
    spmd_tree *tree = new_tree();
    ASSERT_OK(spmd_tree_set_integer(tree, "layer2/w", 3));
    ASSERT_OK(spmd_tree_set_integer(tree, "layer1/w", 2));
    ASSERT_OK(spmd_tree_set_integer(tree, "['layer1'][\"b\"]", 1));
    ASSERT_OK(spmd_tree_set_list(tree, "rest"));
    ASSERT_OK(spmd_tree_set_integer(tree, "rest/0", 4));
    assert_format(tree, "{layer1: {b: 1, w: 2}, layer2: {w: 3}, rest: [4]}");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(lists_begin_at_0_and_append)
{
    spmd_tree *tree = new_tree();
    ASSERT_OK(spmd_tree_set_integer(tree, "0/w", 1));
    ASSERT_OK(spmd_tree_set_integer(tree, "1", 2));
    ASSERT_OK(spmd_tree_set_integer(tree, "[2][0]['a']", 3));
    assert_format(tree, "[{w: 1}, 2, [{a: 3}]]");
    ASSERT_OK(spmd_tree_set_integer(tree, "1", 5));
    ASSERT_FAILS(spmd_tree_set_integer(tree, "4", 9), SPMD_ERR_ARGUMENT,
                 "there is no 4: the tree is a list of 3");
    ASSERT_FAILS(spmd_tree_set_integer(tree, "w", 9), SPMD_ERR_ARGUMENT, "there is no w");
    ASSERT_FAILS(spmd_tree_set_integer(tree, "2/0/b/[0]", 9), SPMD_ERR_ARGUMENT, "has [ in it");
    assert_format(tree, "[{w: 1}, 5, [{a: 3}]]");
    ASSERT_OK(spmd_tree_set_none(tree, ""));
    ASSERT_FAILS(spmd_tree_set_integer(tree, "[3]", 9), SPMD_ERR_ARGUMENT,
                 "a new list begins with index 0, not 3");
    ASSERT_OK(spmd_tree_set_integer(tree, "['0']", 9));
    assert_format(tree, "{0: 9}");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(set_replaces_and_copies)
{
    spmd_tree *tree = tree_of("{a: {b: 1, c: 2}, d: None}"), *other = tree_of("[3, 4]");
    ASSERT_OK(spmd_tree_set_tree(tree, "a/b", other));
    ASSERT_OK(spmd_tree_set_tree(tree, "d", tree));
    spmd_tree_free(&other);
    assert_format(tree, "{a: {b: [3, 4], c: 2}, d: {a: {b: [3, 4], c: 2}, d: None}}");
    ASSERT_OK(spmd_tree_set_dict(tree, "a"));
    ASSERT_OK(spmd_tree_set_list(tree, "d"));
    assert_format(tree, "{a: {}, d: []}");
    ASSERT_OK(spmd_tree_copy(tree, &other));
    ck_assert(spmd_tree_equal(tree, other));
    spmd_tree_free(&other);
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(a_leaf_in_the_way)
{
    spmd_tree *tree = tree_of("{a: {b: 1}}");
    ASSERT_FAILS(spmd_tree_set_integer(tree, "a/b/c", 2), SPMD_ERR_ARGUMENT,
                 "there is no a/b/c: a/b is an integer");
    ASSERT_FAILS(spmd_tree_set_integer(tree, "['a']['b']['c']", 2), SPMD_ERR_ARGUMENT,
                 "there is no ['a']['b']['c']: ['a']['b'] is an integer");
    assert_format(tree, "{a: {b: 1}}");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(keys_are_names_in_files)
{
    static const char *const bad[] = {"a//b",
                                      "/a",
                                      "a/",
                                      ".",
                                      "a/..",
                                      "it's",
                                      "a\nb",
                                      "a[0]",
                                      "['']",
                                      "['a/b']",
                                      "['a']b",
                                      "[",
                                      "['a'",
                                      "[1",
                                      "[-1]",
                                      "['a]",
                                      "a\\b",
                                      "[x]",
                                      "a\x7f"
                                      "b"};
    spmd_tree *tree = new_tree();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(spmd_tree_set_integer(tree, bad[i], 1) != SPMD_OK, "%s", bad[i]);
        ck_assert_int_eq(spmd_tree_kind_of(tree), SPMD_TREE_NONE);
    }
    ASSERT_OK(spmd_tree_set_integer(tree, "two words: {,}", 1));
    ASSERT_OK(spmd_tree_set_integer(tree, "k\xc3\xb6nig", 2));
    assert_format(tree, "{'k\xc3\xb6nig': 2, 'two words: {,}': 1}");
    char longest[300];
    memset(longest, 'k', sizeof longest);
    longest[256] = '\0';
    ASSERT_FAILS(spmd_tree_set_integer(tree, longest, 1), SPMD_ERR_ARGUMENT, "has 256 bytes");
    longest[255] = '\0';
    ASSERT_OK(spmd_tree_set_integer(tree, longest, 1));
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(a_tree_has_64_levels)
{
    char path[256] = "";
    spmd_tree *tree = new_tree();
    for (int level = 0; level < 62; level++)
        strcat(path, "a/");
    strcat(path, "b");
    ASSERT_OK(spmd_tree_set_integer(tree, path, 1));
    strcat(path, "/c/d");
    ASSERT_FAILS(spmd_tree_set_integer(tree, path, 1), SPMD_ERR_ARGUMENT, "at most 64 levels");
    ASSERT_FAILS(spmd_tree_set_tree(tree, "c/d", tree), SPMD_ERR_ARGUMENT, "at most 64 levels");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(get_finds_leaves_of_each_kind)
{
    double number = 2;
    spmd_block block = spmd_block_borrow(&number, SPMD_F64, SPMD_SCALAR);
    const spmd_block *found;
    const spmd_tree *node;
    const char *text;
    int64_t integer;
    spmd_key key;
    spmd_array *array;
    spmd_tree *tree = new_tree();
    ASSERT_OK(spmd_tree_set_block(tree, "x/block", &block));
    ASSERT_OK(spmd_tree_set_key(tree, "x/key", spmd_key_create(42)));
    ASSERT_OK(spmd_tree_set_text(tree, "x/text", "P(x)"));
    ASSERT_OK(spmd_tree_set_integer(tree, "x/integer", -3));
    ASSERT_OK(spmd_tree_get_block(tree, "x/block", &found));
    ck_assert_ptr_eq(found, &block);
    ASSERT_OK(spmd_tree_get_key(tree, "['x']['key']", &key));
    ck_assert_int_eq(key.word[1], 42);
    ASSERT_OK(spmd_tree_get_text(tree, "x/text", &text));
    ck_assert_str_eq(text, "P(x)");
    ASSERT_OK(spmd_tree_get_integer(tree, "x/integer", &integer));
    ASSERT_FAILS(spmd_tree_get_integer(tree, "x/integer", NULL), SPMD_ERR_ARGUMENT, "no place");
    ASSERT_FAILS(spmd_tree_get(tree, "x", NULL), SPMD_ERR_ARGUMENT, "no place");
    ck_assert_int_eq(integer, -3);
    ASSERT_FAILS(spmd_tree_get_array(tree, "x/key", &array), SPMD_ERR_ARGUMENT,
                 "x/key is a key, not an array");
    ASSERT_FAILS(spmd_tree_get_block(tree, "", &found), SPMD_ERR_ARGUMENT,
                 "the tree is a dict of x, not a block");
    ASSERT_FAILS(spmd_tree_get(tree, "x/y", &node), SPMD_ERR_ARGUMENT,
                 "there is no x/y: x is a dict of block, integer, key, text");
    ASSERT_OK(spmd_tree_get(tree, "x", &node));
    const char *name = NULL;
    ck_assert_int_eq(spmd_tree_count(node), 4);
    ck_assert_int_eq(spmd_tree_kind_of(spmd_tree_child(node, 2, &name)), SPMD_TREE_KEY);
    ck_assert_str_eq(name, "key");
    ck_assert_ptr_null(spmd_tree_child(node, 4, NULL));
    assert_format(tree, "{x: {block: block f64[], integer: -3, key: key(0,42), text: P(x)}}");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(leaves_are_in_order_of_keys)
{
    spmd_tree *tree = tree_of("{b: [1, None, {z: 2, a: 3}], a: 4, c: {}, B: 5}");
    const spmd_tree *leaves[4] = {NULL};
    char plain[5][32], jax[5][32], text[32];
    ck_assert_int_eq(spmd_tree_flatten(tree, 4, leaves), 5);
    for (int k = 0; k < 5; k++) {
        spmd_tree_path(plain[k], sizeof plain[k], tree, k);
        spmd_tree_keystr(jax[k], sizeof jax[k], tree, k);
    }
    ck_assert_str_eq(plain[0], "B");
    ck_assert_str_eq(plain[1], "a");
    ck_assert_str_eq(plain[2], "b/0");
    ck_assert_str_eq(plain[3], "b/2/a");
    ck_assert_str_eq(plain[4], "b/2/z");
    ck_assert_str_eq(jax[4], "['b'][2]['z']");
    spmd_tree_format(text, sizeof text, leaves[3]);
    ck_assert_str_eq(text, "3");
    ck_assert_int_eq(spmd_tree_path(text, sizeof text, tree, 5), -1);
    ck_assert_int_eq(spmd_tree_keystr(text, sizeof text, tree, -1), -1);
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(unflatten_puts_leaves_back)
{
    spmd_tree *tree = tree_of("{b: [1, None], a: 2, c: {}}"), *again = NULL;
    const spmd_tree *leaves[2];
    spmd_tree_flatten(tree, 2, leaves);
    const spmd_tree *const swapped[] = {leaves[1], tree};
    ASSERT_OK(spmd_tree_unflatten(tree, 2, swapped, &again));
    assert_format(again, "{a: 1, b: [{a: 2, b: [1, None], c: {}}, None], c: {}}");
    spmd_tree_free(&again);
    ASSERT_FAILS(spmd_tree_unflatten(tree, 1, leaves, &again), SPMD_ERR_ARGUMENT,
                 "1 leaves for a structure that has 2");
    ck_assert_ptr_null(again);
    spmd_tree_free(&tree);
}
END_TEST

static spmd_status add(const spmd_tree *const leaves[], const char *path, spmd_tree *result,
                       void *user)
{
    int64_t a, b;
    SPMD_TRY(spmd_tree_get_integer(leaves[0], "", &a));
    SPMD_TRY(spmd_tree_get_integer(leaves[1], "", &b));
    if (a + b == *(int64_t *)user)
        return spmd_fail(SPMD_ERR_BODY, "%s is wrong", path);
    return spmd_tree_set_integer(result, "", a + b);
}

START_TEST(map_calls_for_leaves_of_all_trees)
{
    spmd_tree *a = tree_of("{w: [1, 2], b: None}"), *b = tree_of("{w: [7, 8], b: None}");
    spmd_tree *sum = NULL, *other = tree_of("{w: [7], b: 0}");
    int64_t wrong = -1;
    ASSERT_OK(spmd_tree_map(2, (const spmd_tree *const[]){a, b}, add, &wrong, &sum));
    assert_format(sum, "{b: None, w: [8, 10]}");
    spmd_tree_free(&sum);
    wrong = 10;
    ASSERT_FAILS(spmd_tree_map(2, (const spmd_tree *const[]){a, b}, add, &wrong, &sum),
                 SPMD_ERR_BODY, "w/1 is wrong");
    ASSERT_FAILS(spmd_tree_map(2, (const spmd_tree *const[]){a, other}, add, &wrong, &sum),
                 SPMD_ERR_ARGUMENT, "tree 0 differs from tree 1, in 2 places: tree 0['b'] is None");
    ck_assert_ptr_null(sum);
    spmd_tree_free(&other);
    spmd_tree_free(&b);
    spmd_tree_free(&a);
}
END_TEST

static void assert_differ(const char *a_text, const char *b_text, const char *part)
{
    spmd_tree *a = tree_of(a_text), *b = tree_of(b_text);
    ck_assert(!spmd_tree_equal(a, b));
    ASSERT_FAILS(spmd_tree_compare(a, b), SPMD_ERR_ARGUMENT, part);
    spmd_tree_free(&b);
    spmd_tree_free(&a);
}

START_TEST(differences_are_all_told)
{
    assert_differ("0", "[0]", "a differs from b: a is an integer, b is a list of 1");
    assert_differ("None", "0", "a is None, b is an integer");
    assert_differ("[]", "{}", "a is a list of 0, b is an empty dict");
    assert_differ("{w: [0, 0]}", "{w: [0]}", "a['w'] is a list of 2, b['w'] is a list of 1");
    assert_differ("[{w: 0, b: 0}]", "[{w: 0, c: 0, d: 0}]",
                  "a[0] is a dict of b, w, b[0] is a dict of c, d, w: only a has b, only b has "
                  "c, d");
    assert_differ("{x: {p: 0}, y: [0], z: 0}", "{x: {q: 0}, y: 0, z: 0}", "in 2 places: a['x'] is");
    assert_differ("{x: {p: 0}, y: [0], z: 0}", "{x: {q: 0}, y: 0, z: 0}",
                  "; a['y'] is a list of 1, b['y'] is an integer");
    /* Also below nodes that differ themselves. */
    assert_differ("{w: [0], x: 0}", "{w: 0, y: 0}",
                  "in 2 places: a is a dict of w, x, b is a dict of w, y: only a has x, only b has "
                  "y; a['w'] is a list of 1, b['w'] is an integer");
    assert_differ("[0, [0], 0]", "[0, 0]", "; a[1] is a list of 1, b[1] is an integer");
    assert_differ("{}", "{a: 0, b: 0, c: 0, d: 0, e: 0, f: 0, g: 0, h: 0, i: 0, j: 0}",
                  "only b has a, b, c, d, e, f, g, h and 2 more");
}
END_TEST

START_TEST(a_prefix_covers_all_below)
{
    spmd_tree *tree = tree_of("{a: {w: 1, b: 2}, c: [3, None, 4]}"), *prefix = NULL;
    const spmd_tree *leaves[4];
    const char *text;
    ASSERT_OK(spmd_tree_parse_specs("{a: P(x), c: [None, None, P(y)]}", &prefix));
    ASSERT_OK(spmd_tree_broadcast(prefix, tree, leaves));
    for (int k = 0; k < 2; k++) {
        ASSERT_OK(spmd_tree_get_text(leaves[k], "", &text));
        ck_assert_str_eq(text, "P(x)");
    }
    ck_assert_int_eq(spmd_tree_kind_of(leaves[2]), SPMD_TREE_NONE);
    ASSERT_OK(spmd_tree_get_text(leaves[3], "", &text));
    ck_assert_str_eq(text, "P(y)");
    spmd_tree_free(&prefix);
    ASSERT_OK(spmd_tree_parse_specs("P(x)", &prefix));
    ASSERT_OK(spmd_tree_broadcast(prefix, tree, leaves));
    ck_assert(leaves[0] == prefix && leaves[3] == prefix);
    spmd_tree_free(&prefix);
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(no_prefix_is_told_by_path)
{
    spmd_tree *tree = tree_of("[{w: 1, b: 2}, 3]"), *prefix = NULL;
    const spmd_tree *leaves[3];
    ASSERT_OK(spmd_tree_parse_specs("[{w: P(x)}, [P(), P()]]", &prefix));
    ASSERT_FAILS(spmd_tree_broadcast(prefix, tree, leaves), SPMD_ERR_ARGUMENT,
                 "the prefix cannot be a prefix of the tree, in 2 places: the prefix[0] is a dict "
                 "of w, the tree[0] is a dict of b, w: only the tree has b (write None for what is "
                 "left out); the prefix[1] is a list of 2, the tree[1] is an integer");
    spmd_tree_free(&prefix);
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(specs_are_read_and_written)
{
    assert_specs("P(x)", "P(x)");
    assert_specs(" x, (y,z) ", "P(x, (y,z))");
    assert_specs("-", "P(-)");
    assert_specs("None", "None");
    assert_specs("None, x", "P(None, x)");
    assert_specs("{w: P(-,model), b: P()}", "{b: P(), w: P(-,model)}");
    assert_specs("[P(x), {w: P(), b: P()}, None]", "[P(x), {b: P(), w: P()}, None]");
    assert_specs("(PartitionSpec('x'), [],)", "[P('x'), []]");
    assert_specs("{'w': P(x, unreduced={y}:max), \"a b\": {}}",
                 "{'a b': {}, w: P(x, unreduced={y}:max)}");
}
END_TEST

START_TEST(axes_are_read_and_written)
{
    assert_axes("0", "0");
    assert_axes("-1", "-1");
    assert_axes("None", "None");
    assert_axes("(0, {'w': 0, b: None},)", "[0, {b: None, w: 0}]");
}
END_TEST

START_TEST(texts_that_do_not_parse)
{
    spmd_tree *tree = NULL;
    ASSERT_FAILS(spmd_tree_parse_specs("[P(x), y]", &tree), SPMD_ERR_SYNTAX,
                 "specs \"[P(x), y]\": expected a spec, None, [ or { at column 8, as in [P(x), ");
    ASSERT_FAILS(spmd_tree_parse_specs("[P(x) P(y)]", &tree), SPMD_ERR_SYNTAX,
                 "expected a comma or the end of the list at column 7");
    ASSERT_FAILS(spmd_tree_parse_specs("{w P(y)}", &tree), SPMD_ERR_SYNTAX,
                 "expected a colon at column 4");
    ASSERT_FAILS(spmd_tree_parse_specs("{w: P(x), w: P(y)}", &tree), SPMD_ERR_SYNTAX,
                 "expected another key than one that was there before at column 11");
    ASSERT_FAILS(spmd_tree_parse_specs("{'a/b': P()}", &tree), SPMD_ERR_ARGUMENT, "has / in it");
    ASSERT_FAILS(spmd_tree_parse_specs("[P((x)]", &tree), SPMD_ERR_SYNTAX, "column 4");
    ASSERT_FAILS(spmd_tree_parse_specs("x, (y", &tree), SPMD_ERR_SYNTAX,
                 "as many opening as closing brackets");
    ASSERT_FAILS(spmd_tree_parse_specs("P(x)]", &tree), SPMD_ERR_SYNTAX,
                 "expected the end of the text at column 5");
    ASSERT_FAILS(spmd_tree_parse_axes("[0, P(x)]", &tree), SPMD_ERR_SYNTAX,
                 "axes \"[0, P(x)]\": expected a dimension, None, [ or { at column 5");
    ASSERT_FAILS(spmd_tree_parse_axes("-1000", &tree), SPMD_ERR_SYNTAX,
                 "expected a dimension that arrays may have before what stands at column 6");
    ASSERT_FAILS(spmd_tree_parse_axes("[- 1]", &tree), SPMD_ERR_SYNTAX, "a number at column 3");
    ASSERT_FAILS(spmd_tree_parse_specs(NULL, &tree), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_parse_specs("P()", NULL), SPMD_ERR_ARGUMENT, "no place");
    ASSERT_FAILS(spmd_tree_parse_axes("0", NULL), SPMD_ERR_ARGUMENT, "no place");
    ASSERT_FAILS(spmd_tree_parse_axes(NULL, &tree), SPMD_ERR_ARGUMENT, "NULL");
    ck_assert_ptr_null(tree);
}
END_TEST

START_TEST(printed_with_a_line_a_leaf)
{
    char buffer[256] = "";
    FILE *stream = fmemopen(buffer, sizeof buffer, "w");
    spmd_tree *tree = tree_of("{layer1: {w: 1, bias: 2}, x: None, y: []}");
    ASSERT_OK(spmd_tree_print(tree, stream));
    ASSERT_OK(spmd_tree_set_integer(tree, "", 5));
    ASSERT_OK(spmd_tree_print(tree, stream));
    fclose(stream);
    ck_assert_str_eq(buffer, "layer1/bias  2\nlayer1/w     1\nx            None\n5\n");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(texts_are_printed_on_one_line)
{
    char buffer[256] = "";
    FILE *stream = fmemopen(buffer, sizeof buffer, "w");
    spmd_tree *tree = new_tree();
    ASSERT_OK(spmd_tree_set_text(tree, "note", "a\nb\tc \x1b[1m \x7f\xc3\xb6"));
    ASSERT_OK(spmd_tree_print(tree, stream));
    fclose(stream);
    ck_assert_str_eq(buffer, "note  a\\nb\\tc \\x1b[1m \\x7f\xc3\xb6\n");
    spmd_tree_free(&tree);
}
END_TEST

START_TEST(nothing_is_told)
{
    spmd_tree *tree = new_tree();
    const spmd_tree *node;
    ASSERT_FAILS(spmd_tree_create(NULL), SPMD_ERR_ARGUMENT, "no place");
    ASSERT_FAILS(spmd_tree_copy(NULL, &tree), SPMD_ERR_ARGUMENT, "a tree");
    ASSERT_FAILS(spmd_tree_set_array(tree, "a", NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_set_block(tree, "a", NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_set_text(tree, "a", NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_set_tree(tree, "a", NULL), SPMD_ERR_ARGUMENT, "a tree");
    ASSERT_FAILS(spmd_tree_set_integer(tree, NULL, 1), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_set_integer(NULL, "a", 1), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_get(NULL, "a", &node), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_compare(tree, NULL), SPMD_ERR_ARGUMENT, "NULL");
    ASSERT_FAILS(spmd_tree_broadcast(NULL, tree, &node), SPMD_ERR_ARGUMENT, "a prefix");
    ASSERT_FAILS(spmd_tree_unflatten(NULL, 0, NULL, &tree), SPMD_ERR_ARGUMENT, "a structure");
    ASSERT_FAILS(spmd_tree_map(0, NULL, add, NULL, &tree), SPMD_ERR_ARGUMENT, "needs trees");
    ASSERT_FAILS(spmd_tree_print(NULL, stdout), SPMD_ERR_ARGUMENT, "a tree");
    spmd_tree_free(&tree);
}
END_TEST

UNIT_MAIN("tree", a_tree_is_none_until_set, set_makes_what_is_on_the_way,
          lists_begin_at_0_and_append, set_replaces_and_copies, a_leaf_in_the_way,
          keys_are_names_in_files, a_tree_has_64_levels, get_finds_leaves_of_each_kind,
          leaves_are_in_order_of_keys, unflatten_puts_leaves_back,
          map_calls_for_leaves_of_all_trees, differences_are_all_told, a_prefix_covers_all_below,
          no_prefix_is_told_by_path, specs_are_read_and_written, axes_are_read_and_written,
          texts_that_do_not_parse, printed_with_a_line_a_leaf, texts_are_printed_on_one_line,
          nothing_is_told)
