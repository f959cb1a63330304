/* core/view.h - n-dimensional windows into memory, and the one loop that copies between them. */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <spmd/types.h>

#include "core/copy.h"

struct view {
    char *data; /* first element */
    int ndim;
    int64_t extent[SPMD_MAX_DIMS]; /* [ndim] */
    int64_t stride[SPMD_MAX_DIMS]; /* [ndim] in bytes */
};

/* `shape`, dense and row-major, at `data`. */
struct view spmd__view_dense(void *data, size_t element, spmd_shape shape);

/* Dense, with the extents of another view. */
struct view spmd__view_like(const struct view *view, void *data, size_t element);

/* The `part` of a dense row-major array that holds the indices of `whole`; part lies inside. */
struct view spmd__view_box(void *data, size_t element, const spmd_box *whole, const spmd_box *part);

/* The same where the array is not here: data is an offset from its first byte. */
struct view spmd__view_offset(size_t element, const spmd_box *whole, const spmd_box *part);

/* The same of a view over the indices of `whole`. */
struct view spmd__view_part(const struct view *view, const spmd_box *whole, const spmd_box *part);

/* A view that is an offset, as it lies from `base` on. */
struct view spmd__view_at(const struct view *offset, const void *base);

/* A block as it lies. */
struct view spmd__view_block(const spmd_block *block);

int64_t spmd__view_size(const struct view *view);

/* Whether the elements stand one after the other in memory, in row-major order. */
bool spmd__view_is_dense(const struct view *view, size_t element);

/* Copies src's elements to dst; extents are equal, memory does not overlap. Runs of neighbours
 * are joined into one memcpy. */
void spmd__view_copy(const struct view *dst, const struct view *src, size_t element);

/* Copies a view to `packed`, where its elements stand one after the other, or from there. Gives the
 * place behind them. */
char *spmd__view_pack(const struct view *view, char *packed, size_t element);
const char *spmd__view_unpack(const struct view *view, const char *packed, size_t element);

/* A copy by such stores, where the runs are long enough; at its end they are there. */
void spmd__view_copy_by(const struct view *dst, const struct view *src, size_t element,
                        enum stores stores);

/* Copies within one piece of memory: dst is dense and begins no later than src, whose elements
 * stand in row-major order. So each one goes to where it is or before that, and over none that is
 * still to go. */
void spmd__view_compact(const struct view *dst, const struct view *src, size_t element);

#endif
