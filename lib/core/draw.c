/* core/draw.c - any box of an array whose elements are functions of their row-major index. */
#include "core/draw.h"

#include "core/box.h"
#include "core/error.h"
#include "core/rows.h"
#include "core/shape.h"

static spmd_status check_box(const spmd_box *box, const spmd_box *whole)
{
    if (box->ndim != whole->ndim)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a box of %d dimensions in an array of %d", box->ndim,
                         whole->ndim);
    if (spmd__box_is_inside(box, whole))
        return SPMD_OK;
    int d = 0;
    while (box->lo[d] >= 0 && box->hi[d] <= whole->hi[d])
        d++;
    return spmd_fail(
        SPMD_ERR_ARGUMENT, "the box's range %lld:%lld of dim %d of %d is not inside 0:%lld",
        (long long)box->lo[d], (long long)box->hi[d], d, box->ndim, (long long)whole->hi[d]);
}

/* Joins the last two dimensions as long as the box spans all of the last one: the indices stay
 * the same, and the runs of neighbours get longer. */
static void join_dims(spmd_shape *shape, spmd_box *box)
{
    for (int d = shape->ndim - 1; d > 0; d--) {
        const int64_t extent = shape->dim[d];
        if (box->hi[d] - box->lo[d] != extent)
            return;
        shape->dim[d - 1] *= extent;
        box->lo[d - 1] *= extent;
        box->hi[d - 1] *= extent;
        shape->ndim = box->ndim = d;
    }
}

spmd_status spmd__draw(draw_run *run, const void *how, size_t element, spmd_shape shape,
                       const spmd_box *box, void *out)
{
    TRY(spmd__shape_check(shape));
    if (spmd_shape_size(shape) < 0)
        return spmd_fail(SPMD_ERR_SHAPE, "an array of this shape has more than 2^63 elements");
    const spmd_box whole = spmd_box_whole(shape);
    spmd_box part = box ? *box : whole;
    TRY(check_box(&part, &whole));
    if (spmd_box_size(&part) == 0)
        return SPMD_OK;
    if (!out)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no memory to write random numbers to");
    join_dims(&shape, &part);
    struct rows rows = spmd__rows_begin(shape, &part);
    char *to = out;
    while (spmd__rows_next(&rows))
        for (int64_t done = 0; done < rows.count; done += DRAW_RUN) {
            const int64_t left = rows.count - done;
            const size_t count = left < DRAW_RUN ? (size_t)left : DRAW_RUN;
            run(how, (uint64_t)(rows.first + done), count, to);
            to += count * element;
        }
    return SPMD_OK;
}
