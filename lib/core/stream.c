/* core/stream.c - whether a stream has taken what was printed. */
#include "core/stream.h"

#include <errno.h>
#include <string.h>

spmd_status spmd__stream_finish(FILE *stream, const char *what)
{
    if (fflush(stream) == 0 && !ferror(stream))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "cannot print %s: %s", what,
                     errno != 0 ? strerror(errno) : "the stream has failed");
}
