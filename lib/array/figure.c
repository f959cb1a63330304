/* array/figure.c - the panels of one sharding in a picture of a layout. */
#include "array/figure.h"

#include <math.h>
#include <string.h>

#include "array/svg.h"

enum {
    FEW_TRACKS = 7,   /* where there are more than FIGURE_TRACKS */
    PANEL_SIZE = 220, /* of a grid that may choose */
    CELL_HEIGHT = 30, /* at least */
    CELL_MARGIN = 8,
    GAP = 26, /* a track that stands for those left out; at least */
    LABEL_BYTES = 64,
    LIST_WIDTH = 15, /* characters of a list of ranks */
};

/* Sizes of letters. */
static const double label_size = 12, tick_size = 10, number_size = 12;

static int digits_of(int64_t number)
{
    char buffer[24];
    return snprintf(buffer, sizeof buffer, "%lld", (long long)number);
}

/* Lays the tracks out in true proportion: the smallest range takes at least `least`, all together
 * about `wanted`; a gap is no range, and has a size of its own. */
static void lay_out(struct ruler *ruler, double least, double wanted, double gap)
{
    int64_t smallest = INT64_MAX;
    double total = 0;
    int gaps = 0;
    for (int i = 0; i < ruler->count; i++) {
        int64_t extent = ruler->track[i].hi - ruler->track[i].lo;
        gaps += ruler->track[i].gap;
        if (!ruler->track[i].gap) {
            total += (double)extent;
            smallest = extent < smallest ? extent : smallest;
        }
    }
    double scale = (wanted - gaps * gap) / total;
    if (scale * (double)smallest < least)
        scale = least / (double)smallest;
    for (int i = 0; i < ruler->count; i++) {
        const struct track *track = &ruler->track[i];
        double size = track->gap ? gap : scale * (double)(track->hi - track->lo);
        ruler->edge[i + 1] = ruler->edge[i] + size;
    }
}

static double size_of(const struct ruler *ruler)
{
    return ruler->edge[ruler->count];
}

static struct ruler find_tracks(const struct blocks *blocks, int dim)
{
    struct ruler ruler = {.dim = dim};
    bool all = dim < 0 || blocks->split[dim].ranges <= FIGURE_TRACKS;
    ruler.count = spmd__blocks_tracks(blocks, dim, all ? FIGURE_TRACKS : FEW_TRACKS, ruler.track);
    return ruler;
}

/* Completes the `index` of a slice by a cell's; false in a gap. */
static bool find_cell(const struct figure *figure, int64_t index[], int i, int j)
{
    const struct ruler *row = &figure->row, *column = &figure->column;
    if (row->dim >= 0)
        index[row->dim] = row->track[i].index;
    if (column->dim >= 0)
        index[column->dim] = column->track[j].index;
    return !row->track[i].gap && !column->track[j].gap;
}

/* Writes the ranks of a block; an empty text in a gap. */
static void print_holders(const struct figure *figure, int64_t index[], int i, int j,
                          char list[LABEL_BYTES])
{
    list[0] = '\0';
    if (find_cell(figure, index, i, j))
        spmd__blocks_holders(&figure->side->blocks, index, LIST_WIDTH, list, LABEL_BYTES);
}

/* Characters of the longest list of ranks: lists of the last slice have the largest numbers. */
static int longest_list(const struct figure *figure)
{
    const struct blocks *blocks = &figure->side->blocks;
    int longest = 0;
    int64_t index[SPMD_MAX_DIMS];
    spmd__blocks_slice(blocks, spmd__blocks_slices(blocks) - 1, index);
    for (int i = 0; i < figure->row.count; i++)
        for (int j = 0; j < figure->column.count; j++) {
            char list[LABEL_BYTES];
            print_holders(figure, index, i, j, list);
            int length = (int)strlen(list);
            longest = length > longest ? length : longest;
        }
    return longest;
}

