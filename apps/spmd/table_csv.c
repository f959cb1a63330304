/* table_csv.c - the rows of a sweep as a CSV file. */
#include "table.h"

#include <math.h>
#include <stdlib.h>

#include "file.h"

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

static void write_table(FILE *stream, const void *user)
{
    const struct table *table = user;
    const struct table_form *form = table->form;
    for (int c = 0; c < form->space->ncolumns; c++)
        fprintf(stream, "%s,", form->space->names[c]);
    for (int m = 0; m < form->nmetrics; m++)
        fprintf(stream, "%s,", form->metrics[m]);
    fputs("seconds,rank,state,message\n", stream);
    for (int64_t i = 0; i < form->space->nrows; i++)
        write_row(stream, table, i);
}

spmd_status table_write_csv(const struct table *table, const char *path)
{
    return file_replace(path, write_table, table) ? SPMD_OK : file_fail("write", path);
}
