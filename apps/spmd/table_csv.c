/* table_csv.c - the rows of a sweep as a CSV file. */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Before the hyperparameters and the metrics, and behind them. */
static const char first_name[] = "index";
static const char *const last_names[] = {"seconds", "rank", "state", "message"};
enum { NLAST = sizeof last_names / sizeof last_names[0] };

/* The shortest text that reads back as the same number; nothing for NaN. */
static void write_exact(FILE *stream, double value)
{
    char text[32] = "";
    for (int digits = 15; digits <= 17 && !isnan(value); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, stream);
}

static void write_quoted(FILE *stream, const char *text)
{
    if (!text || text[0] == '\0')
        return;
    fputc('"', stream);
    for (; *text != '\0'; text++)
        fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', stream);
}

static void write_row(FILE *stream, const struct table *table, int64_t i)
{
    const struct table_form *form = table->form;
    const struct journal_row *row = &table->rows[i];
    fprintf(stream, "%lld,", (long long)i);
    for (int c = 0; c < form->space->ncolumns; c++) {
        write_exact(stream, space_row(form->space, i)[c]);
        fputc(',', stream);
    }
    for (int m = 0; m < form->nmetrics; m++) {
        write_exact(stream, row->metrics[m]);
        fputc(',', stream);
    }
    if (row->state == SPMD_SWEEP_NOT_RUN)
        fputc(',', stream);
    else
        fprintf(stream, "%.6g,%d", row->seconds, row->rank);
    fprintf(stream, ",%s,", spmd_sweep_state_name(row->state));
    write_quoted(stream, row->message);
    fputc('\n', stream);
}

static void write_table(FILE *stream, const void *user)
{
    const struct table *table = user;
    const struct table_form *form = table->form;
    fputs(first_name, stream);
    for (int c = 0; c < form->space->ncolumns; c++)
        fprintf(stream, ",%s", form->space->names[c]);
    for (int m = 0; m < form->nmetrics; m++)
        fprintf(stream, ",%s", form->metrics[m]);
    for (int n = 0; n < NLAST; n++)
        fprintf(stream, ",%s", last_names[n]);
    fputc('\n', stream);
    for (int64_t i = 0; i < form->space->nrows; i++)
        write_row(stream, table, i);
}

spmd_status table_write_csv(const struct table *table, const char *path)
{
    return file_replace(path, write_table, table) ? SPMD_OK : file_fail("write", path);
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool table_csv_is_result(const char *name, size_t length, const void *form)
{
    const struct table_form *results = form;
    bool found = is_name(first_name, name, length);
    for (int m = 0; m < results->nmetrics; m++)
        found = found || is_name(results->metrics[m], name, length);
    for (int n = 0; n < NLAST; n++)
        found = found || is_name(last_names[n], name, length);
    return found;
}
