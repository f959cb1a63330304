/* core/move.h - what kind of move leads from one spec to another, where the specs alone say it. */
#ifndef CORE_MOVE_H
#define CORE_MOVE_H

#include "core/spec.h"

/* The one list of kinds: X(NAME, text). */
#define MOVE_MAP(X)                     \
    X(NOTHING, "nothing")               \
    X(SLICE, "local slice")             \
    X(ALL_GATHER, "all-gather")         \
    X(ALL_TO_ALL, "all-to-all")         \
    X(PERMUTE, "permute")               \
    X(EXCHANGE, "exchange")             \
    X(ALL_REDUCE, "all-reduce")         \
    X(REDUCE_SCATTER, "reduce-scatter") \
    X(FILL, "fill")

enum move_kind {
#define MOVE_ENUM(name, text) MOVE_##name,
    MOVE_MAP(MOVE_ENUM)
#undef MOVE_ENUM
};

/*  NOTHING         both are the same layout
 *  SLICE           ranks keep a part of what they have: `axes` split dimensions further
 *  ALL_GATHER      ranks along `axes` get each other's blocks: these no longer split
 *  ALL_TO_ALL      `axes`, the last of dimension `from_dim`, become the last of `to_dim`
 *  PERMUTE         blocks change ranks, each as a whole
 *  EXCHANGE        anything else that moves values
 *  ALL_REDUCE      contributions along `axes` are added up, ranks along them get all
 *  REDUCE_SCATTER  the same, and each of these ranks gets a part
 *  FILL            of the ranks along `axes` the first has the values, the others zeros
 *
 * Axes of size 1 do not count. */
struct move {
    enum move_kind kind;
    struct axis_list axes;
    int from_dim, to_dim;
};

/* The move of values from one spec to another, neither of them open; what is unreduced does not
 * count (core/steps.h). */
struct move spmd__move_find(const struct axes *axes, const struct spec *from,
                            const struct spec *to);

/* The same between two meshes that are not equal: PERMUTE where each rank gets one whole block,
 * else EXCHANGE. */
struct move spmd__move_between(const struct axes *from_axes, const struct spec *from,
                               const struct axes *to_axes, const struct spec *to);

/* "all-gather" */
const char *spmd__move_name(enum move_kind kind);

/* Writes it in words: "all-gather along y", "all-to-all along x, from dim 0 to dim 1". */
void spmd__move_print(struct text *text, const struct axes *axes, const struct move *move);

#endif
