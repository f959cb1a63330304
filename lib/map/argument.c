/* map/argument.c - what messages call the arguments and the results of a call. */
#include "map/argument.h"

#include "core/tree_path.h"

struct argument spmd__argument(const struct names *names, enum argument_kind kind, int index)
{
    static const char *const around[][2] = {
        [INPUT] = {"input ", ""},         [IN_SPEC] = {"in_specs[", "]"},
        [IN_AXIS] = {"in_axes[", "]"},    [OUTPUT] = {"output ", ""},
        [OUT_SPEC] = {"out_specs[", "]"}, [OUT_AXIS] = {"out_axes[", "]"},
    };
    struct argument argument;
    struct text text = spmd__text_begin(argument.text, sizeof argument.text);
    bool is_input = kind <= IN_AXIS;
    const spmd_tree *tree = !names ? NULL : is_input ? names->in : names->out;
    if (!tree) {
        spmd__text_add(&text, "%s%d%s", around[kind][0], index, around[kind][1]);
        return argument;
    }
    spmd__text_add(&text, is_input ? "in" : "out");
    spmd__tree_leaf_path(&text, tree, index, spmd__tree_path_jax);
    return argument;
}
