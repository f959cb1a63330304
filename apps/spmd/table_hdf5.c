/* table_hdf5.c - the rows of a sweep as an HDF5 file, a dataset for each column. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

#include "h5file.h"

struct sink {
    spmd_mesh *mesh;
    spmd_sharding *whole; /* P(): written once, by position 0 */
    spmd_file *file;
    const struct table *table;
    void *values; /* [nrows] of f64 or i32, a column on its way; NULL but at position 0 */
};

/* A row's value in one of a group of columns. */
typedef double column_get(const struct table *table, int64_t row, int column);

static double get_config(const struct table *table, int64_t row, int column)
{
    return space_row(table->form->space, row)[column];
}

static double get_metric(const struct table *table, int64_t row, int column)
{
    return table->rows[row].metrics[column];
}

static double get_seconds(const struct table *table, int64_t row, int column)
{
    (void)column;
    return table->rows[row].seconds;
}

static double get_rank(const struct table *table, int64_t row, int column)
{
    (void)column;
    return table->rows[row].rank;
}

static double get_state(const struct table *table, int64_t row, int column)
{
    (void)column;
    return table->rows[row].state;
}

static void fill_values(struct sink *sink, spmd_dtype dtype, column_get *get, int column)
{
    double *numbers = sink->values;
    int32_t *integers = sink->values;
    for (int64_t i = 0; sink->values && i < sink->table->form->space->nrows; i++)
        if (dtype == SPMD_I32)
            integers[i] = (int32_t)get(sink->table, i, column);
        else
            numbers[i] = get(sink->table, i, column);
}

static spmd_status write_column(struct sink *sink, const char *group, const char *name,
                                spmd_dtype dtype, column_get *get, int column)
{
    int64_t nrows = sink->table->form->space->nrows;
    char *path;
    spmd_array *array = NULL;
    if (asprintf(&path, "%s%s", group, name) < 0)
        path = NULL;
    spmd_status status = path ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    status = spmd_agree(sink->mesh, status);
    fill_values(sink, dtype, get, column);
    if (status == SPMD_OK)
        status = spmd_device_put_root(0, sink->values, nrows, dtype, SPMD_SHAPE(nrows), sink->whole,
                                      &array);
    if (status == SPMD_OK)
        status = spmd_dataset_write(sink->file, path, array);
    spmd_array_free(&array);
    free(path);
    return status;
}

/* What the numbers of the column of states mean. */
static spmd_status explain_states(struct sink *sink)
{
    char codes[128] = "";
    for (int s = SPMD_SWEEP_NOT_RUN, used = 0; s <= SPMD_SWEEP_DIVERGED; s++)
        used += snprintf(codes + used, sizeof codes - (size_t)used, "%s%d %s", used > 0 ? ", " : "",
                         s, spmd_sweep_state_name((spmd_sweep_state)s));
    return spmd_dataset_set_text(sink->file, "state", "codes", codes);
}

static spmd_status write_all_columns(struct sink *sink)
{
    const struct table_form *form = sink->table->form;
    char *const *names = form->space->names;
    for (int c = 0; c < form->space->ncolumns; c++)
        SPMD_TRY(write_column(sink, "config/", names[c], SPMD_F64, get_config, c));
    for (int m = 0; m < form->nmetrics; m++)
        SPMD_TRY(write_column(sink, "metric/", form->metrics[m], SPMD_F64, get_metric, m));
    SPMD_TRY(write_column(sink, "", "seconds", SPMD_F64, get_seconds, 0));
    SPMD_TRY(write_column(sink, "", "rank", SPMD_I32, get_rank, 0));
    SPMD_TRY(write_column(sink, "", "state", SPMD_I32, get_state, 0));
    return explain_states(sink);
}

static spmd_status write_fields(struct sink *sink, int nfields, const struct journal_field fields[])
{
    const struct table_form *form = sink->table->form;
    for (int i = 0; i < nfields; i++)
        SPMD_TRY(spmd_dataset_set_text(sink->file, "/", fields[i].key, fields[i].value));
    SPMD_TRY(spmd_dataset_set_text(sink->file, "/", "objective", form->metrics[form->objective]));
    return spmd_dataset_set_text(sink->file, "/", "better", form->minimize ? "less" : "more");
}

static spmd_status write_file(struct sink *sink, const char *path, int nfields,
                              const struct journal_field fields[])
{
    SPMD_TRY(spmd_file_create(sink->mesh, path, &sink->file));
    spmd_status status = write_all_columns(sink);
    if (status == SPMD_OK)
        status = write_fields(sink, nfields, fields);
    return h5file_end(&sink->file, status);
}

static spmd_status prepare(struct sink *sink)
{
    size_t nrows = (size_t)sink->table->form->space->nrows;
    SPMD_TRY(spmd_sharding_create(sink->mesh, "P()", &sink->whole));
    if (!sink->table->rows)
        return SPMD_OK;
    sink->values = calloc(nrows + 1, sizeof(double));
    if (!sink->values)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a column of %zu rows", nrows);
    return SPMD_OK;
}

spmd_status table_write_hdf5(const struct table *table, spmd_mesh *mesh, const char *path,
                             int nfields, const struct journal_field fields[])
{
    struct sink sink = {.mesh = mesh, .table = table};
    spmd_status status = spmd_agree(mesh, prepare(&sink));
    if (status == SPMD_OK)
        status = write_file(&sink, path, nfields, fields);
    spmd_sharding_free(&sink.whole);
    free(sink.values);
    return status;
}
