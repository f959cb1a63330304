/* array/grid.c - a grid of devices, reshaped, transposed, replicated: kept as axes and the
 * dimensions that they lie along. */
#include "array/grid.h"

#include "core/absent.h"
#include "core/error.h"
#include "core/shape.h"

int spmd__grid_listed(const spmd_grid *grid)
{
    return grid->first[grid->shape.ndim];
}

int spmd__grid_place(const spmd_grid *grid, int axis)
{
    for (int i = 0; i < spmd__grid_listed(grid); i++)
        if (grid->axis[i] == axis)
            return i;
    return -1;
}

int spmd__grid_dimension(const spmd_grid *grid, int place)
{
    int dim = 0;
    while (grid->first[dim + 1] <= place)
        dim++;
    return dim;
}

/* Makes room for a place in the list, as part of dimension `dim`; or takes it away. */
static void insert_place(spmd_grid *grid, int dim, int place, int axis)
{
    for (int i = spmd__grid_listed(grid); i > place; i--)
        grid->axis[i] = grid->axis[i - 1];
    grid->axis[place] = axis;
    for (int d = dim + 1; d <= grid->shape.ndim; d++)
        grid->first[d]++;
}

static void remove_place(spmd_grid *grid, int place)
{
    int dim = spmd__grid_dimension(grid, place);
    for (int i = place; i + 1 < spmd__grid_listed(grid); i++)
        grid->axis[i] = grid->axis[i + 1];
    for (int d = dim + 1; d <= grid->shape.ndim; d++)
        grid->first[d]--;
}

/* Cuts the axis at `place` in two, the first of size `major`. */
static spmd_status split_axis(spmd_grid *grid, int place, int64_t major)
{
    int axis = grid->axis[place];
    if (grid->naxes == SPMD_MAX_AXES)
        return spmd_fail(SPMD_ERR_SHAPE, "a grid of devices has at most %d axes, this needs more",
                         SPMD_MAX_AXES);
    for (int a = grid->naxes++; a > axis; a--)
        grid->size[a] = grid->size[a - 1];
    grid->size[axis] = major;
    grid->size[axis + 1] /= major;
    for (int i = 0; i < spmd__grid_listed(grid); i++)
        grid->axis[i] += grid->axis[i] > axis;
    insert_place(grid, spmd__grid_dimension(grid, place), place + 1, axis + 1);
    return SPMD_OK;
}

/* Whether `axis` and the next one are as good as one: they follow each other in one dimension, or
 * both hold replicas. */
static bool can_join(const spmd_grid *grid, int axis)
{
    int a = spmd__grid_place(grid, axis), b = spmd__grid_place(grid, axis + 1);
    if (a < 0 || b < 0)
        return a < 0 && b < 0;
    return b == a + 1 && spmd__grid_dimension(grid, a) == spmd__grid_dimension(grid, b);
}

static void join_axes(spmd_grid *grid, int axis)
{
    if (spmd__grid_place(grid, axis + 1) >= 0)
        remove_place(grid, spmd__grid_place(grid, axis + 1));
    grid->size[axis] *= grid->size[axis + 1];
    grid->naxes--;
    for (int a = axis + 1; a < grid->naxes; a++)
        grid->size[a] = grid->size[a + 1];
    for (int i = 0; i < spmd__grid_listed(grid); i++)
        grid->axis[i] -= grid->axis[i] > axis;
}

/* As few axes as can be: so a dimension is cut at once wherever it can. */
static spmd_grid simplify(spmd_grid grid)
{
    for (int axis = grid.naxes - 2; axis >= 0; axis--)
        if (can_join(&grid, axis))
            join_axes(&grid, axis);
    return grid;
}

spmd_status spmd__grid_check(const spmd_grid *grid)
{
    return grid ? SPMD_OK : spmd_fail(SPMD_ERR_ARGUMENT, "the grid of devices is NULL");
}

spmd_status spmd_grid_make(int64_t ndevices, spmd_grid *out)
{
    if (ndevices < 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a grid has at least 1 device, not %lld",
                         (long long)ndevices);
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "there is no place for the new grid, it is NULL");
    *out = (spmd_grid){.shape = spmd_shape_make(1, &ndevices)};
    if (ndevices > 1) {
        out->naxes = out->first[1] = 1;
        out->size[0] = ndevices;
    }
    return SPMD_OK;
}

