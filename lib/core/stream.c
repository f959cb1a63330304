/* core/stream.c - printing lines, and whether the stream has taken them. */
#include "core/stream.h"

#include <errno.h>
#include <string.h>

void spmd__stream_line(FILE *stream, int width, const char *line)
{
    enum { INDENT = 2 };
    size_t room = (size_t)width;
    while (strlen(line) > room) {
        size_t length = room;
        while (length > 0 && line[length] != ' ')
            length--;
        if (length == 0)
            break;
        fprintf(stream, "%.*s\n%*s", (int)length, line, INDENT, "");
        line += length + 1;
        room = (size_t)width - INDENT;
    }
    fprintf(stream, "%s\n", line);
}

void spmd__stream_plain(FILE *stream, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '\n' || *c == '\t')
            fputs(*c == '\n' ? "\\n" : "\\t", stream);
        else if (*c < ' ' || *c == 0x7f)
            fprintf(stream, "\\x%02x", *c);
        else
            fputc(*c, stream);
}

spmd_status spmd__stream_finish(FILE *stream, const char *what)
{
    if (fflush(stream) == 0 && !ferror(stream))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_FILE, "cannot print %s: %s", what,
                     errno != 0 ? strerror(errno) : "the stream has failed");
}
