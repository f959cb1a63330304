/* space.h - the configurations of a sweep: named hyperparameters and a table of their values. */
#ifndef APPS_SPACE_H
#define APPS_SPACE_H

#include <spmd.h>

#include "range.h"

/* More rows than this are taken for a slip of the pen. */
enum { SPACE_MAX_ROWS = RANGE_MAX_POINTS };

struct space {
    int ncolumns;
    char **names; /* [ncolumns] */
    int64_t nrows;
    double *values; /* [nrows, ncolumns] */
    bool *fixed;    /* [ncolumns] whether all rows have the same value; by space_find_fixed */
};

/* Zeros without names. Fails for too many rows. */
spmd_status space_create(int64_t nrows, int ncolumns, struct space *space);
void space_free(struct space *space);

/* Names columns 0, 1, ... in turn. Fails for a name that stands before. */
spmd_status space_set_name(struct space *space, int column, const char *name, size_t length);

/* One row's values [ncolumns]. */
const double *space_row(const struct space *space, int64_t row);

/* Keeps the rows whose id stands there for the first time, and their ids. */
spmd_status space_unique(struct space *space, uint64_t ids[] /* [nrows] */);

void space_find_fixed(struct space *space);

/* space_grid.c. Every row of `base` with every combination of the ranges' points; the last range
 * runs fastest. `base` may be NULL: ranges alone. Fails for a range without a count, a name that
 * stands twice, too many rows. */
spmd_status space_grid(const struct space *base, int nranges, const struct range ranges[],
                       struct space *space);

/* space_grid.c. `count` rows, each a point of every range, uniformly (in the logarithm for log)
 * chosen. Row i depends on the key and i only: more rows do not change the first ones. */
spmd_status space_sample(int64_t count, spmd_key key, int nranges, const struct range ranges[],
                         struct space *space);

/* Whether a column of that name is none of the space's. */
typedef bool space_column_filter(const char *name, size_t length, const void *user);

/* space_table.c. From text: a header line of names, then a line of numbers per row, separated by
 * commas; but for `nleft_out` columns that the filter leaves out. `name` stands for the file in
 * messages. */
spmd_status space_from_csv(const char *text, const char *name, space_column_filter *is_left_out,
                           const void *user, int *nleft_out, struct space *space);

/* space_table.c. From values [nrows, ncolumns] and their names, separated by commas. */
spmd_status space_from_values(const char *names, int64_t nrows, int64_t ncolumns,
                              const double *values, const char *name, struct space *space);

#endif
