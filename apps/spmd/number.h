/* number.h - a number in a text. */
#ifndef APPS_NUMBER_H
#define APPS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a number of `length` bytes, with white space around it; false if it is none. */
bool number_parse(const char *text, size_t length, double *number);

#endif
