/* journal.c - appending, checking and reading the rows of a sweep. */
#include "journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Begins a row; changes when the meaning of a row does. */
#define FORMAT        "spmd-sweep-journal 1\n"
#define MAX_LINE      4096
#define CHECKSUM_SIZE 17 /* sixteen hexadecimal digits and a blank */

uint64_t journal_digest(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ at[i]) * 0x100000001b3u;
    return digest;
}

static spmd_status file_error(const char *verb, const char *path, const char *name)
{
    return spmd_fail(SPMD_ERR_FILE, "cannot %s %s%s%s: %s", verb, path, name[0] ? "/" : "", name,
                     strerror(errno));
}

static char *join(const char *path, const char *name)
{
    char *joined;
    return asprintf(&joined, "%s/%s", path, name) < 0 ? NULL : joined;
}

/* The whole of a file as a string; NULL with errno on failure. */
static char *read_file(const char *path, const char *name, size_t *size)
{
    char *full = join(path, name), *text = NULL;
    int file = full != NULL ? open(full, O_RDONLY | O_CLOEXEC) : -1;
    free(full);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0 || (text = malloc((size_t)info.st_size + 1)) == NULL)
        goto close;
    *size = 0;
    for (ssize_t got = 1; got > 0 && *size < (size_t)info.st_size; *size += (size_t)got) {
        got = read(file, text + *size, (size_t)info.st_size - *size);
        if (got < 0) {
            free(text);
            text = NULL;
            goto close;
        }
    }
    text[*size] = '\0';
close:
    if (file >= 0)
        close(file);
    return text;
}

static bool is_rows_file(const char *name)
{
    return strncmp(name, "rows.", 5) == 0;
}

static bool is_journal_file(const char *name)
{
    return is_rows_file(name) || strcmp(name, "header") == 0 || strcmp(name, "header.tmp") == 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The header. */

static char *format_header(int nfields, const struct journal_field fields[])
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return NULL;
    fputs(FORMAT, stream);
    for (int i = 0; i < nfields; i++)
        fprintf(stream, "%s %s\n", fields[i].key, fields[i].value);
    return fclose(stream) == 0 ? text : NULL;
}

static bool write_all(int file, const char *text, size_t size)
{
    ssize_t written;
    do
        written = write(file, text, size);
    while (written < 0 && errno == EINTR);
    if (written >= 0 && (size_t)written < size)
        errno = ENOSPC;
    return written == (ssize_t)size;
}

static void sync_directory(const char *path)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    fsync(directory);
    close(directory);
}

static bool write_header(const char *path, const char *text)
{
    char *aside = join(path, "header.tmp"), *final = join(path, "header");
    bool well = false;
    int file = -1;
    if (aside != NULL && final != NULL)
        file = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) {
        well = write_all(file, text, strlen(text)) && fsync(file) == 0;
        well = close(file) == 0 && well;
        well = well && rename(aside, final) == 0;
    }
    free(aside);
    free(final);
    return well;
}

spmd_status journal_create(const char *path, int nfields, const struct journal_field fields[])
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return file_error("make the directory", path, "");
    char *header = format_header(nfields, fields);
    if (header == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for the header of %s", path);
    bool well = write_header(path, header);
    free(header);
    if (!well)
        return file_error("write", path, "header");
    sync_directory(path);
    return SPMD_OK;
}

/* Compares the header's line at `*text` with a field, and moves on to the next line. */
static spmd_status check_field(const char *path, const struct journal_field *field, char **text)
{
    char *line = *text;
    size_t length = strcspn(line, "\n"), key = strlen(field->key);
    *text += length + (line[length] == '\n');
    line[length] = '\0';
    if (strncmp(line, field->key, key) != 0 || line[key] != ' ')
        return spmd_fail(SPMD_ERR_FILE, "%s/header is damaged: no line \"%s\"; --force begins anew",
                         path, field->key);
    if (strcmp(line + key + 1, field->value) != 0)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%s is of another sweep: its %s is %s, not %s; give another --out, or "
                         "--force to begin anew",
                         path, field->key, line + key + 1, field->value);
    return SPMD_OK;
}

