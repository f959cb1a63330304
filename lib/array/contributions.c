/* array/contributions.c - contributions of ranks become values.
 *
 * Each member of the group gets a part of the sum, which is a box: the block is packed part after
 * part, unless the parts lie so, and one reduce-scatter does the rest, whatever dimensions the
 * parts cut. */
#include "array/contributions.h"

#include <stdlib.h>

#include "comm/reduce.h"
#include "core/mem.h"
#include "core/pool.h"
#include "core/view.h"

spmd_status spmd__contributions_open(const spmd_sharding *from, const struct steps *steps,
                                     struct contributions *contributions)
{
    *contributions = (struct contributions){.from = from, .steps = steps};
    return spmd__mesh_group(from->mesh, &steps->reduced, &contributions->group);
}

/* The part of a member, as an offset from the block's first byte. */
static struct view part_of(const struct contributions *contributions, int64_t m)
{
    return spmd__view_offset(spmd_dtype_size(contributions->dtype), &contributions->box,
                             &contributions->boxes[m]);
}

bool spmd__contributions_in_order(const struct axes *axes, const struct spec *from,
                                  const struct steps *steps, spmd_shape shape, size_t element,
                                  int64_t position)
{
    spmd_box whole = spmd__layout_box(axes, from, shape, position);
    intptr_t next = 0;
    for (int64_t m = 0; m < spmd__axis_list_size(axes, &steps->reduced); m++) {
        int64_t member = spmd__axis_list_member(axes, &steps->reduced, position, m);
        spmd_box box = spmd__layout_box(axes, &steps->mid, shape, member);
        struct view part = spmd__view_offset(element, &whole, &box);
        if (spmd__view_size(&part) == 0)
            continue;
        if ((intptr_t)part.data != next || !spmd__view_is_dense(&part, element))
            return false;
        next += (intptr_t)(spmd__view_size(&part) * (int64_t)element);
    }
    return true;
}

/* The parts, and what each has. */
static spmd_status cut(struct contributions *contributions, spmd_shape shape)
{
    const struct group *group = contributions->group;
    const struct axes *axes = &contributions->from->mesh->axes;
    size_t size = (size_t)group->size;
    TRY(spmd__alloc(size, sizeof *contributions->counts, &contributions->counts));
    TRY(spmd__alloc(size, sizeof *contributions->boxes, &contributions->boxes));
    for (int64_t m = 0; m < group->size; m++) {
        contributions->boxes[m] =
            spmd__layout_box(axes, &contributions->steps->mid, shape, spmd__group_member(group, m));
        contributions->counts[m] = spmd_box_size(&contributions->boxes[m]);
    }
    if (spmd__contributions_in_order(axes, &contributions->from->spec, contributions->steps, shape,
                                     spmd_dtype_size(contributions->dtype),
                                     contributions->from->mesh->position))
        return SPMD_OK;
    return spmd__pool_take((size_t)contributions->count * spmd_dtype_size(contributions->dtype),
                           false, &contributions->packed);
}

spmd_status spmd__contributions_prepare(struct contributions *contributions, spmd_dtype dtype,
                                        spmd_shape shape)
{
    const struct steps *steps = contributions->steps;
    contributions->dtype = dtype;
    contributions->box =
        spmd__sharding_box_of(contributions->from, shape, contributions->from->mesh->position);
    contributions->count = spmd_box_size(&contributions->box);
    return steps->reduce == MOVE_REDUCE_SCATTER ? cut(contributions, shape) : SPMD_OK;
}

static const void *pack(const struct contributions *contributions, const void *block)
{
    size_t element = spmd_dtype_size(contributions->dtype);
    char *at = contributions->packed;
    if (!at)
        return block;
    for (int64_t m = 0; m < contributions->group->size; m++) {
        struct view offset = part_of(contributions, m), part = spmd__view_at(&offset, block);
        at = spmd__view_pack(&part, at, element);
    }
    return contributions->packed;
}

spmd_status spmd__contributions_add_up(struct contributions *contributions, const void *block,
                                       void *values)
{
    const struct group *group = contributions->group;
    spmd_reduction kind = contributions->steps->kind;
    struct arena *scratch = &contributions->scratch;
    struct arena_mark mark = spmd__arena_mark(scratch);
    spmd_status status =
        contributions->counts
            ? spmd__reduce_scatter(group, kind, contributions->dtype, pack(contributions, block),
                                   contributions->counts, values, scratch)
            : spmd__all_reduce(group, kind, contributions->dtype, block, values,
                               contributions->count, scratch);
    spmd__arena_reset(scratch, mark);
    return status;
}

void spmd__contributions_free(struct contributions *contributions)
{
    free(contributions->counts);
    free(contributions->boxes);
    spmd__pool_give(contributions->packed);
    spmd__arena_free(&contributions->scratch);
}
