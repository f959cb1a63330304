/* core/text.c - strings that are printed piece by piece, for messages and print-outs. */
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
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

void spmd__text_add_bytes(struct text *text, double bytes)
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB", "TiB",
                                        "PiB", "EiB", "ZiB", "YiB"};
    enum { LAST = sizeof units / sizeof units[0] - 1 };
    int unit = 0;
    while (bytes >= 1024 && unit < LAST) {
        bytes /= 1024;
        unit++;
    }
    bool whole = bytes == floor(bytes);
    spmd__text_add(text, "%.*f %s", whole ? 0 : 1, bytes, units[unit]);
}
