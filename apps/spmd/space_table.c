/* space_table.c - configurations from a table that somebody has made. */
#include "space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "number.h"
#include "plural.h"

/* The names are the fields of the line. */
static spmd_status take_names(struct space *space, struct csv *csv)
{
    for (int c = 0; c < space->ncolumns; c++) {
        struct csv_field field = csv_next_field(csv);
        SPMD_TRY(space_set_name(space, c, field.text, field.length));
    }
    return SPMD_OK;
}

/* A CSV file that is being read. */
struct reader {
    struct csv csv;
    const char *name; /* of the file */
    int nfields;      /* of each line */
    bool *left_out;   /* [nfields] */
};

/* The names, but for those of columns that are left out. */
static spmd_status take_header(struct reader *reader, struct space *space)
{
    int column = 0;
    for (int f = 0; f < reader->nfields; f++) {
        struct csv_field field = csv_next_field(&reader->csv);
        if (!reader->left_out[f])
            SPMD_TRY(space_set_name(space, column++, field.text, field.length));
    }
    return SPMD_OK;
}

static spmd_status take_cell(const struct reader *reader, struct csv_field field,
                             const char *column, double *value)
{
    long long line = reader->csv.line;
    if (field.length == 0)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: %s is empty", reader->name, line, column);
    if (!number_parse(field.text, field.length, value) || !isfinite(*value))
        return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: %s is \"%.*s\", no finite number",
                         reader->name, line, column, (int)field.length, field.text);
    return SPMD_OK;
}

static spmd_status take_row(struct reader *reader, struct space *space, double *values)
{
    int count = csv_count_fields(&reader->csv), column = 0;
    if (count != reader->nfields)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: %d field%s under %d name%s", reader->name,
                         (long long)reader->csv.line, count, plural(count), reader->nfields,
                         plural(reader->nfields));
    for (int f = 0; f < count; f++) {
        struct csv_field field = csv_next_field(&reader->csv);
        if (reader->left_out[f])
            continue;
        SPMD_TRY(take_cell(reader, field, space->names[column], &values[column]));
        column++;
    }
    return SPMD_OK;
}

static int64_t count_lines(const char *text)
{
    int64_t count = 0;
    struct csv csv = csv_begin(text);
    while (csv_next_line(&csv))
        count++;
    return count;
}

/* Marks the columns that are left out, and counts them. */
static int find_left_out(struct reader *reader, space_column_filter *is_left_out, const void *user)
{
    struct csv names = reader->csv;
    int count = 0;
    for (int f = 0; f < reader->nfields; f++) {
        struct csv_field field = csv_next_field(&names);
        reader->left_out[f] = is_left_out(field.text, field.length, user);
        count += reader->left_out[f];
    }
    return count;
}

static spmd_status read_rows(struct reader *reader, int64_t nrows, int ncolumns,
                             struct space *space)
{
    struct space new;
    SPMD_TRY(space_create(nrows, ncolumns, &new));
    spmd_status status = take_header(reader, &new);
    for (int64_t row = 0; status == SPMD_OK && csv_next_line(&reader->csv); row++)
        status = take_row(reader, &new, &new.values[row * ncolumns]);
    if (status != SPMD_OK)
        space_free(&new);
    else
        *space = new;
    return status;
}

static spmd_status check_lines(const char *text, const char *name, int64_t nlines)
{
    if (nlines == 0)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s is empty: a table has a line of names first", name);
    size_t length = strcspn(text, "\n");
    if (memchr(text, ';', length))
        return spmd_fail(SPMD_ERR_SYNTAX,
                         "%s has \";\" in its names: columns are separated by commas", name);
    if (nlines == 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s has names but no row", name);
    return SPMD_OK;
}

spmd_status space_from_csv(const char *text, const char *name, space_column_filter *is_left_out,
                           const void *user, int *nleft_out, struct space *space)
{
    int64_t nlines = count_lines(text);
    struct reader reader = {.csv = csv_begin(text), .name = name};
    csv_next_line(&reader.csv);
    SPMD_TRY(check_lines(reader.csv.field, name, nlines));
    reader.nfields = csv_count_fields(&reader.csv);
    reader.left_out = calloc((size_t)reader.nfields, sizeof *reader.left_out);
    if (!reader.left_out)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for the columns of %s", name);
    *nleft_out = find_left_out(&reader, is_left_out, user);
    spmd_status status =
        *nleft_out < reader.nfields
            ? read_rows(&reader, nlines - 1, reader.nfields - *nleft_out, space)
            : spmd_fail(SPMD_ERR_ARGUMENT, "%s has no column of a hyperparameter", name);
    free(reader.left_out);
    return status;
}

static spmd_status take_values(struct space *space, const double *values, const char *name)
{
    for (int64_t i = 0; i < space->nrows * space->ncolumns; i++) {
        if (!isfinite(values[i]))
            return spmd_fail(SPMD_ERR_ARGUMENT, "%s: row %lld, %s is not finite", name,
                             (long long)(i / space->ncolumns), space->names[i % space->ncolumns]);
        space->values[i] = values[i] + 0.0; /* -0 and 0 are one value */
    }
    return SPMD_OK;
}

spmd_status space_from_values(const char *names, int64_t nrows, int64_t ncolumns,
                              const double *values, const char *name, struct space *space)
{
    if (nrows == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s has no row", name);
    struct csv csv = csv_begin(names);
    if (!csv_next_line(&csv) || csv_count_fields(&csv) != ncolumns)
        return spmd_fail(SPMD_ERR_SHAPE, "%s has %lld column%s, but its names are \"%s\"", name,
                         (long long)ncolumns, plural(ncolumns), names);
    struct space new;
    SPMD_TRY(space_create(nrows, (int)ncolumns, &new));
    spmd_status status = take_names(&new, &csv);
    if (status == SPMD_OK)
        status = take_values(&new, values, name);
    if (status != SPMD_OK)
        space_free(&new);
    else
        *space = new;
    return status;
}
