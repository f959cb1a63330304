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

/* The coordinates along `axis` that come into question: begin ... end - 1, or of these home's alone
 * if the axis is fixed. */
static void restrict_to_home(const struct walk *walk, int axis, int64_t *begin, int64_t *end)
{
    int64_t home = walk->home[axis];
    if (!(walk->fixed >> axis & 1))
        return;
    *begin = home > *begin ? home : *begin;
    *end = home < *end ? home + 1 : *end;
}

/* Chooses coordinates along the axes that do not split, those of `rest`, from `axis` on. */
static spmd_status walk_rest(struct walk *walk, uint32_t rest, int axis)
{
    while (axis < walk->axes->count && !(rest >> axis & 1))
        axis++;
    if (axis == walk->axes->count) {
        spmd_box common;
        if (!spmd__box_intersect(&walk->part, walk->box, &common))
            return SPMD_OK;
        return walk->visit(spmd__axes_position(walk->axes, walk->at), &common, walk->user);
    }
    int64_t begin = 0, end = walk->axes->size[axis];
    restrict_to_home(walk, axis, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        walk->at[axis] = i;
        TRY(walk_rest(walk, rest, axis + 1));
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
        return walk_rest(walk, spmd__axes_mask(walk->axes) & ~spmd__spec_used(spec), 0);

    int axis = spec->axis[entry];
    int64_t parts = walk->axes->size[axis], lo = walk->part.lo[dim], hi = walk->part.hi[dim];
    int64_t first = lo > walk->box->lo[dim] ? lo : walk->box->lo[dim];
    int64_t last = (hi < walk->box->hi[dim] ? hi : walk->box->hi[dim]) - 1;
    if (first > last)
        return SPMD_OK;
    int64_t begin = spmd__layout_part(parts, lo, hi, first);
    int64_t end = spmd__layout_part(parts, lo, hi, last) + 1;
    restrict_to_home(walk, axis, &begin, &end);
    spmd_status status = SPMD_OK;
    for (int64_t i = begin; i < end && status == SPMD_OK; i++) {
        walk->at[axis] = i;
        walk->part.lo[dim] = lo;
        walk->part.hi[dim] = hi;
        spmd__layout_split(parts, i, &walk->part.lo[dim], &walk->part.hi[dim]);
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
