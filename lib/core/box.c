/* core/box.c - half-open boxes of indices. */
#include "core/box.h"

spmd_shape spmd_box_shape(const spmd_box *box)
{
    spmd_shape shape = {.ndim = box->ndim <= SPMD_MAX_DIMS ? box->ndim : -1};
    for (int d = 0; d < shape.ndim; d++)
        if (box->hi[d] > box->lo[d] &&
            __builtin_sub_overflow(box->hi[d], box->lo[d], &shape.dim[d]))
            shape.dim[d] = INT64_MAX;
    return shape;
}

int64_t spmd_box_size(const spmd_box *box)
{
    return spmd_shape_size(spmd_box_shape(box));
}

spmd_box spmd_box_whole(spmd_shape shape)
{
    spmd_box box = {.ndim = shape.ndim <= SPMD_MAX_DIMS ? shape.ndim : -1};
    for (int d = 0; d < box.ndim; d++)
        box.hi[d] = shape.dim[d];
    return box;
}

bool spmd__box_intersect(const spmd_box *a, const spmd_box *b, spmd_box *common)
{
    spmd_box cut = {.ndim = a->ndim};
    bool empty = false;
    for (int d = 0; d < a->ndim; d++) {
        cut.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        cut.hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
        empty = empty || cut.lo[d] >= cut.hi[d];
    }
    *common = cut;
    return !empty;
}

bool spmd__box_is_inside(const spmd_box *inner, const spmd_box *outer)
{
    if (inner->ndim != outer->ndim)
        return false;
    if (spmd_box_size(inner) == 0)
        return true;
    for (int d = 0; d < inner->ndim; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return false;
    return true;
}
