/* core/text.c - strings that are printed piece by piece, for messages and print-outs. */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

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
