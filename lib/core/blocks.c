/* core/blocks.c - the distinct blocks of an array, by arithmetic on the axes. */
#include "core/blocks.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

spmd_status spmd__blocks_find(const struct axes *axes, const struct spec *spec, spmd_shape shape,
                              struct blocks *blocks)
{
    if (spmd_shape_size(shape) < 0)
        return spmd_fail(SPMD_ERR_SHAPE, "the array has more than 2^63 - 1 elements");
    *blocks = (struct blocks){.axes = axes, .spec = spec, .shape = shape, .count = 1};
    blocks->ranks = spmd__axes_total(axes);
    for (int d = 0; d < shape.ndim; d++) {
        struct split *split = &blocks->split[d];
        split->axes = spmd__spec_entry(spec, d);
        split->parts = spmd__axis_list_size(axes, &split->axes);
        split->ranges = shape.dim[d] < split->parts ? shape.dim[d] : split->parts;
        blocks->count *= split->ranges;
    }
    blocks->repeats = spmd__axis_list_of_mask(spmd__axes_mask(axes) & ~spmd__spec_used(spec));
    blocks->replicas = spmd__axis_list_size(axes, &blocks->repeats);
    return SPMD_OK;
}

spmd_shape spmd__blocks_largest(const struct blocks *blocks)
{
    spmd_shape shape = blocks->shape;
    for (int d = 0; d < shape.ndim; d++) {
        int64_t parts = blocks->split[d].parts;
        shape.dim[d] = shape.dim[d] / parts + (shape.dim[d] % parts != 0);
    }
    return shape;
}

spmd_shape spmd__blocks_smallest(const struct blocks *blocks)
{
    spmd_shape shape = blocks->shape;
    for (int d = 0; d < shape.ndim; d++)
        if (blocks->split[d].ranges > 0)
            shape.dim[d] /= blocks->split[d].ranges;
    return shape;
}

/* The lowest position that has part `part` of dimension `dim`, and part 0 of the others. */
static int64_t position_of_part(const struct blocks *blocks, int dim, int64_t part)
{
    return spmd__axis_list_member(blocks->axes, &blocks->split[dim].axes, 0, part);
}

static void range_of_part(const struct blocks *blocks, int dim, int64_t part, int64_t *lo,
                          int64_t *hi)
{
    spmd__layout_range(blocks->axes, blocks->spec, dim, blocks->shape.dim[dim],
                       position_of_part(blocks, dim, part), lo, hi);
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
        int64_t middle = before + (at - before) / 2, lo, hi;
        range_of_part(blocks, dim, middle, &lo, &hi);
        if (hi > index)
            at = middle;
        else
            before = middle;
    }
    return at;
}

int64_t spmd__blocks_owner(const struct blocks *blocks, const int64_t index[])
{
    int64_t owner = 0;
    for (int d = 0; d < blocks->shape.ndim; d++)
        owner += position_of_part(blocks, d, part_of_range(blocks, d, index[d]));
    return owner;
}

int spmd__blocks_tracks(const struct blocks *blocks, int dim, int most, struct track track[])
{
    int64_t total = dim < 0 ? 1 : blocks->split[dim].ranges;
    int count = total < most ? (int)total : most;
    for (int i = 0; i < count; i++) {
        track[i] = (struct track){.index = i, .hi = 1};
        if (total > most && i >= most / 2) {
            track[i].gap = i == most / 2;
            track[i].index = total - (most - i);
        }
        if (dim >= 0)
            range_of_part(blocks, dim, part_of_range(blocks, dim, track[i].index), &track[i].lo,
                          &track[i].hi);
    }
    return count;
}

int64_t spmd__blocks_slices(const struct blocks *blocks)
{
    int64_t slices = 1;
    for (int d = 0; d < blocks->shape.ndim - 2; d++)
        slices *= blocks->split[d].ranges;
    return slices;
}

void spmd__blocks_slice(const struct blocks *blocks, int64_t slice, int64_t index[])
{
    memset(index, 0, SPMD_MAX_DIMS * sizeof *index);
    for (int d = blocks->shape.ndim - 3; d >= 0; d--) {
        index[d] = slice % blocks->split[d].ranges;
        slice /= blocks->split[d].ranges;
    }
}

int64_t spmd__blocks_next_slice(const struct blocks *blocks, int64_t slice, int most)
{
    int64_t slices = spmd__blocks_slices(blocks);
    bool gap = slices > most && slice + 1 == most / 2;
    return gap ? slices - most / 2 : slice + 1;
}

void spmd__blocks_print_slice(struct text *text, const struct blocks *blocks, const int64_t index[])
{
    spmd__text_add(text, "[");
    for (int d = 0; d < blocks->shape.ndim - 2; d++) {
        int64_t lo, hi;
        range_of_part(blocks, d, part_of_range(blocks, d, index[d]), &lo, &hi);
        spmd__text_add(text, "%lld:%lld, ", (long long)lo, (long long)hi);
    }
    spmd__text_add(text, ":, :]");
}

/* The positions that hold one block: `runs` runs of `length` neighbours each. */
struct holders {
    const struct blocks *blocks;
    int64_t owner; /* the first one */
    int64_t runs;
    int64_t length;
};

static struct holders find_holders(const struct blocks *blocks, const int64_t index[])
{
    const struct axes *axes = blocks->axes;
    struct holders holders = {
        .blocks = blocks, .owner = spmd__blocks_owner(blocks, index), .length = 1};
    uint32_t splits = spmd__spec_used(blocks->spec);
    for (int a = axes->count - 1; a >= 0 && (!(splits >> a & 1) || axes->size[a] == 1); a--)
        holders.length *= axes->size[a];
    holders.runs = blocks->replicas / holders.length;
    return holders;
}

/* Writes run `index`: "4", "4,5" or "4-7". Returns the length, as snprintf. */
static int format_run(const struct holders *holders, int64_t index, char *buffer, size_t size)
{
    const struct blocks *blocks = holders->blocks;
    long long first = spmd__axis_list_member(blocks->axes, &blocks->repeats, holders->owner,
                                             index * holders->length);
    long long last = first + holders->length - 1;
    if (first == last)
        return snprintf(buffer, size, "%lld", first);
    return snprintf(buffer, size, "%lld%c%lld", first, last - first == 1 ? ',' : '-', last);
}

enum { RUN_BYTES = 42 };

void spmd__blocks_holders(const struct blocks *blocks, const int64_t index[], int width,
                          char *buffer, size_t size)
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
