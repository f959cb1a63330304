/* core/rows.c - the one loop over the elements of a box, in runs of neighbours. */
#include "core/rows.h"

struct rows spmd__rows_begin(spmd_shape whole, const spmd_box *box)
{
    struct rows rows = {.at = -1, .whole = whole, .box = *box};
    for (int d = 0; d < whole.ndim; d++)
        rows.index[d] = box->lo[d];
    return rows;
}

static int64_t row_major(const struct rows *rows)
{
    int64_t index = 0;
    for (int d = 0; d < rows->whole.ndim; d++)
        index = index * rows->whole.dim[d] + rows->index[d];
    return index;
}

bool spmd__rows_next(struct rows *rows)
{
    int last = rows->whole.ndim - 1;
    if (rows->at < 0) {
        if (spmd_box_size(&rows->box) == 0)
            return false;
        rows->at = 0;
        rows->count = last < 0 ? 1 : rows->box.hi[last] - rows->box.lo[last];
    } else {
        int d = last - 1;
        while (d >= 0 && ++rows->index[d] == rows->box.hi[d]) {
            rows->index[d] = rows->box.lo[d];
            d--;
        }
        if (d < 0)
            return false;
        rows->at += rows->count;
    }
    rows->first = row_major(rows);
    return true;
}
