/* array/plate.h - the panels of one sharding in a picture of a layout: one for each slice, a grid
 * of the last two dimensions. All have the same tracks. */
#ifndef ARRAY_PLATE_H
#define ARRAY_PLATE_H

#include "array/colouring.h"
#include "array/layout.h"

enum { PLATE_TRACKS = 16 }; /* ranges of a dimension that are shown; of more only the ends */

/* Along one dimension: the tracks, and where they begin and end on the page. */
struct ruler {
    int dim; /* -1: the rows of a vector, the columns of a scalar */
    int count;
    struct track track[PLATE_TRACKS];
    double edge[PLATE_TRACKS + 1]; /* from the first one */
};

struct plate {
    const struct sheet *sheet;
    const struct side *side;
    struct ruler row, column;
    double left, top;            /* of a panel: room for labels before its grid */
    double width, height;        /* of a panel, with its labels */
    double middle;               /* of its grid, from the panel's upper edge */
    struct colouring *colouring; /* of all plates; to be set before the plate is coloured */
};

struct plate spmd__plate_make(const struct sheet *sheet, const struct side *side);

/* Adds the blocks of a slice to the colouring. */
void spmd__plate_colour(const struct plate *plate, int64_t slice);

/* Draws the panel of a slice whose blocks have colours, its corner of labels at (x, y). */
void spmd__plate_draw(const struct plate *plate, int64_t slice, FILE *stream, double x, double y);

#endif
