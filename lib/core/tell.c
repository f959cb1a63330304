/* core/tell.c - what the user is told on standard error. */
#include "core/tell.h"

#include <stdarg.h>
#include <stdio.h>

static void tell(const char *kind, const char *format, va_list arguments)
{
    char message[1 << 13];
    vsnprintf(message, sizeof message, format, arguments);
    fprintf(stderr, "spmd: %s: %s\n", kind, message);
}

void spmd__tell_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell("error", format, arguments);
    va_end(arguments);
}

void spmd__tell_warning(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell("warning", format, arguments);
    va_end(arguments);
}

void spmd__tell_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell("note", format, arguments);
    va_end(arguments);
}

bool spmd__tell_first(bool *told)
{
    bool first = !*told;
    *told = true;
    return first;
}
