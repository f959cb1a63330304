/* map/parts.c - a dense block as parts along a dimension, one for each member of a group. */
#include "map/parts.h"

spmd_status spmd__parts_take(struct arena *arena, struct parts *parts, const int64_t extent[])
{
    TRY(spmd__arena_take(arena, (size_t)parts->count + 1, sizeof *parts->first, &parts->first));
    parts->first[0] = 0;
    for (int64_t k = 0; k < parts->count; k++)
        if (__builtin_add_overflow(parts->first[k], extent ? extent[k] : 1, &parts->first[k + 1]))
            return spmd_fail(SPMD_ERR_SHAPE,
                             "%lld parts along dim %d of %d have more than 2^63 - 1 elements there",
                             (long long)parts->count, parts->dim, parts->shape.ndim);
    parts->shape.dim[parts->dim] = parts->first[parts->count];
    return SPMD_OK;
}

int64_t spmd__parts_split_one(const struct group *group, int64_t size, int64_t extent,
                              int64_t index)
{
    int64_t lo = 0, hi = extent;
    if (!group || group->partition.count > 0 || group->axes.count < 2) {
        spmd__layout_split(size, index, &lo, &hi);
        return hi - lo;
    }
    for (int i = 0; i < group->axes.count; i++) { /* major first */
        int64_t parts = group->mesh->axes.size[group->axes.axis[i]];
        size /= parts;
        spmd__layout_split(parts, index / size, &lo, &hi);
        index %= size;
    }
    return hi - lo;
}

void spmd__parts_split(const struct group *group, int64_t size, int64_t extent, int64_t extents[])
{
    for (int64_t k = 0; k < size; k++)
        extents[k] = spmd__parts_split_one(group, size, extent, k);
}

static bool extents_differ(const struct parts *parts)
{
    const int64_t *first = parts->first;
    for (int64_t k = 1; k < parts->count; k++)
        if (first[k + 1] - first[k] != first[1] - first[0])
            return true;
    return false;
}

void spmd__parts_place(const struct parts *parts, const spmd_block *whole, int64_t index,
                       spmd_block *part)
{
    int dim = parts->dim;
    bool known = whole->global[dim] >= 0;
    if (!extents_differ(parts))
        return;
    part->offset[dim] = parts->first[index] + (known ? whole->offset[dim] : 0);
    part->global[dim] = known ? whole->global[dim] : whole->shape[dim];
}

int64_t spmd__parts_slab(spmd_shape shape, int dim, size_t element)
{
    shape.dim[dim] = 1;
    int64_t size = spmd_shape_size(shape), bytes;
    return size < 0 || __builtin_mul_overflow(size, (int64_t)element, &bytes) ? 0 : bytes;
}

static int64_t bytes_of_one(const struct parts *parts)
{
    return spmd__parts_slab(parts->shape, parts->dim, parts->element);
}

int64_t spmd__parts_bytes(const struct parts *parts, int64_t index)
{
    return (parts->first[index + 1] - parts->first[index]) * bytes_of_one(parts);
}

spmd_status spmd__parts_all_bytes(const struct parts *parts, struct arena *arena, int64_t **bytes)
{
    int64_t one = bytes_of_one(parts);
    TRY(spmd__arena_take(arena, (size_t)parts->count, sizeof **bytes, bytes));
    for (int64_t k = 0; k < parts->count; k++)
        (*bytes)[k] = (parts->first[k + 1] - parts->first[k]) * one;
    return SPMD_OK;
}

bool spmd__parts_in_order(const struct parts *parts)
{
    bool alone = parts->count == 1;
    for (int d = 0; d < parts->dim && !alone; d++)
        if (parts->shape.dim[d] != 1)
            return false;
    return true;
}

struct view spmd__parts_view(const struct parts *parts, void *data, int64_t index)
{
    struct view view = spmd__view_dense(data, parts->element, parts->shape);
    int64_t first = parts->first[index], extent = parts->first[index + 1] - first;
    view.extent[parts->dim] = extent;
    if (view.data && spmd__view_size(&view) > 0)
        view.data += first * view.stride[parts->dim];
    if (!parts->thin)
        return view;
    view.ndim--;
    for (int d = parts->dim; d < view.ndim; d++) {
        view.extent[d] = view.extent[d + 1];
        view.stride[d] = view.stride[d + 1];
    }
    return view;
}

void spmd__parts_pack(const struct parts *parts, const void *data, void *packed)
{
    char *at = packed;
    for (int64_t k = 0; k < parts->count; k++) {
        struct view part = spmd__parts_view(parts, (void *)data, k); /* read only */
        at = spmd__view_pack(&part, at, parts->element);
    }
}

spmd_status spmd__parts_room(const struct parts *parts, struct arena *arena, void *data,
                             void **packed)
{
    size_t count = (size_t)parts->first[parts->count];
    *packed = data;
    if (spmd__parts_in_order(parts))
        return SPMD_OK;
    return spmd__arena_take(arena, count, (size_t)bytes_of_one(parts), packed);
}

void spmd__parts_unpack(const struct parts *parts, const void *packed, void *data)
{
    const char *at = packed;
    for (int64_t k = 0; packed != data && k < parts->count; k++) {
        struct view part = spmd__parts_view(parts, data, k);
        at = spmd__view_unpack(&part, at, parts->element);
    }
}
