/* table.h - what became of each configuration, as files and on a terminal. */
#ifndef APPS_TABLE_H
#define APPS_TABLE_H

#include "journal.h"
#include "space.h"

/* What the rows mean. Borrowed; the same on all ranks. */
struct table_form {
    const struct space *space;
    int nmetrics;
    const char *metrics[JOURNAL_MAX_METRICS]; /* [nmetrics] names */
    int objective;                            /* the metric to compare by */
    bool minimize;
};

struct table {
    const struct table_form *form;
    struct journal_row *rows; /* [nrows of the space]; NULL where the rank does not hold them */
    int64_t strangers;        /* rows of the journal that are not of the space */
};

/* Local. Takes the journal's rows over: of each configuration the last one that is done, or
 * else the last one. What has none is "not run". */
spmd_status table_create(const struct table_form *form, const uint64_t ids[],
                         struct journal_rows *journal, struct table *table);
void table_free(struct table *table);

/* Local. Rows of a state. */
int64_t table_count(const struct table *table, spmd_sweep_state state);

/* Local. Whether metrics `a` are better than `b`. NaN never is. */
bool table_better(const struct table_form *form, const double a[], const double b[]);

/* Local. Of the rows that are done and not `taken` (NULL: none is), the best, of equals the first;
 * -1 if there is none. */
int64_t table_best(const struct table *table, const bool taken[]);

/* table_print.c. Local. Prints the best `top` rows to standard output, and what all configurations
 * have in common. */
spmd_status table_print(const struct table *table, int64_t top);

/* table_csv.c. Local. Writes all rows, aside and renamed. What a row does not have is empty. */
spmd_status table_write_csv(const struct table *table, const char *path);

/* table_csv.c. Local. Whether a column of such a file is no hyperparameter. `form` is a struct
 * table_form. */
bool table_csv_is_result(const char *name, size_t length, const void *form);

/* table_hdf5.c. Collective over the mesh. Writes all rows, which position 0 holds; a dataset for
 * each column. `fields` [nfields] become attributes of the file. */
spmd_status table_write_hdf5(const struct table *table, spmd_mesh *mesh, const char *path,
                             int nfields, const struct journal_field fields[]);

#endif
