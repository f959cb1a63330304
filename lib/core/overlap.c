/* core/overlap.c - the walk over a layout's axes that enters only where boxes can still meet. */
#include "core/overlap.h"

#include "core/box.h"
#include "core/error.h"

struct walk {
    const struct axes *axes;
    const struct spec *spec;
    const spmd_box *box;
    uint32_t fixed;
    int64_t home[SPMD_MAX_AXES];
    int64_t at[SPMD_MAX_AXES];
    spmd_box part; /* what the coordinates chosen so far hold */
    overlap_visit *visit;
    void *user;
};

uint32_t spmd__overlap_copies(const struct axes *axes, const struct spec *spec)
{
    return (((uint32_t)1 << axes->count) - 1) & ~spmd__spec_used(spec);
}

/* The coordinates along `axis` that come into question: all, or home's if it is fixed. */
static void choices(const struct walk *walk, int axis, int64_t *begin, int64_t *end)
{
    bool fixed = walk->fixed >> axis & 1;
    *begin = fixed ? walk->home[axis] : 0;
    *end = fixed ? walk->home[axis] + 1 : walk->axes->size[axis];
}

/* Chooses coordinates along the axes that hold copies, from `axis` on. */
static spmd_status walk_copies(struct walk *walk, uint32_t copies, int axis)
{
    while (axis < walk->axes->count && !(copies >> axis & 1))
        axis++;
    if (axis == walk->axes->count) {
        spmd_box common;
        if (!spmd__box_cut(&walk->part, walk->box, &common))
            return SPMD_OK;
        return walk->visit(spmd__axes_position(walk->axes, walk->at), &common, walk->user);
    }
    int64_t begin, end;
    choices(walk, axis, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        walk->at[axis] = i;
        TRY(walk_copies(walk, copies, axis + 1));
    }
    return SPMD_OK;
}

/* Chooses coordinates along the axes that split: from `entry` of the spec's axes on, the next of
 * dimension `dim` or of a later one. */
static spmd_status walk_splits(struct walk *walk, int dim, int entry)
{
    const struct spec *spec = walk->spec;
    while (dim < spec->ndim && entry == spec->first[dim + 1])
        dim++;
    if (dim >= spec->ndim)
        return walk_copies(walk, spmd__overlap_copies(walk->axes, spec), 0);

    int axis = spec->axis[entry];
    int64_t lo = walk->part.lo[dim], hi = walk->part.hi[dim], begin, end;
    choices(walk, axis, &begin, &end);
    spmd_status status = SPMD_OK;
    for (int64_t i = begin; i < end && status == SPMD_OK; i++) {
        int64_t part_lo = lo, part_hi = hi;
        spmd__layout_cut(walk->axes->size[axis], i, &part_lo, &part_hi);
        if (part_lo >= walk->box->hi[dim] || part_hi <= walk->box->lo[dim])
            continue;
        walk->at[axis] = i;
        walk->part.lo[dim] = part_lo;
        walk->part.hi[dim] = part_hi;
        status = walk_splits(walk, dim, entry + 1);
    }
    walk->part.lo[dim] = lo;
    walk->part.hi[dim] = hi;
    return status;
}

spmd_status spmd__overlap_each(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                               const spmd_box *box, int64_t home, uint32_t fixed,
                               overlap_visit *visit, void *user)
{
    if (spmd_box_size(box) == 0)
        return SPMD_OK;
    struct walk walk = {.axes = axes,
                        .spec = spec,
                        .box = box,
                        .fixed = fixed,
                        .part = spmd_box_whole(shape),
                        .visit = visit,
                        .user = user};
    spmd__axes_coordinates(axes, home, walk.home);
    return walk_splits(&walk, 0, 0);
}
