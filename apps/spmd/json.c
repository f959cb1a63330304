/* json.c - values as JSON has them. */
#include "json.h"

/* The bytes of the UTF-8 character at `text`; 0 if it is none. */
static int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80                      ? 1
                 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                 : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                     : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

void json_text(FILE *stream, const char *text)
{
    if (!text) {
        fputs("null", stream);
        return;
    }
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int length = utf8_length(c);
        if (*c < 0x20 || *c == 0x7f)
            fprintf(stream, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (length == 0)
            fputs("\\ufffd", stream);
        else
            fwrite(c, 1, (size_t)length, stream);
        c += length > 0 ? length : 1;
    }
    fputc('"', stream);
}

void json_extents(FILE *stream, int count, const int64_t extents[])
{
    fputc('[', stream);
    for (int d = 0; d < count; d++)
        fprintf(stream, "%s%lld", d > 0 ? ", " : "", (long long)extents[d]);
    fputc(']', stream);
}
