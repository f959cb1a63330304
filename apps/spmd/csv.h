/* csv.h - text as lines of fields that are separated by commas. */
#ifndef APPS_CSV_H
#define APPS_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Walks over a text. Blank lines are left out; so are a byte order mark, white space around fields
 * (a CR before the end of a line is some) and the double quotes around a field, in which commas
 * are text. A quoted field ends in its line; quotes that stand doubled in it are left so.
 *
 *     struct csv csv = csv_begin(text);
 *     while (csv_next_line(&csv))
 *         for (int left = csv_count_fields(&csv); left > 0; left--) {
 *             struct csv_field field = csv_next_field(&csv);
 *             ...
 *         }
 */
struct csv {
    const char *field; /* the next one of the line */
    const char *end;   /* of the line */
    int64_t line;      /* its number, from 1 */
};

struct csv_field {
    const char *text;
    size_t length;
};

struct csv csv_begin(const char *text);
bool csv_next_line(struct csv *csv); /* false at the end of the text */
int csv_count_fields(const struct csv *csv);
struct csv_field csv_next_field(struct csv *csv); /* empty at the end of the line */

#endif
