/* journal_read.c - all whole rows of a journal. */
#include "journal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "journal_line.h"

static bool add_row(struct journal_rows *rows, const struct journal_row *row)
{
    if ((rows->count & (rows->count - 1)) == 0) { /* full at each power of two */
        size_t room = rows->count > 0 ? 2 * (size_t)rows->count : 1;
        struct journal_row *more = realloc(rows->rows, room * sizeof *more);
        if (!more)
            return false;
        rows->rows = more;
    }
    rows->rows[rows->count++] = *row;
    return true;
}

static bool take_lines(char *text, size_t size, int nmetrics, struct journal_rows *rows)
{
    for (char *line = text, *end; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        *end = '\0';
        struct journal_row row;
        if (end == line)
            continue;
        if (!journal_line_parse(line, (size_t)(end - line), nmetrics, &row))
            rows->damaged++;
        else if (!add_row(rows, &row))
            return false;
    }
    return true;
}

static spmd_status read_file(const char *path, int nmetrics, struct journal_rows *rows)
{
    size_t size;
    char *text;
    SPMD_TRY(file_read(path, &text, &size));
    bool well = take_lines(text, size, nmetrics, rows);
    free(text);
    return well ? SPMD_OK : spmd_fail(SPMD_ERR_MEMORY, "no memory for the rows of %s", path);
}

static int is_rows(const struct dirent *entry)
{
    return strncmp(entry->d_name, "rows.", 5) == 0;
}

static spmd_status read_named(const char *path, const char *name, int nmetrics,
                              struct journal_rows *rows)
{
    char *file;
    SPMD_TRY(file_join(path, name, &file));
    spmd_status status = read_file(file, nmetrics, rows);
    free(file);
    return status;
}

spmd_status journal_read(const char *path, int nmetrics, struct journal_rows *rows)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_rows, versionsort); /* by the ranks' numbers */
    if (count < 0)
        return file_fail("read the directory", path);
    struct journal_rows new = {0};
    spmd_status status = SPMD_OK;
    for (int i = 0; i < count; i++) {
        if (status == SPMD_OK)
            status = read_named(path, entries[i]->d_name, nmetrics, &new);
        free(entries[i]);
    }
    free(entries);
    if (status != SPMD_OK)
        journal_rows_free(&new);
    else
        *rows = new;
    return status;
}

void journal_rows_free(struct journal_rows *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        free(rows->rows[i].message);
    free(rows->rows);
    *rows = (struct journal_rows){0};
}
