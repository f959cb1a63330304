/* csv.c - text as lines of fields that are separated by commas. */
#include "csv.h"

#include <ctype.h>
#include <string.h>

struct csv csv_begin(const char *text)
{
    return (struct csv){.field = text, .end = text};
}

static bool is_blank(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text == end;
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
    } while (is_blank(csv->field, csv->end));
    return true;
}

int csv_count_fields(const struct csv *csv)
{
    int count = 1;
    for (const char *at = csv->field; at < csv->end; at++)
        count += *at == ',';
    return count;
}

struct csv_field csv_next_field(struct csv *csv)
{
    const char *text = csv->field, *end = text;
    while (end < csv->end && *end != ',')
        end++;
    csv->field = end < csv->end ? end + 1 : end;
    while (text < end && isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    return (struct csv_field){text, (size_t)(end - text)};
}
