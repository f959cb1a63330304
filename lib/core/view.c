/* core/view.c - windows into memory: made from boxes and blocks, copied by the longest runs. */
#include "core/view.h"

#include <stdbool.h>
#include <string.h>

#include "core/copy.h"
#include "core/runs.h"

struct view spmd__view_dense(void *data, size_t element, spmd_shape shape)
{
    struct view view = {.data = data, .ndim = shape.ndim};
    bool empty = spmd_shape_size(shape) <= 0; /* then the extents need not fit together */
    int64_t stride = (int64_t)element;
    for (int d = shape.ndim - 1; d >= 0; d--) {
        view.extent[d] = shape.dim[d];
        view.stride[d] = stride;
        stride *= empty ? 1 : shape.dim[d];
    }
    return view;
}

struct view spmd__view_like(const struct view *view, void *data, size_t element)
{
    return spmd__view_dense(data, element, spmd_shape_make(view->ndim, view->extent));
}

struct view spmd__view_part(const struct view *view, const spmd_box *whole, const spmd_box *part)
{
    struct view cut = *view;
    int64_t offset = 0;
    for (int d = 0; d < view->ndim; d++) {
        cut.extent[d] = part->hi[d] - part->lo[d];
        offset += (part->lo[d] - whole->lo[d]) * view->stride[d];
    }
    if (cut.data &&
        spmd__view_size(&cut) > 0) /* where nothing lies, there is nothing to point to */
        cut.data += offset;
    return cut;
}

struct view spmd__view_box(void *data, size_t element, const spmd_box *whole, const spmd_box *part)
{
    struct view view = spmd__view_dense(data, element, spmd_box_shape(whole));
    return spmd__view_part(&view, whole, part);
}

struct view spmd__view_offset(size_t element, const spmd_box *whole, const spmd_box *part)
{
    struct view view = spmd__view_box(NULL, element, whole, part);
    intptr_t offset = 0;
    for (int d = 0; d < view.ndim; d++)
        offset += (part->lo[d] - whole->lo[d]) * view.stride[d];
    view.data = (char *)offset;
    return view;
}

struct view spmd__view_at(const struct view *offset, const void *base)
{
    struct view view = *offset;
    view.data = (char *)base + (intptr_t)offset->data;
    return view;
}

struct view spmd__view_block(const spmd_block *block)
{
    struct view view = {.data = block->data, .ndim = block->ndim};
    int64_t element = (int64_t)spmd_dtype_size(block->dtype);
    for (int d = 0; d < block->ndim; d++) {
        view.extent[d] = block->shape[d];
        view.stride[d] = block->stride[d] * element;
    }
    return view;
}

int64_t spmd__view_size(const struct view *view)
{
    int64_t size = 1;
    for (int d = 0; d < view->ndim; d++) /* may overflow on the way to 0 */
        (void)__builtin_mul_overflow(size, view->extent[d], &size);
    return size;
}

bool spmd__view_is_dense(const struct view *view, size_t element)
{
    int64_t stride = (int64_t)element;
    if (spmd__view_size(view) == 0)
        return true;
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (view->extent[d] != 1 && view->stride[d] != stride)
            return false;
        stride *= view->extent[d];
    }
    return true;
}

/* Shorter runs past the caches would leave more half lines than whole ones. */
enum { LEAST_RUN_PAST_CACHE = 512 };

/* The innermost loop: `count` runs. */
typedef void copy_all_runs(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                           int64_t count, size_t run, enum stores stores);

static void move_runs(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                      int64_t count, size_t run, enum stores stores)
{
    (void)stores;
    for (int64_t i = 0; i < count; i++)
        memmove(dst + i * dst_stride, src + i * src_stride, run);
}

static void copy_from_dim(const struct runs *runs, copy_all_runs *copy_all, enum stores stores,
                          int dim, char *dst, const char *src)
{
    if (dim >= runs->ndim - 1) {
        bool looped = dim < runs->ndim;
        copy_all(dst, looped ? runs->dst[dim] : 0, src, looped ? runs->src[dim] : 0,
                 looped ? runs->extent[dim] : 1, runs->bytes, stores);
        return;
    }
    for (int64_t i = 0; i < runs->extent[dim]; i++)
        copy_from_dim(runs, copy_all, stores, dim + 1, dst + i * runs->dst[dim],
                      src + i * runs->src[dim]);
}

static void copy(const struct view *dst, const struct view *src, size_t element,
                 copy_all_runs *copy_all, enum stores stores)
{
    if (spmd__view_size(dst) == 0)
        return;
    struct runs runs = spmd__runs_of(dst, src, element);
    if (runs.bytes < LEAST_RUN_PAST_CACHE)
        stores = STORES_CACHED;
    copy_from_dim(&runs, copy_all, stores, 0, dst->data, src->data);
}

void spmd__view_copy(const struct view *dst, const struct view *src, size_t element)
{
    copy(dst, src, element, spmd__copy_runs, STORES_CACHED);
}

char *spmd__view_pack(const struct view *view, char *packed, size_t element)
{
    struct view dense = spmd__view_like(view, packed, element);
    spmd__view_copy(&dense, view, element);
    return packed + spmd__view_size(view) * (int64_t)element;
}

const char *spmd__view_unpack(const struct view *view, const char *packed, size_t element)
{
    struct view dense = spmd__view_like(view, (void *)packed, element); /* read only */
    spmd__view_copy(view, &dense, element);
    return packed + spmd__view_size(view) * (int64_t)element;
}

void spmd__view_copy_by(const struct view *dst, const struct view *src, size_t element,
                        enum stores stores)
{
    copy(dst, src, element, spmd__copy_runs, stores);
    spmd__copy_flush();
}

void spmd__view_compact(const struct view *dst, const struct view *src, size_t element)
{
    copy(dst, src, element, move_runs, STORES_CACHED);
}