/* How a panel's sides are in proportion to each other: as the array's, within limits. */
static void choose_sizes(const struct figure *figure, double *wide, double *high)
{
    spmd_shape shape = figure->sheet->shape;
    double ratio = 1;
    *wide = *high = PANEL_SIZE;
    if (figure->row.dim < 0) {
        *high = 1.5 * CELL_HEIGHT;
        *wide = shape.ndim == 0 ? 0 : 1.5 * PANEL_SIZE;
        return;
    }
    ratio = (double)shape.dim[figure->row.dim] / (double)shape.dim[figure->column.dim];
    ratio = fmin(fmax(ratio, 0.5), 2);
    *wide = PANEL_SIZE / sqrt(ratio);
    *high = PANEL_SIZE * sqrt(ratio);
}

struct figure spmd__figure_make(const struct sheet *sheet, const struct side *side)
{
    const struct blocks *blocks = &side->blocks;
    int ndim = sheet->shape.ndim;
    struct figure figure = {.sheet = sheet,
                            .side = side,
                            .row = find_tracks(blocks, ndim > 1 ? ndim - 2 : -1),
                            .column = find_tracks(blocks, ndim > 0 ? ndim - 1 : -1)};
    double wide, high;
    choose_sizes(&figure, &wide, &high);
    double list = spmd__svg_text_width(longest_list(&figure), number_size) + CELL_MARGIN;
    double tick =
        ndim > 0 ? spmd__svg_text_width(digits_of(sheet->shape.dim[ndim - 1]), tick_size) : 0;
    lay_out(&figure.column, fmax(list, tick + CELL_MARGIN), wide, fmax(GAP, tick + CELL_MARGIN));
    lay_out(&figure.row, CELL_HEIGHT, high, GAP);
    figure.top = (ndim > 2 ? 1.6 * label_size : 0) + (ndim > 0 ? 1.6 * label_size + 16 : 0);
    if (ndim > 1)
        figure.left = 1.6 * label_size +
                      spmd__svg_text_width(digits_of(sheet->shape.dim[ndim - 2]), tick_size) + 12;
    figure.width = figure.left + size_of(&figure.column) + tick / 2;
    figure.height = figure.top + size_of(&figure.row) + tick_size;
    figure.middle = figure.top + size_of(&figure.row) / 2;
    return figure;
}

/* "dim 0 along x" */
static void name_dim(const struct figure *figure, int dim, char name[256])
{
    struct text text = spmd__text_begin(name, 256);
    struct axis_list entry = spmd__spec_entry(figure->side->spec, dim);
    spmd__text_add(&text, entry.count > 0 ? "dim %d along " : "dim %d", dim);
    if (entry.count > 0)
        spmd__axis_list_print(&text, figure->sheet->axes, &entry);
}

static void draw_tick(FILE *stream, double x, double y, bool down, int64_t index)
{
    char text[LABEL_BYTES];
    snprintf(text, sizeof text, "%lld", (long long)index);
    if (down)
        spmd__svg_text(stream, x - 7, y, tick_size, "end", text);
    else
        spmd__svg_text(stream, x, y - 10, tick_size, "middle", text);
    spmd__svg_tick(stream, x, y, down);
}

/* The indices at the borders of the tracks; those of a gap belong to its neighbours. */
static void draw_ticks(FILE *stream, const struct ruler *ruler, double x, double y, bool down)
{
    for (int i = 0; i <= ruler->count; i++) {
        bool begins = i < ruler->count && !ruler->track[i].gap;
        if (!begins && (i == 0 || ruler->track[i - 1].gap))
            continue;
        int64_t index = begins ? ruler->track[i].lo : ruler->track[i - 1].hi;
        draw_tick(stream, x + (down ? 0 : ruler->edge[i]), y + (down ? ruler->edge[i] : 0), down,
                  index);
    }
}

