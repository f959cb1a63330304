/* map/argument.c - what messages call the arguments and the results of a call. */
#include "map/argument.h"

#include "core/tree_path.h"

struct argument spmd__argument(const struct names *names, enum argument_kind kind, int index)
{
    static const struct {
        const char *before, *after, *of_tree;
    } forms[] = {
        [INPUT] = {"input ", "", "in"},
        [IN_SPEC] = {"in_specs[", "]", "in"},
        [IN_AXIS] = {"in_axes[", "]", "the axis of in"},
        [OUTPUT] = {"output ", "", "out"},
        [OUT_SPEC] = {"out_specs[", "]", "out"},
        [OUT_AXIS] = {"out_axes[", "]", "the axis of out"},
    };
    struct argument argument;
    struct text text = spmd__text_begin(argument.text, sizeof argument.text);
    const spmd_tree *tree = !names ? NULL : kind <= IN_AXIS ? names->in : names->out;
    if (!tree) {
        spmd__text_add(&text, "%s%d%s", forms[kind].before, index, forms[kind].after);
        return argument;
    }
    spmd__text_add(&text, "%s", forms[kind].of_tree);
    spmd__tree_leaf_path(&text, tree, index, spmd__tree_path_jax);
    return argument;
}
