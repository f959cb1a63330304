/* core/cursor.c - reading texts: names, numbers, literals, with the column for messages. */
#include "core/cursor.h"

#include <ctype.h>
#include <string.h>

static void skip_blanks(struct cursor *cursor)
{
    while (isspace((unsigned char)*cursor->at))
        cursor->at++;
}

bool spmd__cursor_take(struct cursor *cursor, const char *literal)
{
    skip_blanks(cursor);
    size_t length = strlen(literal);
    if (strncmp(cursor->at, literal, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

size_t spmd__cursor_name(struct cursor *cursor, const char **name)
{
    skip_blanks(cursor);
    const char *end = cursor->at;
    if (isalpha((unsigned char)*end) || *end == '_')
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
    *name = cursor->at;
    cursor->at = end;
    return (size_t)(end - *name);
}

bool spmd__cursor_number(struct cursor *cursor, int64_t *number)
{
    skip_blanks(cursor);
    const char *at = cursor->at;
    int64_t value = 0;
    for (; isdigit((unsigned char)*at); at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value))
            return false;
    if (at == cursor->at)
        return false;
    cursor->at = at;
    *number = value;
    return true;
}

bool spmd__cursor_too_large(const struct cursor *cursor)
{
    return isdigit((unsigned char)*cursor->at);
}

bool spmd__cursor_at_end(struct cursor *cursor)
{
    skip_blanks(cursor);
    return *cursor->at == '\0';
}

int spmd__cursor_column(const struct cursor *cursor)
{
    return (int)(cursor->at - cursor->start) + 1;
}
