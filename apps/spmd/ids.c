/* ids.c - rows by what identifies them: sorted, and found by halving. */
#include "ids.h"

#include <stdlib.h>

static int compare_rows(const void *a, const void *b)
{
    const struct id_row *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

spmd_status ids_sort(int64_t nrows, const uint64_t ids[], struct id_row **sorted)
{
    struct id_row *new = malloc(((size_t)nrows + 1) * sizeof *new);
    if (!new)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)nrows);
    for (int64_t i = 0; i < nrows; i++)
        new[i] = (struct id_row){ids[i], i};
    qsort(new, (size_t)nrows, sizeof *new, compare_rows);
    *sorted = new;
    return SPMD_OK;
}

static int compare_id(const void *id, const void *row)
{
    uint64_t a = *(const uint64_t *)id, b = ((const struct id_row *)row)->id;
    return a < b ? -1 : a > b;
}

int64_t ids_find(int64_t nrows, const struct id_row sorted[], uint64_t id)
{
    const struct id_row *found = bsearch(&id, sorted, (size_t)nrows, sizeof *sorted, compare_id);
    return found ? found->row : -1;
}
