/* core/steps.h - the way from one layout to another, in at most three steps.
 *
 *     P(x, unreduced={y})       contributions along y
 *       reduce                      are added up, each rank keeps a part
 *     P((x,y))                  values
 *       move                        go where they are wanted
 *     P(-, x)
 *       fill                        and become contributions along y: the value at the first rank,
 *     P(-, x, unreduced={y})    zeros beside it
 *
 * Contributions along axes that are unreduced on both sides stay what they are, and move one to
 * one. Where nobody wants the whole sum where it is made, each rank keeps a part, one that it will
 * hold in the end if the specs allow it: so what moves is least, and a value is rounded once. */
#ifndef CORE_STEPS_H
#define CORE_STEPS_H

#include "core/move.h"

struct steps {
    enum move_kind reduce;    /* NOTHING, ALL_REDUCE or REDUCE_SCATTER */
    struct axis_list reduced; /* along which contributions are added up, in mesh order */
    spmd_reduction kind;
    struct spec mid;  /* how values lie then, on the source's mesh */
    struct move move; /* from there on, of what is split */
    uint32_t filled;  /* axes along which all but the first get zeros, as bits */
};

/* From `from` to `to`, neither of them open. `one_mesh`: they are of equal meshes. Between
 * different ones all contributions are added up, and the move is an exchange or a permutation. Axes
 * of size 1 do not count. */
struct steps spmd__steps_find(const struct axes *from_axes, const struct spec *from,
                              const struct axes *to_axes, const struct spec *to, bool one_mesh,
                              spmd_shape shape);

/* Whether there can be contributions of this type. Fails with SPMD_ERR_DTYPE. */
spmd_status spmd__steps_check_unreduced(const struct axes *axes, const struct spec *spec,
                                        spmd_dtype dtype);

/* Whether values can become contributions along the axes of `filled`: to a sum, as in JAX. Fails
 * with SPMD_ERR_SPEC. */
spmd_status spmd__steps_check_fill(const struct axes *axes, const struct spec *spec,
                                   uint32_t filled);

#endif
