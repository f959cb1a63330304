/* core/box.h - half-open boxes of indices. See spmd/types.h. */
#ifndef CORE_BOX_H
#define CORE_BOX_H

#include <stdbool.h>

#include <spmd/types.h>

/* The common part of two boxes of equal ndim; false if it is empty. */
bool spmd__box_intersect(const spmd_box *a, const spmd_box *b, spmd_box *common);

/* Whether `inner` lies inside `outer`; an empty box lies inside any. */
bool spmd__box_is_inside(const spmd_box *inner, const spmd_box *outer);

#endif