/* Fills the one extent that is open. */
static spmd_status infer_extent(int64_t cells, spmd_shape *shape)
{
    spmd_shape known = spmd_shape_make(shape->ndim, shape->dim);
    int open = -1;
    for (int d = 0; d < known.ndim; d++)
        if (shape->dim[d] == SPMD_INFER && open < 0)
            known.dim[open = d] = 1;
    TRY(spmd__shape_check(known));
    int64_t product = spmd_shape_size(known);
    if (product > 0 && open >= 0 && cells % product == 0)
        known.dim[open] = cells / product;
    if (spmd_shape_size(known) != cells)
        return spmd_fail(SPMD_ERR_SHAPE,
                         "%lld devices, or sets of replicas, do not fill a grid of "
                         "%lld%s",
                         (long long)cells, (long long)product,
                         open >= 0 ? " times an open extent" : "");
    *shape = known;
    return SPMD_OK;
}

/* Takes axes from `place` on, which may have to be cut, for dimension `dim` of size `size`. */
static spmd_status fill_dimension(spmd_grid *grid, int dim, int ndim, int64_t size, int *place)
{
    while (size > 1) {
        int64_t axis_size = grid->size[grid->axis[*place]];
        if (axis_size % size == 0 && axis_size > size)
            TRY(split_axis(grid, *place, size));
        else if (size % axis_size != 0)
            return spmd_fail(SPMD_ERR_SHAPE,
                             "dim %d of %d of the new grid would cut the %lld devices of a "
                             "transposed dimension unevenly: reshape before you transpose",
                             dim, ndim, (long long)axis_size);
        size /= grid->size[grid->axis[(*place)++]];
    }
    return SPMD_OK;
}

spmd_status spmd_grid_reshape(const spmd_grid *grid, spmd_shape shape, spmd_grid *out)
{
    TRY(spmd__grid_check(grid));
    TRY(infer_extent(spmd_shape_size(grid->shape), &shape));
    spmd_grid made = *grid;
    int first[SPMD_MAX_DIMS + 1] = {0}, place = 0;
    /* The list of axes stays in one dimension while it is cut anew. */
    made.shape = SPMD_SHAPE(spmd_shape_size(grid->shape));
    made.first[1] = spmd__grid_listed(grid);
    made = simplify(made);
    for (int d = 0; d < shape.ndim; d++) {
        TRY(fill_dimension(&made, d, shape.ndim, shape.dim[d], &place));
        first[d + 1] = place;
    }
    made.shape = shape;
    for (int d = 0; d <= shape.ndim; d++)
        made.first[d] = first[d];
    *out = simplify(made);
    return SPMD_OK;
}

/* Whether it names each of `ndim` dimensions once. */
static spmd_status check_permutation(const int perm[], int ndim)
{
    uint32_t seen = 0;
    for (int d = 0; d < ndim; d++) {
        if (perm[d] < 0 || perm[d] >= ndim)
            return spmd_fail(SPMD_ERR_ARGUMENT, "transpose: %s",
                             spmd__absent("dim", perm[d], 0, ndim).text);
        if (seen >> perm[d] & 1)
            return spmd_fail(SPMD_ERR_ARGUMENT, "transpose: dim %d of %d is named twice", perm[d],
                             ndim);
        seen |= UINT32_C(1) << perm[d];
    }
    return SPMD_OK;
}

spmd_status spmd_grid_transpose(const spmd_grid *grid, const int perm[], spmd_grid *out)
{
    TRY(spmd__grid_check(grid));
    if (perm)
        TRY(check_permutation(perm, grid->shape.ndim));
    spmd_grid made = *grid;
    int place = 0, ndim = grid->shape.ndim;
    for (int d = 0; d < ndim; d++) {
        int from = perm ? perm[d] : ndim - 1 - d;
        made.shape.dim[d] = grid->shape.dim[from];
        for (int i = grid->first[from]; i < grid->first[from + 1]; i++)
            made.axis[place++] = grid->axis[i];
        made.first[d + 1] = place;
    }
    *out = made;
    return SPMD_OK;
}

spmd_status spmd_grid_replicate(const spmd_grid *grid, int dim, spmd_grid *out)
{
    TRY(spmd__grid_check(grid));
    if (dim != SPMD_ALL_DIMS && (dim < 0 || dim >= grid->shape.ndim))
        return spmd_fail(SPMD_ERR_ARGUMENT, "replicate: %s",
                         spmd__absent("dim", dim, 0, grid->shape.ndim).text);
    spmd_grid made = *grid;
    for (int d = 0; d < made.shape.ndim; d++)
        if (dim == SPMD_ALL_DIMS || dim == d) {
            while (made.first[d] < made.first[d + 1])
                remove_place(&made, made.first[d]);
            made.shape.dim[d] = 1;
        }
    *out = simplify(made);
    return SPMD_OK;
}
