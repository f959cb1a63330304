/* io/tiles.c - a box of an array cut along the chunks of the dataset that it goes to. */
#include "io/tiles.h"

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t parts(int64_t extent, int64_t part)
{
    return extent / part + (extent % part != 0);
}

/* Whether steps [ndim], as far as they lie in a box of `extent`, are more than `most` elements. */
static bool is_large(spmd_shape extent, const int64_t step[], int64_t most)
{
    for (int d = 0; d < extent.ndim; d++) {
        int64_t taken = min(step[d], extent.dim[d]);
        if (taken > most)
            return true;
        most /= taken;
    }
    return false;
}

/* Halves the first dimension that has more than one `unit`; false if there is none. */
static bool halve(int ndim, const int64_t unit[], int64_t step[])
{
    for (int d = 0; d < ndim; d++)
        if (step[d] > unit[d]) {
            step[d] = parts(step[d] / unit[d], 2) * unit[d];
            return true;
        }
    return false;
}

/* Whole chunks; but if a single one is too large, parts of it. */
static void choose_steps(const spmd_hyperslab *slab, const int64_t chunk[], int64_t most,
                         struct tiles *tiles)
{
    static const int64_t single[SPMD_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t unit[SPMD_MAX_DIMS];
    spmd_shape extent = spmd_box_shape(&tiles->box);
    for (int d = 0; d < extent.ndim; d++) {
        unit[d] = max(1, chunk[d] / slab->stride[d]);
        tiles->step[d] = parts(extent.dim[d] + unit[d], unit[d]) * unit[d];
    }
    while (is_large(extent, tiles->step, most) && halve(extent.ndim, unit, tiles->step))
        ;
    while (is_large(extent, tiles->step, most) && halve(extent.ndim, single, tiles->step))
        ;
}

struct tiles spmd__tiles_cut(const spmd_hyperslab *slab, const int64_t chunk[], const spmd_box *box,
                             size_t element, int64_t limit)
{
    struct tiles tiles = {.box = *box};
    if (spmd_box_size(box) == 0)
        return tiles;
    choose_steps(slab, chunk, max(1, limit / (int64_t)element), &tiles);
    tiles.total = 1;
    for (int d = 0; d < box->ndim; d++) {
        int64_t place = slab->start[d] + box->lo[d];
        tiles.first[d] = box->lo[d] - (slab->stride[d] == 1 ? place % tiles.step[d] : 0);
        tiles.count[d] = parts(box->hi[d] - tiles.first[d], tiles.step[d]);
        tiles.total *= tiles.count[d];
    }
    return tiles;
}

spmd_box spmd__tiles_get(const struct tiles *tiles, int64_t index)
{
    spmd_box tile = {.ndim = tiles->box.ndim};
    for (int d = tile.ndim - 1; d >= 0; d--) {
        int64_t lo = tiles->first[d] + index % tiles->count[d] * tiles->step[d];
        tile.lo[d] = max(lo, tiles->box.lo[d]);
        tile.hi[d] = min(lo + tiles->step[d], tiles->box.hi[d]);
        index /= tiles->count[d];
    }
    return tile;
}
