/* space.c - a table of configurations, whatever it was made from. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

#include "ids.h"

spmd_status space_create(int64_t nrows, int ncolumns, struct space *space)
{
    if (nrows > SPACE_MAX_ROWS)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%lld configurations are more than %d: give fewer points, or --sample N",
                         (long long)nrows, SPACE_MAX_ROWS);
    struct space new = {.nrows = nrows, .ncolumns = ncolumns};
    new.names = calloc((size_t)ncolumns + 1, sizeof(char *));
    new.values = calloc((size_t)nrows * (size_t)ncolumns + 1, sizeof(double));
    new.fixed = calloc((size_t)ncolumns + 1, sizeof(bool));
    if (!new.names || !new.values || !new.fixed) {
        space_free(&new);
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)nrows);
    }
    *space = new;
    return SPMD_OK;
}

void space_free(struct space *space)
{
    for (int c = 0; space->names && c < space->ncolumns; c++)
        free(space->names[c]);
    free(space->names);
    free(space->values);
    free(space->fixed);
    *space = (struct space){0};
}

spmd_status space_set_name(struct space *space, int column, const char *name, size_t length)
{
    if (length == 0)
        return spmd_fail(SPMD_ERR_SYNTAX, "column %d has no name", column + 1);
    space->names[column] = strndup(name, length);
    if (!space->names[column])
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory for a name");
    for (int c = 0; c < column; c++)
        if (strcmp(space->names[c], space->names[column]) == 0)
            return spmd_fail(SPMD_ERR_ARGUMENT, "hyperparameter %s stands twice",
                             space->names[column]);
    return SPMD_OK;
}

const double *space_row(const struct space *space, int64_t row)
{
    return &space->values[row * space->ncolumns];
}

/* Marks the rows whose id an earlier one has. */
static spmd_status find_repeats(int64_t nrows, const uint64_t ids[], bool repeats[])
{
    struct id_row *sorted;
    SPMD_TRY(ids_sort(nrows, ids, &sorted));
    for (int64_t i = 1; i < nrows; i++)
        repeats[sorted[i].row] = sorted[i].id == sorted[i - 1].id;
    free(sorted);
    return SPMD_OK;
}

spmd_status space_unique(struct space *space, uint64_t ids[])
{
    size_t width = (size_t)space->ncolumns;
    bool *repeats = calloc((size_t)space->nrows + 1, sizeof *repeats);
    if (!repeats)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations",
                         (long long)space->nrows);
    spmd_status status = find_repeats(space->nrows, ids, repeats);
    int64_t kept = 0;
    for (int64_t i = 0; i < space->nrows && status == SPMD_OK; i++) {
        if (repeats[i])
            continue;
        memmove(&space->values[kept * space->ncolumns], space_row(space, i),
                width * sizeof(double));
        ids[kept++] = ids[i];
    }
    if (status == SPMD_OK)
        space->nrows = kept;
    free(repeats);
    return status;
}

void space_find_fixed(struct space *space)
{
    for (int c = 0; c < space->ncolumns; c++) {
        int64_t row = 1;
        while (row < space->nrows && space_row(space, row)[c] == space->values[c])
            row++;
        space->fixed[c] = row >= space->nrows;
    }
}
