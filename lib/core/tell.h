/* core/tell.h - what the user is told on standard error: "spmd: note: ...", a line in one piece,
 * whoever else writes. */
#ifndef CORE_TELL_H
#define CORE_TELL_H

#include <stdbool.h>

/* A message as printf's, without a newline. One of more than 8 KiB is cut. */
void spmd__tell_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void spmd__tell_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void spmd__tell_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether *told was false, and is true from now on: for what is told once. */
bool spmd__tell_first(bool *told);

#endif
