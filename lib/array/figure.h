/* array/figure.h - the panels of one sharding in a picture of a layout: one for each slice, a grid
 * of the last two dimensions. All have the same tracks. */
#ifndef ARRAY_FIGURE_H
#define ARRAY_FIGURE_H

#include "array/colouring.h"
#include "array/layout.h"

enum { FIGURE_TRACKS = 16 }; /* ranges of a dimension that are shown; of more only the ends */

/* Along one dimension: the tracks, and where they begin and end on the page. */
struct ruler {
    int dim; /* -1: the rows of a vector, the columns of a scalar */
    int count;
    struct track track[FIGURE_TRACKS];
    double edge[FIGURE_TRACKS + 1]; /* from the first one */
};

struct figure {
    const struct sheet *sheet;
    const struct side *side;
    struct ruler row, column;
    double left, top;            /* of a panel: room for labels before its grid */
    double width, height;        /* of a panel, with its labels */
    double middle;               /* of its grid, from the panel's upper edge */
    struct colouring *colouring; /* of all figures; to be set before the figure is coloured */
};

struct figure spmd__figure_make(const struct sheet *sheet, const struct side *side);

/* Adds the blocks of a slice to the colouring. */
void spmd__figure_colour(const struct figure *figure, int64_t slice);

/* Draws the panel of a slice whose blocks have colours, its corner of labels at (x, y). */
void spmd__figure_draw(const struct figure *figure, int64_t slice, FILE *stream, double x,
                       double y);

#endif
