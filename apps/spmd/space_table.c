/* space_table.c - configurations from a table that somebody has made. */
#include "space.h"

#include <math.h>

#include "csv.h"
#include "number.h"

/* The names are the fields of the line. */
static spmd_status take_names(struct space *space, struct csv *csv)
{
    for (int c = 0; c < space->ncolumns; c++) {
        struct csv_field field = csv_next_field(csv);
        SPMD_TRY(space_set_name(space, c, field.text, field.length));
    }
    return SPMD_OK;
}

static spmd_status take_row(struct space *space, int64_t row, struct csv *csv, const char *name)
{
    if (csv_count_fields(csv) != space->ncolumns)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: %d numbers under %d names", name,
                         (long long)csv->line, csv_count_fields(csv), space->ncolumns);
    for (int c = 0; c < space->ncolumns; c++) {
        struct csv_field field = csv_next_field(csv);
        double *value = &space->values[row * space->ncolumns + c];
        if (!number_parse(field.text, field.length, value) || !isfinite(*value))
            return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: \"%.*s\" is no finite number", name,
                             (long long)csv->line, (int)field.length, field.text);
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

spmd_status space_from_csv(const char *text, const char *name, struct space *space)
{
    int64_t nlines = count_lines(text);
    if (nlines == 0)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s is empty: a table has a line of names first", name);
    if (nlines == 1)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s has names but no row", name);
    struct space new;
    struct csv csv = csv_begin(text);
    csv_next_line(&csv);
    SPMD_TRY(space_create(nlines - 1, csv_count_fields(&csv), &new));
    spmd_status status = take_names(&new, &csv);
    for (int64_t row = 0; status == SPMD_OK && csv_next_line(&csv); row++)
        status = take_row(&new, row, &csv, name);
    if (status != SPMD_OK)
        space_free(&new);
    else
        *space = new;
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
        return spmd_fail(SPMD_ERR_SHAPE, "%s has %lld columns, but its names are \"%s\"", name,
                         (long long)ncolumns, names);
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
