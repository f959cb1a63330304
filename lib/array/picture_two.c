/* array/picture_two.c - two pictures, side by side where they fit. */
#include "array/picture.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* A picture as lines of text, its title and an empty line before it. */
struct drawing {
    char *text;
    int nlines;
    int width; /* of the longest line, in columns */
};

/* Characters of a line: without escape sequences, which begin with ESC and end with a letter m, and
 * without the later bytes of a character of UTF-8. */
static int count_columns(const char *line, size_t length)
{
    int columns = 0;
    bool escaped = false;
    for (size_t i = 0; i < length; i++) {
        escaped = escaped || line[i] == '\033';
        columns += !escaped && ((unsigned char)line[i] & 0xc0) != 0x80;
        escaped = escaped && line[i] != 'm';
    }
    return columns;
}

static spmd_status make_drawing(struct pen pen, const struct blocks *blocks, const char *title,
                                struct drawing *drawing)
{
    size_t size;
    pen.stream = open_memstream(&drawing->text, &size);
    if (!pen.stream)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a picture");
    fprintf(pen.stream, "%s\n\n", title);
    spmd__picture_draw(pen, blocks);
    if (fclose(pen.stream) != 0)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for a picture");
    for (const char *line = drawing->text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        int columns = count_columns(line, strcspn(line, "\n"));
        drawing->width = columns > drawing->width ? columns : drawing->width;
        drawing->nlines++;
    }
    return SPMD_OK;
}

/* Prints the next line of a drawing, if there is one, and fills it up to `width`. */
static const char *print_line(FILE *stream, const char *at, int width)
{
    size_t length = strcspn(at, "\n");
    fprintf(stream, "%.*s", (int)length, at);
    if (width > 0)
        fprintf(stream, "%*s", width - count_columns(at, length), "");
    return at[length] == '\n' ? at + length + 1 : at + length;
}

enum { GAP = 8 }; /* columns between two drawings: an arrow, and room around it */

static void print_beside(struct pen pen, const struct drawing drawing[2])
{
    int nlines = drawing[0].nlines > drawing[1].nlines ? drawing[0].nlines : drawing[1].nlines;
    int fewer = drawing[0].nlines + drawing[1].nlines - nlines;
    const char *left = drawing[0].text, *right = drawing[1].text;
    for (int i = 0; i < nlines; i++) {
        bool pointed = i == (fewer + 2) / 2;
        bool ends = *right == '\0' || *right == '\n';
        left = print_line(pen.stream, left, ends && !pointed ? 0 : drawing[0].width);
        if (pointed)
            fputs(pen.unicode ? "   →" : "  ->", pen.stream);
        if (!ends)
            fprintf(pen.stream, "%*s", pointed ? GAP - 4 : GAP, "");
        right = print_line(pen.stream, right, 0);
        fputc('\n', pen.stream);
    }
}

spmd_status spmd__picture_draw_two(struct pen pen, const struct blocks *from,
                                   const char *from_title, const struct blocks *to,
                                   const char *to_title)
{
    struct drawing drawing[2] = {{0}};
    spmd_status status = make_drawing(pen, from, from_title, &drawing[0]);
    if (status == SPMD_OK)
        status = make_drawing(pen, to, to_title, &drawing[1]);
    if (status == SPMD_OK && drawing[0].width + GAP + drawing[1].width <= PICTURE_WIDTH)
        print_beside(pen, drawing);
    else if (status == SPMD_OK)
        fprintf(pen.stream, "%s\n%s", drawing[0].text, drawing[1].text);
    free(drawing[0].text);
    free(drawing[1].text);
    return status;
}
