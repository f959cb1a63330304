/* core/cost_text.c - the table of costs is read from a text. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cost.h"
#include "core/cursor.h"
#include "core/decimal.h"
#include "core/mem.h"

enum {
#define COST_INDEX(name, initial, least, meaning) COST_##name,
    COST_MAP(COST_INDEX)
#undef COST_INDEX
        COSTS
};

static const struct row {
    const char *name;
    size_t offset;
    double least;
} rows[COSTS] = {
#define COST_ROW(name, initial, least, meaning) {#name, offsetof(struct costs, name), least},
    COST_MAP(COST_ROW)
#undef COST_ROW
};

static int find_row(const char *name, size_t length)
{
    for (int i = 0; i < COSTS; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return i;
    return -1;
}

static spmd_status fail_unknown(int line, const char *name, size_t length)
{
    char list[512];
    struct text text = spmd__text_begin(list, sizeof list);
    for (int i = 0; i < COSTS; i++)
        spmd__text_add(&text, "%s%s", i > 0 ? ", " : "", rows[i].name);
    return spmd_fail(SPMD_ERR_SYNTAX, "line %d: there is no cost %.*s; there are %s", line,
                     (int)(length < 64 ? length : 64), name, list);
}

static bool take_value(struct cursor *cursor, double *value)
{
    char *end;
    locale_t before = spmd__decimal_begin();
    *value = strtod(cursor->at, &end);
    spmd__decimal_end(before);
    bool found = end != cursor->at;
    cursor->at = end;
    return found;
}

/* Reads one line, without its end and its comment. */
static spmd_status parse_line(const char *line, int number, bool seen[], struct costs *costs)
{
    struct cursor cursor = {line, line};
    const char *name;
    double value;
    if (spmd__cursor_at_end(&cursor))
        return SPMD_OK;
    size_t length = spmd__cursor_name(&cursor, &name);
    if (length == 0 || !spmd__cursor_take(&cursor, "=") || !take_value(&cursor, &value) ||
        !spmd__cursor_at_end(&cursor))
        return spmd_fail(SPMD_ERR_SYNTAX, "line %d, column %d: a line is \"name = value\"", number,
                         spmd__cursor_column(&cursor));
    int row = find_row(name, length);
    if (row < 0)
        return fail_unknown(number, name, length);
    if (seen[row])
        return spmd_fail(SPMD_ERR_SYNTAX, "line %d: %s stands twice", number, rows[row].name);
    if (!(value >= rows[row].least))
        return spmd_fail(SPMD_ERR_SYNTAX, "line %d: %s is a number of at least %g, or inf", number,
                         rows[row].name, rows[row].least);
    seen[row] = true;
    memcpy((char *)costs + rows[row].offset, &value, sizeof value);
    return SPMD_OK;
}

/* Ends the line at `at`, and its comment; gives the next one, NULL behind the last. */
static char *cut_line(char *at)
{
    char *end = at + strcspn(at, "\n");
    char *next = *end != '\0' ? end + 1 : NULL;
    *end = '\0';
    at[strcspn(at, "#")] = '\0';
    return next;
}

spmd_status spmd__costs_parse(const char *text, struct costs *costs)
{
    struct costs read = spmd__costs_default();
    bool seen[COSTS] = {false};
    spmd_status status = SPMD_OK;
    char *lines = strdup(text);
    if (!lines)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a text of %zu bytes", strlen(text));
    int number = 1;
    for (char *at = lines; at && status == SPMD_OK; number++) {
        char *next = cut_line(at);
        status = parse_line(at, number, seen, &read);
        at = next;
    }
    free(lines);
    if (status == SPMD_OK)
        *costs = read;
    return status;
}

/* Longer files are something else. */
enum { MOST_BYTES = 1 << 16 };

/* Reads all of a file that has no more than `room` bytes; -1 and errno if that fails. */
static ssize_t read_all(int file, char *text, size_t room)
{
    ssize_t all = 0, bytes;
    while ((bytes = read(file, text + all, room - (size_t)all)) != 0) {
        if (bytes < 0 && errno != EINTR)
            return -1;
        all += bytes > 0 ? bytes : 0;
    }
    return all;
}

/* What is no regular file may block for ever, or have no end. */
static spmd_status read_text(int file, char *text)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size >= MOST_BYTES)
        return spmd_fail(SPMD_ERR_FILE, "it is no regular file of less than %d bytes", MOST_BYTES);
    ssize_t bytes = read_all(file, text, MOST_BYTES - 1);
    if (bytes < 0)
        return spmd_fail(SPMD_ERR_FILE, "cannot read it: %s", strerror(errno));
    if (memchr(text, '\0', (size_t)bytes))
        return spmd_fail(SPMD_ERR_SYNTAX, "it is no text");
    text[bytes] = '\0';
    return SPMD_OK;
}

spmd_status spmd__costs_read(const char *path, struct costs *costs)
{
    char *text;
    TRY(spmd__alloc(MOST_BYTES, 1, &text));
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    spmd_status status = file >= 0
                             ? read_text(file, text)
                             : spmd_fail(SPMD_ERR_FILE, "cannot open it: %s", strerror(errno));
    if (file >= 0)
        close(file);
    if (status == SPMD_OK)
        status = spmd__costs_parse(text, costs);
    free(text);
    return status;
}
