/* core/stream.h - printing lines, and whether the stream has taken them. */
#ifndef CORE_STREAM_H
#define CORE_STREAM_H

#include <stdio.h>

#include "core/error.h"

/* Prints a line, broken at blanks where it is longer than `width`; what follows a break is
 * indented. */
void spmd__stream_line(FILE *stream, int width, const char *line);

/* Prints a text of others, in which there may be line ends and a terminal's commands: control
 * characters as C has them, "\n", "\x1b". */
void spmd__stream_plain(FILE *stream, const char *text);

/* Flushes what was printed on `stream`; `what` names it in the message: "mesh x=4". Who prints sets
 * errno to 0 before, so that it tells why a print failed. Fails with SPMD_ERR_FILE. */
spmd_status spmd__stream_finish(FILE *stream, const char *what);

#endif
