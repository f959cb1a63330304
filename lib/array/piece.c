/* array/piece.c - a piece: which indices it has, and where they lie in memory. */
#include "array/piece.h"

#include "core/block.h"
#include "core/shape.h"

spmd_piece spmd_piece_make(spmd_box box, const void *data)
{
    spmd_piece piece = {.box = box, .data = data};
    for (int d = 0; d < box.ndim && d < SPMD_MAX_DIMS; d++)
        piece.step[d] = 1;
    return piece;
}

/* Number of indices of a piece in dimension `dim` that are below `end`. */
static int64_t count_below(const spmd_piece *piece, int dim, int64_t end)
{
    int64_t lo = piece->box.lo[dim], hi = piece->box.hi[dim] < end ? piece->box.hi[dim] : end;
    return hi > lo ? (hi - lo - 1) / piece->step[dim] + 1 : 0;
}

static spmd_shape extents_of(const spmd_piece *piece)
{
    spmd_shape shape = {.ndim = piece->box.ndim};
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = count_below(piece, d, piece->box.hi[d]);
    return shape;
}

/* The indices that a piece and a box have in common: in each dimension, `skip` elements of the
 * piece stand before them. False if there are none. */
static bool cut(const spmd_piece *piece, const spmd_box *box, spmd_piece *common, int64_t skip[])
{
    *common = *piece;
    for (int d = 0; d < box->ndim; d++) {
        skip[d] = count_below(piece, d, box->lo[d]);
        if (skip[d] >= count_below(piece, d, box->hi[d]))
            return false;
        common->box.lo[d] += skip[d] * piece->step[d];
        if (common->box.hi[d] > box->hi[d])
            common->box.hi[d] = box->hi[d];
    }
    return true;
}

/* What `common`, which was cut from `piece`, has of the piece's own memory. */
static struct view view_in_piece(const spmd_piece *piece, const spmd_piece *common,
                                 const int64_t skip[], size_t element)
{
    struct view view = spmd__view_dense((void *)piece->data, element, extents_of(piece));
    spmd_shape extents = extents_of(common);
    for (int d = 0; d < view.ndim; d++) {
        view.extent[d] = extents.dim[d];
        view.data += skip[d] * view.stride[d];
    }
    return view;
}

/* Where the indices of `common` lie in a block that holds them all. */
static struct view view_in_block(const spmd_block *block, const spmd_piece *common)
{
    struct view view = spmd__view_block(block);
    spmd_shape extents = extents_of(common);
    for (int d = 0; d < view.ndim; d++) {
        view.data += (common->box.lo[d] - block->offset[d]) * view.stride[d];
        view.extent[d] = extents.dim[d];
        if (view.extent[d] > 1) /* else the step may be of any size */
            view.stride[d] *= common->step[d];
    }
    return view;
}

bool spmd__piece_find(const spmd_piece *piece, const spmd_box *box, size_t element,
                      struct view *part)
{
    spmd_piece common;
    int64_t skip[SPMD_MAX_DIMS];
    if (!cut(piece, box, &common, skip))
        return false;
    *part = view_in_piece(piece, &common, skip, element);
    return true;
}

bool spmd__piece_find_in_block(const spmd_piece *piece, const spmd_block *block, struct view *part)
{
    spmd_box box = spmd__block_box(block);
    spmd_piece common;
    int64_t skip[SPMD_MAX_DIMS];
    if (!cut(piece, &box, &common, skip))
        return false;
    *part = view_in_block(block, &common);
    return true;
}

bool spmd__piece_has(const spmd_piece *piece, const int64_t index[])
{
    for (int d = 0; d < piece->box.ndim; d++)
        if (index[d] < piece->box.lo[d] || index[d] >= piece->box.hi[d] ||
            (index[d] - piece->box.lo[d]) % piece->step[d] != 0)
            return false;
    return true;
}

spmd_status spmd__piece_check(const spmd_piece *piece, int number, spmd_shape shape)
{
    if (piece->box.ndim != shape.ndim)
        return spmd_fail(SPMD_ERR_SHAPE, "piece %d has %d dimensions, the array has %d", number,
                         piece->box.ndim, shape.ndim);
    for (int d = 0; d < shape.ndim; d++) {
        int64_t lo = piece->box.lo[d], hi = piece->box.hi[d];
        if (piece->step[d] < 1)
            return spmd_fail(SPMD_ERR_ARGUMENT, "piece %d has step %lld in dim %d of %d", number,
                             (long long)piece->step[d], d, shape.ndim);
        if (lo < 0 || hi < lo || hi > shape.dim[d])
            return spmd_fail(SPMD_ERR_SHAPE,
                             "piece %d reaches outside of dim %d of %d: %lld:%lld of %lld", number,
                             d, shape.ndim, (long long)lo, (long long)hi, (long long)shape.dim[d]);
    }
    if (!piece->data && spmd_shape_size(extents_of(piece)) > 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "piece %d has no data, it is NULL", number);
    return SPMD_OK;
}
