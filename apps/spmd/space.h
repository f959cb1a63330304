/* space.h - the configurations of a sweep: named hyperparameters and a table of their values. */
#ifndef APPS_SPACE_H
#define APPS_SPACE_H

#include <spmd.h>

/* More rows than this are taken for a slip of the pen. */
#define SPACE_MAX_ROWS 10000000

/* The values that one hyperparameter takes: a list, or a range with or without a count. */
struct range {
    char *name;
    enum { RANGE_LIST, RANGE_LINEAR, RANGE_LOG } kind;
    double lo, hi;  /* of a range, both taken */
    int64_t count;  /* points; 0 for a range without a count */
    double *values; /* [count] of a list */
    bool whole;     /* points of a range are rounded; set by who knows the hyperparameter */
};

/* Reads "lr=0.001..1:log:8", "width=16..64:4", "lr=0.1..1" or "width=16,32,64". Fails with
 * SPMD_ERR_SYNTAX, or SPMD_ERR_ARGUMENT for a number that is not finite. */
spmd_status range_parse(const char *text, struct range *range);
void range_free(struct range *range);

struct space {
    int ncolumns;
    char **names; /* [ncolumns] */
    int64_t nrows;
    double *values; /* [nrows, ncolumns] */
};

/* Every row of `base` with every combination of the ranges' points; the last range runs fastest.
 * `base` may be NULL: ranges alone. Fails for a range without a count, a name that stands
 * twice, too many rows. */
spmd_status space_grid(const struct space *base, int nranges, const struct range ranges[],
                       struct space *space);

/* `count` rows, each a point of every range, uniformly (in the logarithm for log) chosen. Row i
 * depends on the key and i only: more rows do not change the first ones. */
spmd_status space_sample(int64_t count, spmd_key key, int nranges, const struct range ranges[],
                         struct space *space);

/* From text: a header line of names, then a line of numbers per row, separated by commas. `name`
 * stands for the file in messages. */
spmd_status space_from_csv(const char *text, const char *name, struct space *space);

/* From values [nrows, ncolumns] and their names, separated by commas. */
spmd_status space_from_values(const char *names, int64_t nrows, int64_t ncolumns,
                              const double *values, const char *name, struct space *space);

/* Keeps the rows whose id stands there for the first time, and their ids. */
spmd_status space_unique(struct space *space, uint64_t ids[] /* [nrows] */);

/* To find rows by their ids: places sorted by id, then by row. To be freed by free(). */
struct place {
    uint64_t id;
    int64_t row;
};
spmd_status places_create(int64_t nrows, const uint64_t ids[], struct place **places);

/* The row of an id; -1 if there is none. */
int64_t places_find(int64_t nrows, const struct place places[], uint64_t id);

/* One row's values [ncolumns]. */
const double *space_row(const struct space *space, int64_t row);

/* Whether a column has the same value in all rows. */
bool space_is_fixed(const struct space *space, int column);

void space_free(struct space *space);

/* Reads a finite number that ends at `end` (NULL: at the end of the text); false if it is none. */
bool space_number(const char *text, const char *end, double *number);

#endif
