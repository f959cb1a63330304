/* number.c - a number in a text. */
#include "number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool number_parse(const char *text, size_t length, double *number)
{
    char buffer[64];
    if (length == 0 || length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    char *stop;
    double value = strtod(buffer, &stop);
    while (isspace((unsigned char)*stop))
        stop++;
    if (stop == buffer || stop != buffer + length)
        return false;
    *number = value + 0.0; /* -0 and 0 are one value */
    return true;
}