static spmd_status check_header(const char *path, char *text, int nfields,
                                const struct journal_field fields[])
{
    if (strncmp(text, FORMAT, strlen(FORMAT)) != 0)
        return spmd_fail(SPMD_ERR_FILE, "%s/header does not begin with %.*s; --force begins anew",
                         path, (int)strlen(FORMAT) - 1, FORMAT);
    text += strlen(FORMAT);
    for (int i = 0; i < nfields; i++)
        SPMD_TRY(check_field(path, &fields[i], &text));
    return SPMD_OK;
}

/* Rows without a header cannot be told from another sweep's. */
static spmd_status check_headless(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return errno == ENOENT ? SPMD_OK : file_error("read the directory", path, "");
    spmd_status status = SPMD_OK;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && status == SPMD_OK;)
        if (!is_dots(entry->d_name) && strcmp(entry->d_name, "header.tmp") != 0)
            status =
                spmd_fail(SPMD_ERR_FILE, "%s holds %s but no header: it is no journal of a sweep",
                          path, entry->d_name);
    closedir(directory);
    return status;
}

spmd_status journal_check(const char *path, int nfields, const struct journal_field fields[],
                          bool *found)
{
    size_t size;
    char *text = read_file(path, "header", &size);
    *found = text != NULL;
    if (text == NULL && errno != ENOENT)
        return file_error("read", path, "header");
    if (text == NULL)
        return check_headless(path);
    spmd_status status = check_header(path, text, nfields, fields);
    free(text);
    return status;
}

spmd_status journal_remove(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return errno == ENOENT ? SPMD_OK : file_error("read the directory", path, "");
    spmd_status status = SPMD_OK;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && status == SPMD_OK;)
        if (!is_dots(entry->d_name) && !is_journal_file(entry->d_name))
            status = spmd_fail(SPMD_ERR_FILE, "%s holds %s, which is no journal's: not removed",
                               path, entry->d_name);
    rewinddir(directory);
    for (struct dirent *entry; status == SPMD_OK && (entry = readdir(directory)) != NULL;)
        if (!is_dots(entry->d_name) && unlinkat(dirfd(directory), entry->d_name, 0) != 0)
            status = file_error("remove", path, entry->d_name);
    closedir(directory);
    if (status == SPMD_OK && rmdir(path) != 0)
        status = file_error("remove", path, "");
    return status;
}

/* Reading. */

static bool parse_state(const char *word, spmd_sweep_state *state)
{
#define COMPARE(name, text)         \
    if (strcmp(word, text) == 0) {  \
        *state = SPMD_SWEEP_##name; \
        return true;                \
    }
    SPMD_SWEEP_STATE_MAP(COMPARE)
#undef COMPARE
    return false;
}

/* The number at `*text`, which moves behind it. */
static bool parse_number(const char **text, double *number)
{
    char *end;
    *number = strtod(*text, &end);
    bool moved = end != *text;
    *text = end;
    return moved;
}

/* A line [length] without its newline; false if it is not whole. */
static bool parse_row(const char *line, size_t length, int nmetrics, struct journal_row *row)
{
    uint64_t sum;
    char state[16];
    int used = 0;
    if (length <= CHECKSUM_SIZE || sscanf(line, "%16" SCNx64 " ", &sum) != 1 ||
        sum != journal_digest(JOURNAL_DIGEST, line + CHECKSUM_SIZE, length - CHECKSUM_SIZE))
        return false;
    line += CHECKSUM_SIZE;
    if (sscanf(line, "%" SCNx64 " %15s %d%n", &row->id, state, &row->rank, &used) != 3 ||
        !parse_state(state, &row->state))
        return false;
    line += used;
    if (!parse_number(&line, &row->seconds))
        return false;
    for (int m = 0; m < nmetrics; m++)
        if (!parse_number(&line, &row->metrics[m]))
            return false;
    if (strncmp(line, " |", 2) != 0)
        return false;
    row->message = strdup(line + 2);
    return row->message != NULL;
}

