/* blocks.c - the distinct blocks of an array, by arithmetic on the axes. */
#include "blocks.h"

#include <stdio.h>
#include <string.h>

static void find_axes(struct blocks *blocks)
{
    const spmd_mesh *mesh = spmd_sharding_mesh(blocks->sharding);
    blocks->ranks = spmd_mesh_size(mesh);
    blocks->naxes = spmd_mesh_naxes(mesh);
    int64_t stride = blocks->ranks;
    for (int a = 0; a < blocks->naxes; a++) {
        blocks->size[a] = spmd_mesh_axis_size(mesh, spmd_mesh_axis_name(mesh, a));
        blocks->stride[a] = stride /= blocks->size[a];
        blocks->replicated[a] = true;
    }
}

static void find_split(struct blocks *blocks, int dim)
{
    struct split *split = &blocks->split[dim];
    split->naxes = spmd_sharding_axes(blocks->sharding, dim, split->axis);
    split->parts = 1;
    for (int i = 0; i < split->naxes; i++) {
        split->parts *= blocks->size[split->axis[i]];
        blocks->replicated[split->axis[i]] = false;
    }
    int64_t extent = blocks->shape.dim[dim];
    split->ranges = extent < split->parts ? extent : split->parts;
}

spmd_status blocks_find(const spmd_sharding *sharding, spmd_shape shape, struct blocks *blocks)
{
    SPMD_TRY(spmd_sharding_check(sharding, shape));
    if (spmd_shape_size(shape) < 0)
        return spmd_fail(SPMD_ERR_SHAPE, "the array has more than 2^63 - 1 elements");
    *blocks = (struct blocks){.sharding = sharding, .shape = shape, .count = 1, .replicas = 1};
    find_axes(blocks);
    for (int d = 0; d < shape.ndim; d++) {
        find_split(blocks, d);
        blocks->count *= blocks->split[d].ranges;
    }
    for (int a = 0; a < blocks->naxes; a++)
        if (blocks->replicated[a])
            blocks->replicas *= blocks->size[a];
    return SPMD_OK;
}

/* The lowest position that has part `part` of dimension `dim`, and part 0 of the others. */
static int64_t position_of_part(const struct blocks *blocks, int dim, int64_t part)
{
    const struct split *split = &blocks->split[dim];
    int64_t position = 0;
    for (int i = split->naxes - 1; i >= 0; i--) {
        int axis = split->axis[i];
        position += part % blocks->size[axis] * blocks->stride[axis];
        part /= blocks->size[axis];
    }
    return position;
}

static struct span range_of_part(const struct blocks *blocks, int dim, int64_t part)
{
    spmd_box box = {0};
    spmd_sharding_box(blocks->sharding, blocks->shape, position_of_part(blocks, dim, part), &box);
    return (struct span){box.lo[dim], box.hi[dim]};
}

/* The part that is the range `index`. Sizes differ by at most one: if some part is empty, the
 * others have one element, and the part is the first one that ends behind element `index`. */
static int64_t part_of_range(const struct blocks *blocks, int dim, int64_t index)
{
    const struct split *split = &blocks->split[dim];
    if (split->ranges == split->parts)
        return index;
    int64_t before = -1, at = split->parts - 1;
    while (at - before > 1) {
        int64_t middle = before + (at - before) / 2;
        if (range_of_part(blocks, dim, middle).hi > index)
            at = middle;
        else
            before = middle;
    }
    return at;
}

struct span blocks_range(const struct blocks *blocks, int dim, int64_t index)
{
    return range_of_part(blocks, dim, part_of_range(blocks, dim, index));
}

spmd_shape blocks_largest(const struct blocks *blocks)
{
    spmd_shape shape = blocks->shape;
    for (int d = 0; d < shape.ndim; d++) {
        int64_t parts = blocks->split[d].parts;
        shape.dim[d] = shape.dim[d] / parts + (shape.dim[d] % parts != 0);
    }
    return shape;
}

spmd_shape blocks_smallest(const struct blocks *blocks)
{
    spmd_shape shape = blocks->shape;
    for (int d = 0; d < shape.ndim; d++)
        if (blocks->split[d].ranges > 0)
            shape.dim[d] /= blocks->split[d].ranges;
    return shape;
}

/* The ranks that hold one block: `runs` runs of `length` neighbours each. */
struct holders {
    const struct blocks *blocks;
    int64_t owner; /* the first one */
    int64_t runs;
    int64_t length;
};

static struct holders find_holders(const struct blocks *blocks, const int64_t index[])
{
    struct holders holders = {.blocks = blocks, .length = 1};
    for (int d = 0; d < blocks->shape.ndim; d++)
        holders.owner += position_of_part(blocks, d, part_of_range(blocks, d, index[d]));
    for (int a = blocks->naxes - 1; a >= 0 && (blocks->replicated[a] || blocks->size[a] == 1); a--)
        holders.length *= blocks->size[a];
    holders.runs = blocks->replicas / holders.length;
    return holders;
}

/* The first rank of run `index`: its coordinates along the replicated axes are the digits of the
 * number of ranks before it. */
static int64_t start_of_run(const struct holders *holders, int64_t index)
{
    const struct blocks *blocks = holders->blocks;
    int64_t replica = index * holders->length, rank = holders->owner;
    for (int a = blocks->naxes - 1; a >= 0; a--)
        if (blocks->replicated[a]) {
            rank += replica % blocks->size[a] * blocks->stride[a];
            replica /= blocks->size[a];
        }
    return rank;
}

/* Writes run `index`: "4", "4,5" or "4-7". Returns the length, as snprintf. */
static int format_run(const struct holders *holders, int64_t index, char *buffer, size_t size)
{
    long long first = start_of_run(holders, index), last = first + holders->length - 1;
    if (first == last)
        return snprintf(buffer, size, "%lld", first);
    return snprintf(buffer, size, "%lld%c%lld", first, last - first == 1 ? ',' : '-', last);
}

enum { RUN_BYTES = 42 };

void blocks_holders(const struct blocks *blocks, const int64_t index[], int width, char *buffer,
                    size_t size)
{
    struct holders holders = find_holders(blocks, index);
    char last[RUN_BYTES], tail[RUN_BYTES + 8];
    format_run(&holders, holders.runs - 1, last, sizeof last);
    int tail_length = snprintf(tail, sizeof tail, ",...,%s", last);

    int length = 0, cut = 0; /* `cut` bytes fit together with the tail */
    for (int64_t i = 0; i < holders.runs && (size_t)length < size; i++) {
        char run[RUN_BYTES];
        format_run(&holders, i, run, sizeof run);
        length += snprintf(buffer + length, size - (size_t)length, "%s%s", i > 0 ? "," : "", run);
        if (length > width && holders.runs > 2) {
            cut = i == 0 ? length : cut;
            snprintf(buffer + cut, size - (size_t)cut, "%s", tail);
            return;
        }
        if (i == 0 || length + tail_length <= width)
            cut = length;
    }
}
