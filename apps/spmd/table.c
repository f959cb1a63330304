/* table.c - merging, ranking, printing and writing the rows of a sweep. */
#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows. */

static void take_row(struct journal_row *mine, struct journal_row *row)
{
    if (mine->state == SPMD_SWEEP_DONE && row->state != SPMD_SWEEP_DONE)
        return;
    char *message = mine->message;
    *mine = *row;
    row->message = message; /* freed with the journal's rows */
}

static void clear_row(struct journal_row *row)
{
    *row = (struct journal_row){.state = SPMD_SWEEP_NOT_RUN, .seconds = NAN, .rank = -1};
    for (int m = 0; m < JOURNAL_MAX_METRICS; m++)
        row->metrics[m] = NAN;
}

spmd_status table_create(const struct table_form *form, const uint64_t ids[],
                         struct journal_rows *journal, struct table *table)
{
    int64_t nrows = form->space->nrows;
    struct table new = {.form = form};
    struct place *places;
    SPMD_TRY(places_create(nrows, ids, &places));
    new.rows = malloc(((size_t)nrows + 1) * sizeof *new.rows);
    if (new.rows == NULL) {
        free(places);
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld rows", (long long)nrows);
    }
    for (int64_t i = 0; i < nrows; i++)
        clear_row(&new.rows[i]);
    for (int64_t i = 0; i < journal->count; i++) {
        int64_t row = places_find(nrows, places, journal->rows[i].id);
        if (row >= 0)
            take_row(&new.rows[row], &journal->rows[i]);
        else
            new.strangers++;
    }
    free(places);
    *table = new;
    return SPMD_OK;
}

void table_free(struct table *table)
{
    for (int64_t i = 0; table->rows != NULL && i < table->form->space->nrows; i++)
        free(table->rows[i].message);
    free(table->rows);
    *table = (struct table){0};
}

int64_t table_count(const struct table *table, spmd_sweep_state state)
{
    int64_t count = 0;
    for (int64_t i = 0; i < table->form->space->nrows; i++)
        count += table->rows[i].state == state;
    return count;
}

bool table_better(const struct table_form *form, const double a[], const double b[])
{
    double x = a[form->objective], y = b[form->objective];
    if (isnan(x) || isnan(y))
        return !isnan(x);
    return form->minimize ? x < y : x > y;
}

/* Of the rows that are done and not yet `taken` (may be NULL), the best; of equals the first. */
static int64_t best_of(const struct table *table, const bool taken[])
{
    int64_t best = -1;
    for (int64_t i = 0; i < table->form->space->nrows; i++) {
        const struct journal_row *row = &table->rows[i];
        if (row->state != SPMD_SWEEP_DONE || (taken != NULL && taken[i]))
            continue;
        if (best < 0 || table_better(table->form, row->metrics, table->rows[best].metrics))
            best = i;
    }
    return best;
}

int64_t table_best(const struct table *table)
{
    return best_of(table, NULL);
}

/* The terminal. */

/* At least as wide as the numbers below. */
static int width_of(const char *name)
{
    int length = (int)strlen(name);
    return length > 10 ? length : 10;
}

static void print_names(const struct table_form *form, FILE *stream)
{
    const struct space *space = form->space;
    fprintf(stream, "%4s", "#");
    for (int c = 0; c < space->ncolumns; c++)
        if (!space_is_fixed(space, c))
            fprintf(stream, " %*s", width_of(space->names[c]), space->names[c]);
    for (int m = 0; m < form->nmetrics; m++)
        fprintf(stream, " %*s", width_of(form->metrics[m]), form->metrics[m]);
    fprintf(stream, " %*s\n", width_of("seconds"), "seconds");
}

static void print_row(const struct table *table, int64_t place, int64_t row, FILE *stream)
{
    const struct table_form *form = table->form;
    const struct space *space = form->space;
    fprintf(stream, "%4lld", (long long)place);
    for (int c = 0; c < space->ncolumns; c++) {
        double value = space_row(space, row)[c];
        if (!space_is_fixed(space, c))
            fprintf(stream, " %*.*g", width_of(space->names[c]), value == floor(value) ? 10 : 4,
                    value);
    }
    for (int m = 0; m < form->nmetrics; m++)
        fprintf(stream, " %*.4g", width_of(form->metrics[m]), table->rows[row].metrics[m]);
    fprintf(stream, " %*.3f\n", width_of("seconds"), table->rows[row].seconds);
}

