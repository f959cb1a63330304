/* core/cursor.h - reading texts: names, numbers, literals, with the column for messages. */
#ifndef CORE_CURSOR_H
#define CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a parser stands. */
struct cursor {
    const char *start;
    const char *at;
};

/* Skips blanks, then: takes `literal` if it stands there; takes a name ([A-Za-z_][A-Za-z0-9_]*)
 * and gives its length, 0 if there is none; takes a whole number in decimal, without a sign. */
bool spmd__cursor_take(struct cursor *cursor, const char *literal);
size_t spmd__cursor_name(struct cursor *cursor, const char **name);
bool spmd__cursor_number(struct cursor *cursor, int64_t *number);

/* Whether a number stands there that spmd__cursor_number did not take. */
bool spmd__cursor_too_large(const struct cursor *cursor);
bool spmd__cursor_at_end(struct cursor *cursor);

/* Column of the cursor, from 1, for messages. */
int spmd__cursor_column(const struct cursor *cursor);

#endif
