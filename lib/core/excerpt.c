/* core/excerpt.c - values as text, in NumPy's manner. */
#include "core/excerpt.h"

#include <string.h>

#include "core/element.h"

/* Arrays of more elements than this are shown by the first and last EDGE indices of each
 * dimension. */
enum { MOST_ELEMENTS = 1000, EDGE = 3, LINE_COLUMNS = 79, CELL_BYTES = 64 };

struct excerpt spmd__excerpt_of(spmd_dtype dtype, spmd_shape shape)
{
    struct excerpt excerpt = {.shape = shape, .shown = shape, .dtype = dtype, .corners = 1};
    for (int d = 0; d < shape.ndim; d++)
        if (spmd_shape_size(shape) > MOST_ELEMENTS && shape.dim[d] > 2 * EDGE) {
            excerpt.elided[d] = true;
            excerpt.shown.dim[d] = 2 * EDGE;
            excerpt.corners *= 2;
        }
    return excerpt;
}

struct view spmd__excerpt_corner(const struct excerpt *excerpt, int number, spmd_box *box)
{
    spmd_box whole = spmd_box_whole(excerpt->shape), place = spmd_box_whole(excerpt->shown);
    spmd_box shown = place;
    for (int d = excerpt->shape.ndim - 1; d >= 0; d--) {
        if (!excerpt->elided[d])
            continue;
        bool last = number & 1;
        number >>= 1;
        whole.lo[d] = last ? excerpt->shape.dim[d] - EDGE : 0;
        whole.hi[d] = whole.lo[d] + EDGE;
        place.lo[d] = last ? EDGE : 0;
        place.hi[d] = place.lo[d] + EDGE;
    }
    *box = whole;
    return spmd__view_box(excerpt->data, spmd_dtype_size(excerpt->dtype), &shown, &place);
}

/* Writes element `index` of the excerpt; gives its length. */
static int format_element(char cell[CELL_BYTES], const struct excerpt *excerpt, int64_t index)
{
    struct text text = spmd__text_begin(cell, CELL_BYTES);
    int64_t offset = index * (int64_t)spmd_dtype_size(excerpt->dtype);
    spmd__element_print_short(&text, excerpt->dtype, (const char *)excerpt->data + offset);
    return (int)text.length;
}

static int widest_element(const struct excerpt *excerpt)
{
    char cell[CELL_BYTES];
    int width = 0;
    for (int64_t i = 0; i < spmd_shape_size(excerpt->shown); i++) {
        int length = format_element(cell, excerpt, i);
        width = length > width ? length : width;
    }
    return width;
}

/* One word of a row, after a blank or on a new line that is indented by `depth`. */
static void print_word(FILE *stream, const char *word, int width, int depth, bool first,
                       int *column)
{
    if (!first && *column + 1 + width > LINE_COLUMNS) {
        fprintf(stream, "\n%*s", depth, "");
        *column = depth;
    } else if (!first) {
        *column += fprintf(stream, " ");
    }
    *column += fprintf(stream, "%*s", width, word);
}

static void print_row(FILE *stream, const struct excerpt *excerpt, int width, int64_t first)
{
    int last_dim = excerpt->shape.ndim - 1, depth = last_dim + 1, column = depth;
    for (int64_t i = 0; i < excerpt->shown.dim[last_dim]; i++) {
        char cell[CELL_BYTES];
        if (excerpt->elided[last_dim] && i == EDGE)
            print_word(stream, "...", 3, depth, false, &column);
        format_element(cell, excerpt, first + i);
        print_word(stream, cell, width, depth, i == 0, &column);
    }
}

/* What stands between two entries of dimension `dim`: a line's end, and an empty line for each
 * dimension more that they have. */
static void print_gap(FILE *stream, const struct excerpt *excerpt, int dim)
{
    for (int d = dim + 1; d < excerpt->shape.ndim; d++)
        fputc('\n', stream);
    fprintf(stream, "%*s", dim + 1, "");
}

/* Prints the entries of dimension `dim` that begin at element `first`, each `width` wide. */
static void print_entries(FILE *stream, const struct excerpt *excerpt, int width, int dim,
                          int64_t first)
{
    int64_t size = 1; /* of an entry */
    for (int d = dim + 1; d < excerpt->shape.ndim; d++)
        size *= excerpt->shown.dim[d];
    fputc('[', stream);
    if (dim == excerpt->shape.ndim - 1)
        print_row(stream, excerpt, width, first);
    else
        for (int64_t i = 0; i < excerpt->shown.dim[dim]; i++) {
            if (i > 0)
                print_gap(stream, excerpt, dim);
            if (excerpt->elided[dim] && i == EDGE) {
                fputs("...", stream);
                print_gap(stream, excerpt, dim);
            }
            print_entries(stream, excerpt, width, dim + 1, first + i * size);
        }
    fputc(']', stream);
}

void spmd__excerpt_print(FILE *stream, const struct excerpt *excerpt)
{
    char cell[CELL_BYTES];
    if (spmd_shape_size(excerpt->shape) == 0) {
        fputs("[]", stream);
    } else if (excerpt->shape.ndim == 0) {
        format_element(cell, excerpt, 0);
        fputs(cell, stream);
    } else {
        print_entries(stream, excerpt, widest_element(excerpt), 0, 0);
    }
    fputc('\n', stream);
}
