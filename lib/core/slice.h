/* core/slice.h - the part of a mesh where some coordinates are fixed. */
#ifndef CORE_SLICE_H
#define CORE_SLICE_H

#include "core/axes.h"

struct slice {
    struct axes axes;      /* those that are not fixed, in the order of the mesh */
    struct axis_list left; /* which ones these are in the mesh; none where all are fixed */
    int64_t origin;        /* position in the mesh of the slice's position 0 */
};

/* Reads "x=1,z=0", coordinates of the mesh `axes`; "" fixes none. Where all are fixed, an axis of
 * size 1 is left, named like the one that the text fixes last. Fails with SPMD_ERR_SYNTAX, or
 * SPMD_ERR_MESH for an unknown axis, one given twice, a coordinate that it does not have. */
spmd_status spmd__slice_parse(const char *text, const struct axes *axes, struct slice *slice);

/* The position in the mesh `axes` of a position of the slice. */
int64_t spmd__slice_position(const struct slice *slice, const struct axes *axes, int64_t position);

#endif
