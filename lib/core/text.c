/* core/text.c - strings that are printed piece by piece; and a cursor over texts to parse. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

struct text spmd__text_begin(char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    return (struct text){buffer, size, 0};
}

void spmd__text_add(struct text *text, const char *format, ...)
{
    size_t left = text->length < text->size ? text->size - text->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(left ? text->buffer + text->length : NULL, left, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length;
}

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

bool spmd__cursor_at_end(struct cursor *cursor)
{
    skip_blanks(cursor);
    return *cursor->at == '\0';
}

int spmd__cursor_column(const struct cursor *cursor)
{
    return (int)(cursor->at - cursor->start) + 1;
}
