/* array/svg.c - shapes of a picture, as SVG, without any reference to the outside. */
#include "array/svg.h"

#include <math.h>

double spmd__svg_text_width(int characters, double size)
{
    static const double digit = 0.64; /* the widest one, of a letter's size */
    return characters * size * digit;
}

void spmd__svg_begin(FILE *stream, double width, double height, const char *title)
{
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0fpx\" height=\"%.0fpx\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n<title>%s</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<style>path, .block { stroke: #333333; } path { fill: none; }</style>\n",
            ceil(width), ceil(height), ceil(width), ceil(height), title);
}

void spmd__svg_end(FILE *stream)
{
    fputs("</svg>\n", stream);
}

void spmd__svg_text(FILE *stream, double x, double y, double size, const char *anchor,
                    const char *text)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%gpx\" text-anchor=\"%s\">%s</text>\n",
            x, y + 0.35 * size, size, anchor, text);
}

void spmd__svg_text_upwards(FILE *stream, double x, double y, double size, const char *text)
{
    fprintf(stream,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%gpx\" text-anchor=\"middle\" "
            "transform=\"rotate(-90 %.1f %.1f)\">%s</text>\n",
            x, y, size, x, y, text);
}

void spmd__svg_block(FILE *stream, double x, double y, double wide, double high, const char *colour)
{
    fprintf(stream,
            "<rect class=\"block\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "fill=\"%s\"/>\n",
            x, y, wide, high, colour);
}

void spmd__svg_dots(FILE *stream, double x, double y, bool across, bool down)
{
    for (int i = -1; i <= 1; i++)
        fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.2\"/>\n", x + (across ? 6 * i : 0),
                y + (down ? 6 * i : 0));
}

void spmd__svg_tick(FILE *stream, double x, double y, bool down)
{
    fprintf(stream, "<path d=\"M%.1f %.1f%s\"/>\n", x, y, down ? "h-4" : "v-4");
}

void spmd__svg_arrow(FILE *stream, double x, double y, bool down)
{
    fprintf(stream, "<path d=\"M%.1f %.1f%s\" stroke-width=\"1.5\"/>\n", x, y,
            down ? "v26m-5 -7l5 7l5 -7" : "h32m-7 -5l7 5l-7 5");
}
