/* core/runs.h - the runs of a copy between two views: bytes that are neighbours in both. */
#ifndef CORE_RUNS_H
#define CORE_RUNS_H

#include <stddef.h>

#include "core/view.h"

/* Loops around a run; dimension 0 is the outermost. */
struct runs {
    int ndim;
    int64_t extent[SPMD_MAX_DIMS]; /* [ndim] */
    int64_t dst[SPMD_MAX_DIMS];    /* [ndim] strides in bytes */
    int64_t src[SPMD_MAX_DIMS];
    size_t bytes; /* of each run */
};

/* As few and as long as the strides allow. Extents of the views are equal, and none is 0. */
struct runs spmd__runs_of(const struct view *dst, const struct view *src, size_t element);

int64_t spmd__runs_count(const struct runs *runs);

/* Where run number `index` begins, in row-major order, as offsets from the views' data. */
void spmd__runs_find(const struct runs *runs, int64_t index, int64_t *dst, int64_t *src);

#endif
