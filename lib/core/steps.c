/* core/steps.c - the way from one layout to another: what is added up, what moves, what is filled.
 */
#include "core/steps.h"

#include "core/error.h"

/* Axes of which a mask names one rank alone do not count. */
static uint32_t without_single(const struct axes *axes, uint32_t mask)
{
    for (int a = 0; a < axes->count; a++)
        if (axes->size[a] == 1)
            mask &= ~(UINT32_C(1) << a);
    return mask;
}

/* The dimension whose parts are largest. */
static int widest_dim(const struct axes *axes, const struct spec *spec, spmd_shape shape)
{
    int widest = 0;
    double most = -1;
    for (int d = 0; d < shape.ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        double extent = (double)shape.dim[d] / (double)spmd__axis_list_size(axes, &entry);
        if (extent > most) {
            most = extent;
            widest = d;
        }
    }
    return widest;
}

/* How parts of a sum are dealt out along the axes of `reduced`: along those that `to` splits by,
 * where it does, along the others in the widest dimension. `to` may be NULL. */
static struct spec deal_out(const struct axes *axes, const struct spec *from, const struct spec *to,
                            uint32_t reduced, spmd_shape shape)
{
    struct spec parts = {.ndim = shape.ndim};
    int widest = widest_dim(axes, from, shape), count = 0;
    struct axis_list rest = spmd__axis_list_of_mask(reduced & ~(to ? spmd__spec_used(to) : 0));
    for (int d = 0; d < shape.ndim; d++) {
        struct axis_list entry = to ? spmd__spec_entry(to, d) : (struct axis_list){0};
        parts.first[d] = count;
        for (int i = 0; i < entry.count; i++)
            if (reduced >> entry.axis[i] & 1)
                parts.axis[count++] = entry.axis[i];
        for (int i = 0; d == widest && i < rest.count; i++)
            parts.axis[count++] = rest.axis[i];
    }
    parts.first[shape.ndim] = count;
    return parts;
}

static struct move find_move(const struct axes *from_axes, const struct spec *from,
                             const struct axes *to_axes, const struct spec *to, bool one_mesh)
{
    return one_mesh ? spmd__move_find(from_axes, from, to)
                    : spmd__move_between(from_axes, from, to_axes, to);
}

struct steps spmd__steps_find(const struct axes *from_axes, const struct spec *from,
                              const struct axes *to_axes, const struct spec *to, bool one_mesh,
                              spmd_shape shape)
{
    uint32_t before = without_single(from_axes, from->unreduced);
    uint32_t after = without_single(to_axes, to->unreduced);
    uint32_t kept = one_mesh && from->kind == to->kind ? before & after : 0;
    uint32_t reduced = before & ~kept;
    struct spec plain = spmd__spec_with_unreduced(from, kept);
    struct steps steps = {.reduce = MOVE_NOTHING,
                          .reduced = spmd__axis_list_of_mask(reduced),
                          .kind = from->kind,
                          .mid = plain,
                          .move = find_move(from_axes, from, to_axes, to, one_mesh),
                          .filled = after & ~kept};
    if (reduced == 0)
        return steps;
    steps.reduce = MOVE_ALL_REDUCE;
    if (steps.move.kind == MOVE_NOTHING || shape.ndim == 0)
        return steps;
    struct spec parts = deal_out(from_axes, from, one_mesh ? to : NULL, reduced, shape);
    steps.reduce = MOVE_REDUCE_SCATTER;
    steps.mid = spmd__spec_join(&plain, &parts);
    steps.move = find_move(from_axes, &steps.mid, to_axes, to, one_mesh);
    return steps;
}

spmd_status spmd__steps_check_unreduced(const struct axes *axes, const struct spec *spec,
                                        spmd_dtype dtype)
{
    bool is_complex = dtype == SPMD_C64 || dtype == SPMD_C128;
    if (spec->unreduced == 0)
        return SPMD_OK;
    char buffer[512];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&text, axes, spec);
    if (dtype == SPMD_BOOL && spec->kind == SPMD_SUM)
        return spmd_fail(SPMD_ERR_DTYPE,
                         "%s: a sum of bool is a number: make it i32, or take the max", buffer);
    if (is_complex && spec->kind != SPMD_SUM)
        return spmd_fail(SPMD_ERR_DTYPE, "%s: complex numbers have no order, only a sum", buffer);
    return SPMD_OK;
}

spmd_status spmd__steps_check_fill(const struct axes *axes, const struct spec *spec,
                                   uint32_t filled)
{
    if (filled == 0 || spec->kind == SPMD_SUM)
        return SPMD_OK;
    char buffer[512];
    struct text text = spmd__text_begin(buffer, sizeof buffer);
    spmd__spec_print(&text, axes, spec);
    return spmd_fail(SPMD_ERR_SPEC,
                     "%s: values become contributions to a sum alone, by zeros on the other ranks; "
                     "those to a max or min come from spmd_array_from_local or a body",
                     buffer);
}
