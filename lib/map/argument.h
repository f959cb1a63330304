/* map/argument.h - what messages call the arguments and the results of a call. */
#ifndef MAP_ARGUMENT_H
#define MAP_ARGUMENT_H

#include "core/tree.h"

/* The trees of a call over trees, borrowed; NULL: its arguments, or results, have numbers. */
struct names {
    const spmd_tree *in, *out;
};

/* "input 3", or "in['params']['w']"; "in_specs[3]", or the same path; "in_axes[3]", or "the axis of
 * in['params']['w']"; and so on. */
enum argument_kind { INPUT, IN_SPEC, IN_AXIS, OUTPUT, OUT_SPEC, OUT_AXIS };

struct argument {
    char text[256];
};

/* `names` may be NULL: numbers. */
struct argument spmd__argument(const struct names *names, enum argument_kind kind, int index);

#endif
