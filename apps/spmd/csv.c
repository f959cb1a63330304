/* csv.c - text as lines of fields that are separated by commas. */
#include "csv.h"

#include <ctype.h>
#include <string.h>

struct csv csv_begin(const char *text)
{
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) /* the byte order mark of UTF-8 */
        text += 3;
    return (struct csv){.field = text, .end = text};
}

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text;
}

bool csv_next_line(struct csv *csv)
{
    const char *text = csv->end;
    do {
        if (csv->line > 0 && *text == '\n')
            text++;
        if (*text == '\0')
            return false;
        csv->field = text;
        csv->end = text += strcspn(text, "\n");
        csv->line++;
    } while (skip_blanks(csv->field, csv->end) == csv->end);
    return true;
}

/* Behind the quote that ends what the one at `text` begins; NULL if there is none. */
static const char *end_of_quoted(const char *text, const char *end)
{
    for (text++; text < end; text++) {
        if (*text != '"')
            continue;
        if (text + 1 == end || text[1] != '"')
            return text + 1;
        text++; /* two of them stand for one */
    }
    return NULL;
}

/* Where the field at `text` ends: at a comma or at the end of the line. */
static const char *end_of_field(const char *text, const char *end)
{
    const char *quoted = text < end && *text == '"' ? end_of_quoted(text, end) : NULL;
    const char *after = quoted ? skip_blanks(quoted, end) : end;
    if (after < end && *after == ',')
        return after;
    if (quoted && after == end)
        return end;
    const char *comma = memchr(text, ',', (size_t)(end - text));
    return comma ? comma : end;
}

static struct csv_field trim(const char *text, const char *end)
{
    text = skip_blanks(text, end);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    return (struct csv_field){text, (size_t)(end - text)};
}

static struct csv_field unquote(struct csv_field field)
{
    const char *text = field.text, *end = text + field.length;
    if (field.length < 2 || *text != '"' || end_of_quoted(text, end) != end)
        return field;
    return trim(text + 1, end - 1);
}

/* Moves on to the next field; false if the line ends with this one. */
static bool take_field(struct csv *csv, struct csv_field *field)
{
    const char *text = skip_blanks(csv->field, csv->end), *end = end_of_field(text, csv->end);
    *field = unquote(trim(text, end));
    csv->field = end < csv->end ? end + 1 : end;
    return end < csv->end;
}

int csv_count_fields(const struct csv *csv)
{
    struct csv rest = *csv;
    struct csv_field field;
    int count = 1;
    while (take_field(&rest, &field))
        count++;
    return count;
}

struct csv_field csv_next_field(struct csv *csv)
{
    struct csv_field field;
    take_field(csv, &field);
    return field;
}