static void print_fixed(const struct space *space, FILE *stream)
{
    const char *before = "all with";
    for (int c = 0; c < space->ncolumns; c++)
        if (space_is_fixed(space, c)) {
            fprintf(stream, "%s %s=%.10g", before, space->names[c], space->values[c]);
            before = ",";
        }
    if (before[0] == ',')
        fputc('\n', stream);
}

spmd_status table_print(const struct table *table, int64_t top, FILE *stream)
{
    int64_t nrows = table->form->space->nrows, done = table_count(table, SPMD_SWEEP_DONE);
    if (top > done)
        top = done;
    if (top == 0)
        return SPMD_OK;
    bool *taken = calloc((size_t)nrows, sizeof *taken);
    if (taken == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory to rank %lld rows", (long long)nrows);
    print_names(table->form, stream);
    for (int64_t place = 1; place <= top; place++) {
        int64_t row = best_of(table, taken);
        print_row(table, place, row, stream);
        taken[row] = true;
    }
    free(taken);
    print_fixed(table->form->space, stream);
    return SPMD_OK;
}

/* CSV. */

/* The shortest text that reads back as the same number. */
static void write_exact(FILE *stream, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(isnan(value) ? "nan" : text, stream);
}

static void write_quoted(FILE *stream, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    fputc('"', stream);
    for (; *text != '\0'; text++)
        fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', stream);
}

static void write_csv_row(const struct table *table, int64_t i, FILE *stream)
{
    const struct table_form *form = table->form;
    const struct journal_row *row = &table->rows[i];
    for (int c = 0; c < form->space->ncolumns; c++) {
        write_exact(stream, space_row(form->space, i)[c]);
        fputc(',', stream);
    }
    for (int m = 0; m < form->nmetrics; m++) {
        write_exact(stream, row->metrics[m]);
        fputc(',', stream);
    }
    write_exact(stream, row->seconds);
    fprintf(stream, ",%d,%s,", row->rank, spmd_sweep_state_name(row->state));
    write_quoted(stream, row->message);
    fputc('\n', stream);
}

static void write_csv_text(const struct table *table, FILE *stream)
{
    const struct table_form *form = table->form;
    for (int c = 0; c < form->space->ncolumns; c++)
        fprintf(stream, "%s,", form->space->names[c]);
    for (int m = 0; m < form->nmetrics; m++)
        fprintf(stream, "%s,", form->metrics[m]);
    fputs("seconds,rank,state,message\n", stream);
    for (int64_t i = 0; i < form->space->nrows; i++)
        write_csv_row(table, i, stream);
}

static bool write_aside(const struct table *table, const char *aside)
{
    FILE *stream = fopen(aside, "we");
    if (stream == NULL)
        return false;
    write_csv_text(table, stream);
    bool well = fflush(stream) == 0 && !ferror(stream) && fsync(fileno(stream)) == 0;
    return fclose(stream) == 0 && well;
}

spmd_status table_write_csv(const struct table *table, const char *path)
{
    char *aside;
    if (asprintf(&aside, "%s.tmp", path) < 0)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory to write %s", path);
    spmd_status status = SPMD_OK;
    if (!write_aside(table, aside) || rename(aside, path) != 0) {
        status = spmd_fail(SPMD_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
        unlink(aside);
    }
    free(aside);
    return status;
}

/* HDF5. */

struct sink {
    spmd_mesh *mesh;
    spmd_sharding *whole; /* P(): written once, by position 0 */
    spmd_file *file;
    const struct table *table;
    double *numbers; /* [nrows] a column on its way, as f64 or as i32; NULL but at position 0 */
    int32_t *integers;
};

static spmd_status write_column(struct sink *sink, const char *group, const char *name,
                                spmd_dtype dtype, const void *values)
{
    int64_t nrows = sink->table->form->space->nrows;
    char *path;
    spmd_array *array = NULL;
    if (asprintf(&path, "%s%s", group, name) < 0)
        path = NULL;
    spmd_status status = path != NULL ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "out of memory");
    status = spmd_agree(sink->mesh, status);
    if (status == SPMD_OK)
        status =
            spmd_device_put_root(0, values, nrows, dtype, SPMD_SHAPE(nrows), sink->whole, &array);
    if (status == SPMD_OK)
        status = spmd_dataset_write(sink->file, path, array);
    spmd_array_free(&array);
    free(path);
    return status;
}

static spmd_status write_config(struct sink *sink, int column)
{
    const struct space *space = sink->table->form->space;
    for (int64_t i = 0; sink->numbers != NULL && i < space->nrows; i++)
        sink->numbers[i] = space_row(space, i)[column];
    return write_column(sink, "config/", space->names[column], SPMD_F64, sink->numbers);
}

static spmd_status write_metric(struct sink *sink, int metric)
{
    const struct table_form *form = sink->table->form;
    for (int64_t i = 0; sink->numbers != NULL && i < form->space->nrows; i++)
        sink->numbers[i] = sink->table->rows[i].metrics[metric];
    return write_column(sink, "metric/", form->metrics[metric], SPMD_F64, sink->numbers);
}

static spmd_status write_seconds(struct sink *sink)
{
    for (int64_t i = 0; sink->numbers != NULL && i < sink->table->form->space->nrows; i++)
        sink->numbers[i] = sink->table->rows[i].seconds;
    return write_column(sink, "", "seconds", SPMD_F64, sink->numbers);
}

static spmd_status write_rank(struct sink *sink)
{
    for (int64_t i = 0; sink->integers != NULL && i < sink->table->form->space->nrows; i++)
        sink->integers[i] = sink->table->rows[i].rank;
    return write_column(sink, "", "rank", SPMD_I32, sink->integers);
}

static spmd_status write_state(struct sink *sink)
{
    for (int64_t i = 0; sink->integers != NULL && i < sink->table->form->space->nrows; i++)
        sink->integers[i] = (int32_t)sink->table->rows[i].state;
    SPMD_TRY(write_column(sink, "", "state", SPMD_I32, sink->integers));
    char codes[128] = "";
    for (int s = SPMD_SWEEP_NOT_RUN, used = 0; s <= SPMD_SWEEP_DIVERGED; s++)
        used += snprintf(codes + used, sizeof codes - (size_t)used, "%s%d %s", used > 0 ? ", " : "",
                         s, spmd_sweep_state_name((spmd_sweep_state)s));
    return spmd_dataset_set_text(sink->file, "state", "codes", codes);
}

static spmd_status write_all_columns(struct sink *sink)
{
    const struct table_form *form = sink->table->form;
    for (int c = 0; c < form->space->ncolumns; c++)
        SPMD_TRY(write_config(sink, c));
    for (int m = 0; m < form->nmetrics; m++)
        SPMD_TRY(write_metric(sink, m));
    SPMD_TRY(write_seconds(sink));
    SPMD_TRY(write_rank(sink));
    return write_state(sink);
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
    if (status != SPMD_OK) {
        spmd_file_discard(&sink->file);
        return status;
    }
    return spmd_file_close(&sink->file);
}

static spmd_status make_buffers(struct sink *sink)
{
    size_t nrows = (size_t)sink->table->form->space->nrows;
    SPMD_TRY(spmd_sharding_create(sink->mesh, "P()", &sink->whole));
    if (sink->table->rows == NULL)
        return SPMD_OK;
    sink->numbers = calloc(nrows + 1, sizeof(double));
    sink->integers = calloc(nrows + 1, sizeof(int32_t));
    if (sink->numbers == NULL || sink->integers == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a column of %zu rows", nrows);
    return SPMD_OK;
}

spmd_status table_write_hdf5(const struct table *table, spmd_mesh *mesh, const char *path,
                             int nfields, const struct journal_field fields[])
{
    struct sink sink = {.mesh = mesh, .table = table};
    spmd_status status = spmd_agree(mesh, make_buffers(&sink));
    if (status == SPMD_OK)
        status = write_file(&sink, path, nfields, fields);
    spmd_sharding_free(&sink.whole);
    free(sink.numbers);
    free(sink.integers);
    return status;
}
