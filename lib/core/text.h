/* core/text.h - strings that are printed piece by piece; and a cursor over texts to parse. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string in a buffer of the caller's: never overrun, its needed length counted. Begin with
 * text_begin; `length` may exceed `size`, as snprintf's result may. */
struct text {
    char *buffer;
    size_t size;
    size_t length;
};

struct text spmd__text_begin(char *buffer, size_t size);
void spmd__text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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
bool spmd__cursor_at_end(struct cursor *cursor);

/* Column of the cursor, from 1, for messages. */
int spmd__cursor_column(const struct cursor *cursor);

#endif
