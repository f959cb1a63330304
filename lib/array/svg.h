/* array/svg.h - shapes of a picture, as SVG. Every size is in px; y grows downwards. */
#ifndef ARRAY_SVG_H
#define ARRAY_SVG_H

#include <stdbool.h>
#include <stdio.h>

/* How wide a text is at most in common fonts, in letters of `size`. */
double spmd__svg_text_width(int characters, double size);

/* The page, which is white. Its title is what a viewer tells of it. */
void spmd__svg_begin(FILE *stream, double width, double height, const char *title);
void spmd__svg_end(FILE *stream);

/* Text around, or with `anchor` start or end beside, a point in the middle of its height. */
void spmd__svg_text(FILE *stream, double x, double y, double size, const char *anchor,
                    const char *text);

/* Text that is read upwards, on a line through (x, y), which is its middle. */
void spmd__svg_text_upwards(FILE *stream, double x, double y, double size, const char *text);

void spmd__svg_block(FILE *stream, double x, double y, double wide, double high,
                     const char *colour);

/* Three dots where something is left out: across, down, or both. */
void spmd__svg_dots(FILE *stream, double x, double y, bool across, bool down);

/* A mark outside of a grid, at its upper edge or, of an axis that goes down, at its left one. */
void spmd__svg_tick(FILE *stream, double x, double y, bool down);

/* From (x, y) on, to the right or down. */
void spmd__svg_arrow(FILE *stream, double x, double y, bool down);

#endif
