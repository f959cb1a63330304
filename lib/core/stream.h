/* core/stream.h - whether a stream has taken what was printed. */
#ifndef CORE_STREAM_H
#define CORE_STREAM_H

#include <stdio.h>

#include "core/error.h"

/* Flushes what was printed on `stream`; `what` names it in the message: "mesh x=4". Who prints sets
 * errno to 0 before, so that it tells why a print failed. Fails with SPMD_ERR_FILE. */
spmd_status spmd__stream_finish(FILE *stream, const char *what);

#endif
