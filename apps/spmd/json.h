/* json.h - values as JSON has them. */
#ifndef APPS_JSON_H
#define APPS_JSON_H

#include <stdio.h>

#include <spmd/types.h>

/* "text", with escapes; bytes that are no UTF-8 are U+FFFD. NULL is null. */
void json_text(FILE *stream, const char *text);

/* [8, 4] */
void json_extents(FILE *stream, int count, const int64_t extents[]);

#endif