static void draw_axes(FILE *stream, const struct figure *figure, double x, double y)
{
    char name[256];
    if (figure->column.dim >= 0) {
        name_dim(figure, figure->column.dim, name);
        spmd__svg_text(stream, x + size_of(&figure->column) / 2, y - 16 - label_size, label_size,
                       "middle", name);
        draw_ticks(stream, &figure->column, x, y, false);
    }
    if (figure->row.dim >= 0) {
        name_dim(figure, figure->row.dim, name);
        spmd__svg_text_upwards(stream, x - figure->left + label_size, y + size_of(&figure->row) / 2,
                               label_size, name);
        draw_ticks(stream, &figure->row, x, y, true);
    }
}

/* The number of a cell's block in the colouring; -1 in a gap. */
static int block_of(const struct figure *figure, int64_t index[], int i, int j)
{
    if (!find_cell(figure, index, i, j))
        return -1;
    return spmd__colouring_add(figure->colouring, spmd__blocks_owner(&figure->side->blocks, index));
}

/* Each block differs from those on its left and above. */
void spmd__figure_colour(const struct figure *figure, int64_t slice)
{
    int64_t index[SPMD_MAX_DIMS];
    int above[FIGURE_TRACKS];
    spmd__blocks_slice(&figure->side->blocks, slice, index);
    for (int i = 0; i < figure->row.count; i++)
        for (int j = 0, left = -1; j < figure->column.count; j++) {
            int block = block_of(figure, index, i, j);
            if (block >= 0 && left >= 0)
                spmd__colouring_separate(figure->colouring, block, left);
            if (block >= 0 && i > 0 && above[j] >= 0)
                spmd__colouring_separate(figure->colouring, block, above[j]);
            left = above[j] = block;
        }
}

/* All are light, so that black is legible on them; those that follow each other are far apart. */
static const char *colour_of(const struct figure *figure, int64_t index[], int i, int j)
{
    static const char *const palette[COLOURS] = {"#b9e2ff", "#e9bdab", "#99dde5",
                                                 "#ffd0d7", "#9fd1bf", "#edc6e7",
                                                 "#cfe3bf", "#c2c4e9", "#e2d0a8"};
    return palette[figure->colouring->block[block_of(figure, index, i, j)].colour];
}

static void draw_cell(FILE *stream, const struct figure *figure, double x, double y,
                      int64_t index[], int i, int j)
{
    const struct ruler *row = &figure->row, *column = &figure->column;
    double wide = column->edge[j + 1] - column->edge[j], high = row->edge[i + 1] - row->edge[i];
    char list[LABEL_BYTES];
    print_holders(figure, index, i, j, list);
    x += column->edge[j];
    y += row->edge[i];
    if (list[0] == '\0') {
        spmd__svg_dots(stream, x + wide / 2, y + high / 2, column->track[j].gap, row->track[i].gap);
        return;
    }
    spmd__svg_block(stream, x, y, wide, high, colour_of(figure, index, i, j));
    spmd__svg_text(stream, x + wide / 2, y + high / 2, number_size, "middle", list);
}

void spmd__figure_draw(const struct figure *figure, int64_t slice, FILE *stream, double x, double y)
{
    const struct blocks *blocks = &figure->side->blocks;
    int64_t index[SPMD_MAX_DIMS];
    spmd__blocks_slice(blocks, slice, index);
    x += figure->left;
    if (figure->sheet->shape.ndim > 2) {
        char name[1024];
        struct text text = spmd__text_begin(name, sizeof name);
        spmd__blocks_print_slice(&text, blocks, index);
        spmd__svg_text(stream, x + size_of(&figure->column) / 2, y + label_size / 2, label_size,
                       "middle", name);
    }
    y += figure->top;
    for (int i = 0; i < figure->row.count; i++)
        for (int j = 0; j < figure->column.count; j++)
            draw_cell(stream, figure, x, y, index, i, j);
    draw_axes(stream, figure, x, y);
}
