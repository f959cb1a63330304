/* space_grid.c - configurations made from ranges: all combinations, or a sample. */
#include "space.h"

#include <string.h>

static spmd_status count_grid(const struct space *base, int nranges, const struct range ranges[],
                              int64_t *nrows)
{
    int64_t count = base ? base->nrows : 1;
    for (int r = 0; r < nranges; r++) {
        if (ranges[r].count == 0)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "%s: a range in a grid has a count, as in %g..%g:8 (or give "
                             "--sample N)",
                             ranges[r].name, ranges[r].lo, ranges[r].hi);
        if (__builtin_mul_overflow(count, ranges[r].count, &count))
            return spmd_fail(SPMD_ERR_ARGUMENT, "a grid of more than 2^63 configurations");
    }
    *nrows = count;
    return SPMD_OK;
}

static spmd_status name_columns(struct space *space, const struct space *base, int nranges,
                                const struct range ranges[])
{
    int first = space->ncolumns - nranges;
    for (int c = 0; c < first; c++)
        SPMD_TRY(space_set_name(space, c, base->names[c], strlen(base->names[c])));
    for (int r = 0; r < nranges; r++)
        SPMD_TRY(space_set_name(space, first + r, ranges[r].name, strlen(ranges[r].name)));
    return SPMD_OK;
}

/* Zeros, with the columns of `base` and one for each range. */
static spmd_status create_named(int64_t nrows, const struct space *base, int nranges,
                                const struct range ranges[], struct space *space)
{
    struct space new;
    SPMD_TRY(space_create(nrows, (base ? base->ncolumns : 0) + nranges, &new));
    spmd_status status = name_columns(&new, base, nranges, ranges);
    if (status != SPMD_OK)
        space_free(&new);
    else
        *space = new;
    return status;
}

spmd_status space_grid(const struct space *base, int nranges, const struct range ranges[],
                       struct space *space)
{
    int first = base ? base->ncolumns : 0;
    int64_t nrows = 0;
    SPMD_TRY(count_grid(base, nranges, ranges, &nrows));
    SPMD_TRY(create_named(nrows, base, nranges, ranges, space));
    for (int64_t row = 0; row < nrows; row++) {
        double *values = &space->values[row * space->ncolumns];
        int64_t rest = row;
        for (int r = nranges - 1; r >= 0; r--) {
            values[first + r] = range_point(&ranges[r], rest % ranges[r].count);
            rest /= ranges[r].count;
        }
        if (base)
            memcpy(values, space_row(base, rest), (size_t)first * sizeof(double));
    }
    return SPMD_OK;
}

spmd_status space_sample(int64_t count, spmd_key key, int nranges, const struct range ranges[],
                         struct space *space)
{
    struct space new;
    SPMD_TRY(create_named(count, NULL, nranges, ranges, &new));
    spmd_status status =
        spmd_random_uniform(key, SPMD_F64, SPMD_SHAPE(count, nranges), NULL, 0, 1, new.values);
    if (status != SPMD_OK) {
        space_free(&new);
        return status;
    }
    for (int64_t i = 0; i < count * nranges; i++)
        new.values[i] = range_draw(&ranges[i % nranges], new.values[i]);
    *space = new;
    return SPMD_OK;
}
