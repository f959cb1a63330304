/* core/tree_match.c - whether two trees fit each other, and a report of all places where not. */
#include "core/tree_match.h"

#include <string.h>

#include "core/tree_path.h"

/* Two trees on a common walk. */
struct match {
    const char *a_name, *b_name;
    const char *relation; /* that does not hold: "differs from" */
    bool none_covers;     /* a None of the first one stands for all below, */
    bool leaf_covers;     /* and so does a leaf */
    tree_leaf_fits *fits; /* NULL: any leaf fits any other */
    void *user;
    const spmd_tree **leaves; /* of the first one, for each of the second; NULL: nobody asks */
    int count;                /* leaves so far */
    int mismatches;
    struct text report;
};

/* "params['layer1'] is a dict of b, w" */
static void report_node(struct match *match, const char *name, const struct tree_step *at,
                        const spmd_tree *node)
{
    spmd__text_add(&match->report, "%s", name);
    spmd__tree_path_jax(&match->report, at);
    spmd__text_add(&match->report, " is ");
    spmd__tree_describe(&match->report, node);
}

static void report_nodes(struct match *match, const struct tree_step *at, const spmd_tree *a,
                         const spmd_tree *b)
{
    match->mismatches++;
    spmd__text_add(&match->report, "; ");
    report_node(match, match->a_name, at, a);
    spmd__text_add(&match->report, ", ");
    report_node(match, match->b_name, at, b);
}

/* The keys that the first of two dicts has alone; false, and nothing, if it has none. */
static bool report_own_keys(struct match *match, const char *separator, const char *name,
                            const spmd_tree *dict, const spmd_tree *other)
{
    int count = 0;
    for (int i = 0; i < dict->count; i++) {
        if (spmd__tree_find(other, dict->key[i]) >= 0)
            continue;
        if (count == 0)
            spmd__text_add(&match->report, "%sonly %s has ", separator, name);
        spmd__tree_list_key(&match->report, count++, dict->key[i]);
    }
    spmd__tree_list_end(&match->report, count);
    return count > 0;
}

static bool has_same_keys(const spmd_tree *a, const spmd_tree *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && a->key && i < a->count; i++)
        same = strcmp(a->key[i], b->key[i]) == 0;
    return same;
}

static void walk(struct match *match, const struct tree_step *at, const spmd_tree *a,
                 const spmd_tree *b);

/* The child of `b` that stands where child `index` of `a` does; -1: there is none. */
static int counterpart(const spmd_tree *a, int index, const spmd_tree *b)
{
    if (a->kind == TREE_DICT)
        return spmd__tree_find(b, a->key[index]);
    return index < b->count ? index : -1;
}

/* Two lists, or two dicts: the children that both have. */
static void walk_children(struct match *match, const struct tree_step *at, const spmd_tree *a,
                          const spmd_tree *b)
{
    for (int i = 0; i < a->count; i++) {
        int other = counterpart(a, i, b);
        struct tree_step step = spmd__tree_step(at, a, i);
        if (other >= 0)
            walk(match, &step, a->child[i], b->child[other]);
    }
}

static void report_children(struct match *match, const struct tree_step *at, const spmd_tree *a,
                            const spmd_tree *b)
{
    report_nodes(match, at, a, b);
    if (a->kind != TREE_DICT)
        return;
    bool too_many = report_own_keys(match, ": ", match->a_name, a, b);
    bool too_few = report_own_keys(match, too_many ? ", " : ": ", match->b_name, b, a);
    if (too_few && match->none_covers)
        spmd__text_add(&match->report, " (write None for what is left out)");
}

/* `a` stands for all leaves of `b`. */
static void cover(struct match *match, const spmd_tree *a, const spmd_tree *b)
{
    int leaves = spmd__tree_nleaves(b);
    for (int i = 0; match->leaves && i < leaves; i++)
        match->leaves[match->count + i] = a;
    match->count += leaves;
}

static bool covers(const struct match *match, const spmd_tree *a)
{
    return (match->none_covers && a->kind == TREE_NONE) ||
           (match->leaf_covers && a->kind == TREE_LEAF);
}

static bool leaf_fits(const struct match *match, const spmd_tree *a, const spmd_tree *b)
{
    if (a->kind != TREE_LEAF || b->kind != TREE_LEAF)
        return false;
    return !match->fits || match->fits(a, b, match->user);
}

static void walk(struct match *match, const struct tree_step *at, const spmd_tree *a,
                 const spmd_tree *b)
{
    if (covers(match, a) || leaf_fits(match, a, b)) {
        cover(match, a, b);
    } else if (a->kind != b->kind || a->kind == TREE_LEAF) {
        report_nodes(match, at, a, b);
    } else {
        if (!has_same_keys(a, b))
            report_children(match, at, a, b);
        walk_children(match, at, a, b);
    }
}

static spmd_status run(struct match *match, const spmd_tree *a, const spmd_tree *b)
{
    char buffer[ERROR_MESSAGE_BYTES];
    match->report = spmd__text_begin(buffer, sizeof buffer);
    walk(match, NULL, a, b);
    if (match->mismatches == 0)
        return SPMD_OK;
    const char *places = buffer + strlen("; ");
    if (match->mismatches == 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s %s %s: %s", match->a_name, match->relation,
                         match->b_name, places);
    return spmd_fail(SPMD_ERR_ARGUMENT, "%s %s %s, in %d places: %s", match->a_name,
                     match->relation, match->b_name, match->mismatches, places);
}

spmd_status spmd__tree_compare(const spmd_tree *a, const char *a_name, const spmd_tree *b,
                               const char *b_name)
{
    struct match match = {.a_name = a_name, .b_name = b_name, .relation = "differs from"};
    return run(&match, a, b);
}

spmd_status spmd__tree_broadcast(const spmd_tree *prefix, const char *prefix_name,
                                 const spmd_tree *tree, const char *tree_name,
                                 const spmd_tree *leaves[])
{
    struct match match = {.a_name = prefix_name,
                          .b_name = tree_name,
                          .relation = "cannot be a prefix of",
                          .none_covers = true,
                          .leaf_covers = true,
                          .leaves = leaves};
    return run(&match, prefix, tree);
}

spmd_status spmd__tree_fit(const spmd_tree *wanted, const char *wanted_name, const spmd_tree *tree,
                           const char *tree_name, tree_leaf_fits *fits, void *user)
{
    struct match match = {.a_name = wanted_name,
                          .b_name = tree_name,
                          .relation = "does not fit",
                          .none_covers = true,
                          .fits = fits,
                          .user = user};
    return run(&match, wanted, tree);
}
