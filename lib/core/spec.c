/* core/spec.c - what a partition spec says, and specs made from others. */
#include "core/spec.h"

bool spmd__spec_equal(const struct spec *a, const struct spec *b)
{
    if (a->ndim != b->ndim || a->open != b->open || a->unreduced != b->unreduced ||
        a->kind != b->kind)
        return false;
    for (int d = 0; d < a->ndim; d++) {
        struct axis_list a_entry = spmd__spec_entry(a, d), b_entry = spmd__spec_entry(b, d);
        if (!spmd__axis_list_equal(&a_entry, &b_entry))
            return false;
    }
    return true;
}

struct axis_list spmd__spec_entry(const struct spec *spec, int dim)
{
    struct axis_list list = {.count = 0};
    if (dim < spec->ndim)
        for (int i = spec->first[dim]; i < spec->first[dim + 1]; i++)
            list.axis[list.count++] = spec->axis[i];
    return list;
}

uint32_t spmd__spec_used(const struct spec *spec)
{
    uint32_t used = 0;
    for (int i = 0; i < spec->first[spec->ndim]; i++)
        used |= UINT32_C(1) << spec->axis[i];
    return used;
}

static void append_axes(struct spec *spec, int *count, struct axis_list entry, const int to[])
{
    for (int i = 0; i < entry.count; i++) {
        int axis = to ? to[entry.axis[i]] : entry.axis[i];
        if (axis >= 0)
            spec->axis[(*count)++] = axis;
    }
}

struct spec spmd__spec_rename(const struct spec *spec, const int to[SPMD_MAX_AXES])
{
    struct spec renamed = {.ndim = spec->ndim};
    int count = 0;
    for (int d = 0; d < spec->ndim; d++) {
        append_axes(&renamed, &count, spmd__spec_entry(spec, d), to);
        renamed.first[d + 1] = count;
    }
    return renamed;
}

struct spec spmd__spec_along(int dim, const struct axis_list *axes)
{
    struct spec spec = {.ndim = dim + 1};
    for (int i = 0; i < axes->count; i++)
        spec.axis[i] = axes->axis[i];
    for (int d = dim + 1; d <= SPMD_MAX_DIMS; d++)
        spec.first[d] = axes->count;
    return spec;
}

struct spec spmd__spec_join(const struct spec *major, const struct spec *minor)
{
    struct spec joined = {.ndim = major->ndim > minor->ndim ? major->ndim : minor->ndim,
                          .open = major->open,
                          .unreduced = major->unreduced,
                          .kind = major->kind};
    int count = 0;
    for (int d = 0; d < joined.ndim; d++) {
        append_axes(&joined, &count, spmd__spec_entry(major, d), NULL);
        append_axes(&joined, &count, spmd__spec_entry(minor, d), NULL);
        joined.first[d + 1] = count;
    }
    return joined;
}

struct spec spmd__spec_with_unreduced(const struct spec *spec, uint32_t unreduced)
{
    struct spec result = *spec;
    result.unreduced = unreduced;
    result.kind = unreduced ? spec->kind : SPMD_SUM;
    return result;
}