static bool add_row(struct journal_rows *rows, const struct journal_row *row)
{
    if ((rows->count & (rows->count - 1)) == 0) { /* full at each power of two */
        size_t room = rows->count > 0 ? 2 * (size_t)rows->count : 1;
        struct journal_row *more = realloc(rows->rows, room * sizeof *more);
        if (more == NULL)
            return false;
        rows->rows = more;
    }
    rows->rows[rows->count++] = *row;
    return true;
}

static bool read_rows(char *text, size_t size, int nmetrics, struct journal_rows *rows)
{
    for (char *line = text, *end; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (end == NULL)
            end = text + size;
        *end = '\0';
        struct journal_row row;
        if (end == line)
            continue;
        if (!parse_row(line, (size_t)(end - line), nmetrics, &row))
            rows->damaged++;
        else if (!add_row(rows, &row))
            return false;
    }
    return true;
}

spmd_status journal_read(const char *path, int nmetrics, struct journal_rows *rows)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return file_error("read the directory", path, "");
    struct journal_rows new = {0};
    spmd_status status = SPMD_OK;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && status == SPMD_OK;) {
        if (!is_rows_file(entry->d_name))
            continue;
        size_t size;
        char *text = read_file(path, entry->d_name, &size);
        if (text == NULL)
            status = file_error("read", path, entry->d_name);
        else if (!read_rows(text, size, nmetrics, &new))
            status = spmd_fail(SPMD_ERR_MEMORY, "no memory for the rows of %s", path);
        free(text);
    }
    closedir(directory);
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

/* Writing. */

/* A line that a crash has torn ends here, so that it does not spoil the next one. */
static bool end_torn_line(int file)
{
    char last = '\n';
    off_t size = lseek(file, 0, SEEK_END);
    if (size > 0 && pread(file, &last, 1, size - 1) != 1)
        return false;
    return last == '\n' || write_all(file, "\n", 1);
}

spmd_status journal_open(const char *path, int64_t position, int nmetrics, struct journal *journal)
{
    char name[32];
    snprintf(name, sizeof name, "rows.%lld", (long long)position);
    struct journal new = {.path = join(path, name), .file = -1, .nmetrics = nmetrics};
    if (new.path != NULL)
        new.file = open(new.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (new.file < 0 || !end_torn_line(new.file)) {
        spmd_status status = file_error("write", path, name);
        if (new.file >= 0)
            close(new.file);
        free(new.path);
        return status;
    }
    *journal = new;
    return SPMD_OK;
}

/* Writes the row, but for its checksum, as a line; returns its length. */
static size_t format_row(const struct journal_row *row, int nmetrics, char line[MAX_LINE])
{
    int length = snprintf(line, MAX_LINE, "%016" PRIx64 " %s %d %a", row->id,
                          spmd_sweep_state_name(row->state), row->rank, row->seconds);
    for (int m = 0; m < nmetrics; m++)
        length += snprintf(line + length, (size_t)(MAX_LINE - length), " %a", row->metrics[m]);
    length += snprintf(line + length, (size_t)(MAX_LINE - length), " |%s",
                       row->message != NULL ? row->message : "");
    if (length > MAX_LINE - 1)
        length = MAX_LINE - 1; /* a long message loses its end */
    for (int i = 0; i < length; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    return (size_t)length;
}

spmd_status journal_append(struct journal *journal, const struct journal_row *row)
{
    char text[MAX_LINE], line[CHECKSUM_SIZE + MAX_LINE + 1];
    size_t length = format_row(row, journal->nmetrics, text);
    int total = snprintf(line, sizeof line, "%016" PRIx64 " %s\n",
                         journal_digest(JOURNAL_DIGEST, text, length), text);
    if (!write_all(journal->file, line, (size_t)total))
        return file_error("write", journal->path, "");
    return SPMD_OK;
}

spmd_status journal_close(struct journal *journal)
{
    if (journal->path == NULL)
        return SPMD_OK;
    bool well = fsync(journal->file) == 0;
    well = close(journal->file) == 0 && well;
    spmd_status status = well ? SPMD_OK : file_error("write", journal->path, "");
    free(journal->path);
    *journal = (struct journal){.file = -1};
    return status;
}
