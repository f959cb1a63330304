/* core/shape.c - extents of arrays and of blocks. */
#include "core/shape.h"

#include "core/cursor.h"
#include "core/error.h"
#include "core/layout.h"

spmd_shape spmd_shape_make(int ndim, const int64_t *dim)
{
    spmd_shape shape = {.ndim = ndim >= 0 && ndim <= SPMD_MAX_DIMS ? ndim : -1};
    for (int d = 0; d < shape.ndim; d++)
        shape.dim[d] = dim[d];
    return shape;
}

spmd_status spmd__shape_check(spmd_shape shape)
{
    if (shape.ndim < 0 || shape.ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SHAPE, "a shape has 0 to %d dimensions", SPMD_MAX_DIMS);
    for (int d = 0; d < shape.ndim; d++)
        if (shape.dim[d] < 0)
            return spmd_fail(SPMD_ERR_SHAPE, "dim %d of %d has the negative size %lld", d,
                             shape.ndim, (long long)shape.dim[d]);
    return SPMD_OK;
}

static spmd_status fail_of_size(spmd_dtype dtype, spmd_shape shape)
{
    char type[512];
    struct text text = spmd__text_begin(type, sizeof type);
    spmd__type_print(&text, dtype, shape);
    return spmd_fail(SPMD_ERR_SHAPE, "%s would take more than 2^63 bytes", type);
}

spmd_status spmd__type_check(spmd_dtype dtype, spmd_shape shape, int64_t *bytes)
{
    int64_t element = (int64_t)spmd_dtype_size(dtype), size = spmd_shape_size(shape);
    if (element == 0)
        return spmd_fail(SPMD_ERR_DTYPE, "%d is no element type", (int)dtype);
    TRY(spmd__shape_check(shape));
    if (size < 0 || __builtin_mul_overflow(size, element, bytes))
        return fail_of_size(dtype, shape);
    return SPMD_OK;
}

int64_t spmd_shape_size(spmd_shape shape)
{
    int64_t size = 1;
    bool fits = true;
    if (shape.ndim < 0 || shape.ndim > SPMD_MAX_DIMS)
        return -1;
    bool empty = false;
    for (int d = 0; d < shape.ndim; d++) {
        if (shape.dim[d] < 0)
            return -1;
        empty = empty || shape.dim[d] == 0;
        fits = fits && !__builtin_mul_overflow(size, shape.dim[d], &size);
    }
    return empty ? 0 : fits ? size : -1;
}

bool spmd_shape_equal(spmd_shape a, spmd_shape b)
{
    if (a.ndim != b.ndim || a.ndim > SPMD_MAX_DIMS)
        return false;
    for (int d = 0; d < a.ndim; d++)
        if (a.dim[d] != b.dim[d])
            return false;
    return true;
}

spmd_status spmd_shape_parse(const char *text, spmd_shape *shape)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read a shape from, it is NULL");
    struct cursor cursor = {text, text};
    spmd_shape read = {.ndim = 0};
    if (!spmd__cursor_at_end(&cursor))
        do {
            if (read.ndim == SPMD_MAX_DIMS)
                return spmd_fail(SPMD_ERR_SYNTAX, "shape \"%s\" has more than %d dimensions", text,
                                 SPMD_MAX_DIMS);
            if (!spmd__cursor_number(&cursor, &read.dim[read.ndim++]))
                return spmd_fail(SPMD_ERR_SYNTAX,
                                 "shape \"%s\": expected a size%s at column %d, as in 8x4", text,
                                 spmd__cursor_too_large(&cursor) ? " below 2^63" : "",
                                 spmd__cursor_column(&cursor));
        } while (spmd__cursor_take(&cursor, "x"));
    if (!spmd__cursor_at_end(&cursor))
        return spmd_fail(SPMD_ERR_SYNTAX, "shape \"%s\": expected x at column %d, as in 8x4", text,
                         spmd__cursor_column(&cursor));
    *shape = read;
    return SPMD_OK;
}

spmd_shape spmd__shape_without(spmd_shape shape, int dim)
{
    shape.ndim--;
    for (int d = dim; d < shape.ndim; d++)
        shape.dim[d] = shape.dim[d + 1];
    return shape;
}

spmd_shape spmd__shape_with(spmd_shape shape, int dim, int64_t extent)
{
    for (int d = shape.ndim; d > dim; d--)
        shape.dim[d] = shape.dim[d - 1];
    shape.dim[dim] = extent;
    shape.ndim++;
    return shape;
}
