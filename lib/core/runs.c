/* core/runs.c - the runs of a copy between two views. */
#include "core/runs.h"

/* Dimensions of extent 1 are dropped, those that continue the one before are merged with it, and a
 * contiguous innermost one becomes the run. */
struct runs spmd__runs_of(const struct view *dst, const struct view *src, size_t element)
{
    struct runs runs = {.bytes = element};
    for (int d = 0; d < dst->ndim; d++) {
        if (dst->extent[d] == 1)
            continue;
        int last = runs.ndim - 1;
        if (last >= 0 && runs.dst[last] == dst->stride[d] * dst->extent[d] &&
            runs.src[last] == src->stride[d] * src->extent[d])
            runs.extent[last] *= dst->extent[d];
        else
            runs.extent[last = runs.ndim++] = dst->extent[d];
        runs.dst[last] = dst->stride[d];
        runs.src[last] = src->stride[d];
    }
    int inner = runs.ndim - 1;
    if (inner >= 0 && runs.dst[inner] == (int64_t)element && runs.src[inner] == (int64_t)element) {
        runs.bytes = element * (size_t)runs.extent[inner];
        runs.ndim = inner;
    }
    return runs;
}

int64_t spmd__runs_count(const struct runs *runs)
{
    int64_t count = 1;
    for (int d = 0; d < runs->ndim; d++)
        count *= runs->extent[d];
    return count;
}

void spmd__runs_find(const struct runs *runs, int64_t index, int64_t *dst, int64_t *src)
{
    *dst = *src = 0;
    for (int d = runs->ndim - 1; d >= 0; d--) {
        int64_t at = index % runs->extent[d];
        *dst += at * runs->dst[d];
        *src += at * runs->src[d];
        index /= runs->extent[d];
    }
}
