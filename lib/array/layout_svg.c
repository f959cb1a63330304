/* array/layout_svg.c - a layout as a picture for print: SVG, without any reference to the outside.
 *
 * A panel is one slice: a grid of the last two dimensions. Panels stand side by side in rows, those
 * of a second sharding after an arrow, or below. Every size is in px. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/colouring.h"
#include "array/layout.h"
#include "core/mem.h"

enum {
    MOST_TRACKS = 16, /* ranges of a dimension; of more only the ends */
    FEW_TRACKS = 7,
    MOST_SLICES = 6,
    PAGE_WIDTH = 1040, /* where more panels begin a new row */
    PANEL_SIZE = 220,  /* of a grid that may choose */
    CELL_HEIGHT = 30,  /* at least */
    CELL_MARGIN = 8,
    GAP = 26,  /* a track that stands for those left out; at least */
    EDGE = 16, /* around the page, and between panels */
    LABEL_BYTES = 64,
    LIST_WIDTH = 15, /* characters of a list of ranks */
};

/* Sizes of letters, and what a digit takes of that at most in common fonts. */
static const double title_size = 15, label_size = 12, tick_size = 10, number_size = 12;
static const double character = 0.64;

/* Along one dimension: the tracks, and where they begin and end on the page. */
struct ruler {
    int dim; /* -1: the rows of a vector, the columns of a scalar */
    int count;
    struct track track[MOST_TRACKS];
    double edge[MOST_TRACKS + 1]; /* from the first one */
};

/* The grids of one sharding: all have the same rulers. */
struct plate {
    const struct sheet *sheet;
    const struct side *side;
    struct ruler row, column;
    double left, top;            /* of a panel: room for labels before its grid */
    double width, height;        /* of a panel, with its labels */
    struct colouring *colouring; /* of all plates */
};

static double text_width(int characters, double size)
{
    return characters * size * character;
}

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
    bool all = dim < 0 || blocks->split[dim].ranges <= MOST_TRACKS;
    ruler.count = spmd__blocks_tracks(blocks, dim, all ? MOST_TRACKS : FEW_TRACKS, ruler.track);
    return ruler;
}

/* Completes the `index` of a slice by a cell's; false in a gap. */
static bool find_cell(const struct plate *plate, int64_t index[], int i, int j)
{
    const struct ruler *row = &plate->row, *column = &plate->column;
    if (row->dim >= 0)
        index[row->dim] = row->track[i].index;
    if (column->dim >= 0)
        index[column->dim] = column->track[j].index;
    return !row->track[i].gap && !column->track[j].gap;
}

/* Writes the ranks of a block; an empty text in a gap. */
static void print_holders(const struct plate *plate, int64_t index[], int i, int j,
                          char list[LABEL_BYTES])
{
    list[0] = '\0';
    if (find_cell(plate, index, i, j))
        spmd__blocks_holders(&plate->side->blocks, index, LIST_WIDTH, list, LABEL_BYTES);
}

/* Characters of the longest list of ranks: lists of the last slice have the largest numbers. */
static int longest_list(const struct plate *plate)
{
    const struct blocks *blocks = &plate->side->blocks;
    int longest = 0;
    int64_t index[SPMD_MAX_DIMS];
    spmd__blocks_slice(blocks, spmd__blocks_slices(blocks) - 1, index);
    for (int i = 0; i < plate->row.count; i++)
        for (int j = 0; j < plate->column.count; j++) {
            char list[LABEL_BYTES];
            print_holders(plate, index, i, j, list);
            int length = (int)strlen(list);
            longest = length > longest ? length : longest;
        }
    return longest;
}

/* How a panel's sides are in proportion to each other: as the array's, within limits. */
static void choose_sizes(const struct plate *plate, double *wide, double *high)
{
    spmd_shape shape = plate->sheet->shape;
    double ratio = 1;
    *wide = *high = PANEL_SIZE;
    if (plate->row.dim < 0) {
        *high = 1.5 * CELL_HEIGHT;
        *wide = shape.ndim == 0 ? 0 : 1.5 * PANEL_SIZE;
        return;
    }
    ratio = (double)shape.dim[plate->row.dim] / (double)shape.dim[plate->column.dim];
    ratio = fmin(fmax(ratio, 0.5), 2);
    *wide = PANEL_SIZE / sqrt(ratio);
    *high = PANEL_SIZE * sqrt(ratio);
}

static struct plate make_plate(const struct sheet *sheet, const struct side *side)
{
    const struct blocks *blocks = &side->blocks;
    int ndim = sheet->shape.ndim;
    struct plate plate = {.sheet = sheet,
                          .side = side,
                          .row = find_tracks(blocks, ndim > 1 ? ndim - 2 : -1),
                          .column = find_tracks(blocks, ndim > 0 ? ndim - 1 : -1)};
    double wide, high;
    choose_sizes(&plate, &wide, &high);
    double list = text_width(longest_list(&plate), number_size) + CELL_MARGIN;
    double tick = ndim > 0 ? text_width(digits_of(sheet->shape.dim[ndim - 1]), tick_size) : 0;
    lay_out(&plate.column, fmax(list, tick + CELL_MARGIN), wide, fmax(GAP, tick + CELL_MARGIN));
    lay_out(&plate.row, CELL_HEIGHT, high, GAP);
    plate.top = (ndim > 2 ? 1.6 * label_size : 0) + (ndim > 0 ? 1.6 * label_size + 16 : 0);
    if (ndim > 1)
        plate.left =
            1.6 * label_size + text_width(digits_of(sheet->shape.dim[ndim - 2]), tick_size) + 12;
    plate.width = plate.left + size_of(&plate.column) + tick / 2;
    plate.height = plate.top + size_of(&plate.row) + tick_size;
    return plate;
}

/* Text around, or with `anchor` start or end beside, a point in the middle of its height. */
static void draw_text(FILE *stream, double x, double y, double size, const char *anchor,
                      const char *text)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%gpx\" text-anchor=\"%s\">%s</text>\n",
            x, y + 0.35 * size, size, anchor, text);
}

/* "dim 0 along x" */
static void name_dim(const struct plate *plate, int dim, char name[256])
{
    struct text text = spmd__text_begin(name, 256);
    struct axis_list entry = spmd__spec_entry(plate->side->spec, dim);
    spmd__text_add(&text, entry.count > 0 ? "dim %d along " : "dim %d", dim);
    if (entry.count > 0)
        spmd__axis_list_print(&text, plate->sheet->axes, &entry);
}

static void draw_tick(FILE *stream, double x, double y, bool down, int64_t index)
{
    char text[LABEL_BYTES];
    snprintf(text, sizeof text, "%lld", (long long)index);
    if (down)
        draw_text(stream, x - 7, y, tick_size, "end", text);
    else
        draw_text(stream, x, y - 10, tick_size, "middle", text);
    fprintf(stream, "<path d=\"M%.1f %.1f%s\"/>\n", x, y, down ? "h-4" : "v-4");
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

static void draw_axes(FILE *stream, const struct plate *plate, double x, double y)
{
    char name[256];
    double middle = y + size_of(&plate->row) / 2;
    if (plate->column.dim >= 0) {
        name_dim(plate, plate->column.dim, name);
        draw_text(stream, x + size_of(&plate->column) / 2, y - 16 - label_size, label_size,
                  "middle", name);
        draw_ticks(stream, &plate->column, x, y, false);
    }
    if (plate->row.dim >= 0) {
        name_dim(plate, plate->row.dim, name);
        double at = x - plate->left + label_size;
        fprintf(stream,
                "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%gpx\" text-anchor=\"middle\" "
                "transform=\"rotate(-90 %.1f %.1f)\">%s</text>\n",
                at, middle, label_size, at, middle, name);
        draw_ticks(stream, &plate->row, x, y, true);
    }
}

/* The number of a cell's block in the colouring; -1 in a gap. */
static int block_of(const struct plate *plate, int64_t index[], int i, int j)
{
    if (!find_cell(plate, index, i, j))
        return -1;
    return spmd__colouring_add(plate->colouring, spmd__blocks_owner(&plate->side->blocks, index));
}

/* Adds the blocks of a slice, each of which differs from those on its left and above. */
static void colour_slice(const struct plate *plate, int64_t slice)
{
    int64_t index[SPMD_MAX_DIMS];
    int above[MOST_TRACKS];
    spmd__blocks_slice(&plate->side->blocks, slice, index);
    for (int i = 0; i < plate->row.count; i++)
        for (int j = 0, left = -1; j < plate->column.count; j++) {
            int block = block_of(plate, index, i, j);
            if (block >= 0 && left >= 0)
                spmd__colouring_separate(plate->colouring, block, left);
            if (block >= 0 && i > 0 && above[j] >= 0)
                spmd__colouring_separate(plate->colouring, block, above[j]);
            left = above[j] = block;
        }
}

/* All are light, so that black is legible on them; those that follow each other are far apart. */
static const char *colour_of(const struct plate *plate, int64_t index[], int i, int j)
{
    static const char *const palette[COLOURS] = {"#b9e2ff", "#e9bdab", "#99dde5",
                                                 "#ffd0d7", "#9fd1bf", "#edc6e7",
                                                 "#cfe3bf", "#c2c4e9", "#e2d0a8"};
    return palette[plate->colouring->block[block_of(plate, index, i, j)].colour];
}

/* Three dots where something is left out: across, down, or both. */
static void draw_dots(FILE *stream, double x, double y, bool across, bool down)
{
    for (int i = -1; i <= 1; i++)
        fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.2\"/>\n", x + (across ? 6 * i : 0),
                y + (down ? 6 * i : 0));
}

static void draw_cell(FILE *stream, const struct plate *plate, double x, double y, int64_t index[],
                      int i, int j)
{
    const struct ruler *row = &plate->row, *column = &plate->column;
    double wide = column->edge[j + 1] - column->edge[j], high = row->edge[i + 1] - row->edge[i];
    char list[LABEL_BYTES];
    print_holders(plate, index, i, j, list);
    x += column->edge[j];
    y += row->edge[i];
    if (list[0] == '\0') {
        draw_dots(stream, x + wide / 2, y + high / 2, column->track[j].gap, row->track[i].gap);
        return;
    }
    fprintf(stream,
            "<rect class=\"block\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "fill=\"%s\"/>\n",
            x, y, wide, high, colour_of(plate, index, i, j));
    draw_text(stream, x + wide / 2, y + high / 2, number_size, "middle", list);
}

/* A slice, its corner of labels at (x, y). */
static void draw_panel(FILE *stream, const struct plate *plate, int64_t slice, double x, double y)
{
    const struct blocks *blocks = &plate->side->blocks;
    int64_t index[SPMD_MAX_DIMS];
    spmd__blocks_slice(blocks, slice, index);
    x += plate->left;
    if (plate->sheet->shape.ndim > 2) {
        char name[1024];
        struct text text = spmd__text_begin(name, sizeof name);
        spmd__blocks_print_slice(&text, blocks, index);
        draw_text(stream, x + size_of(&plate->column) / 2, y + label_size / 2, label_size, "middle",
                  name);
    }
    y += plate->top;
    for (int i = 0; i < plate->row.count; i++)
        for (int j = 0; j < plate->column.count; j++)
            draw_cell(stream, plate, x, y, index, i, j);
    draw_axes(stream, plate, x, y);
}

/* How the panels of a plate stand: in rows of `across`. */
struct arrangement {
    int count, across, down;
    double width, height;
};

static struct arrangement arrange(const struct plate *plate)
{
    int64_t slices = spmd__blocks_slices(&plate->side->blocks);
    struct arrangement panels = {.count = slices < MOST_SLICES ? (int)slices : MOST_SLICES};
    panels.across = (int)((PAGE_WIDTH + EDGE) / (plate->width + EDGE));
    panels.across = panels.across < 1 ? 1 : panels.across;
    panels.across = panels.across > panels.count ? panels.count : panels.across;
    panels.down = (panels.count + panels.across - 1) / panels.across;
    panels.width = panels.across * (plate->width + EDGE) - EDGE;
    panels.height = panels.down * (plate->height + EDGE) - EDGE;
    return panels;
}

/* Adds the blocks of all slices that draw_plate shows. */
static void colour_plate(const struct plate *plate, const struct arrangement *panels)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        colour_slice(plate, slice);
        slice = spmd__blocks_next_slice(&plate->side->blocks, slice, MOST_SLICES);
    }
}

static void draw_plate(FILE *stream, const struct plate *plate, const struct arrangement *panels,
                       double x, double y)
{
    int64_t slice = 0;
    for (int i = 0; i < panels->count; i++) {
        double across = x + i % panels->across * (plate->width + EDGE);
        double down = y + i / panels->across * (plate->height + EDGE);
        draw_panel(stream, plate, slice, across, down);
        int64_t next = spmd__blocks_next_slice(&plate->side->blocks, slice, MOST_SLICES);
        if (next > slice + 1)
            draw_dots(stream, across + plate->width + EDGE / 2.0,
                      down + plate->top + size_of(&plate->row) / 2, true, false);
        slice = next;
    }
}

/* Everything on the page, at its place. */
struct page {
    int nplates; /* 0 without elements */
    struct plate plate[2];
    struct arrangement panels[2];
    double x[2], y[2]; /* of the plates */
    bool beside;
    double width, height;
    struct colouring colouring;
};

enum { ARROW = 70, LINE = 26 };

/* Puts the second plate beside the first one or below. */
static void place_second(struct page *page)
{
    const struct arrangement *panels = page->panels;
    page->beside = panels[0].width + ARROW + panels[1].width <= PAGE_WIDTH;
    page->x[1] = page->x[0] + (page->beside ? panels[0].width + ARROW : 0);
    page->y[1] = page->y[0] + (page->beside ? 0 : panels[0].height + 2.5 * LINE);
}

static struct page make_page(const struct sheet *sheet, const char *title, const char *caption)
{
    struct page page = {.x = {EDGE, EDGE}};
    page.nplates = sheet->side[0].blocks.count > 0 ? sheet->nsides : 0;
    double longest = text_width((int)strlen(title), title_size);
    longest = fmax(longest, text_width((int)strlen(caption), label_size));
    page.y[0] = EDGE + LINE + (sheet->nsides == 2 ? LINE : 0);
    page.width = longest;
    page.height = page.y[0];
    for (int i = 0; i < page.nplates; i++) {
        page.plate[i] = make_plate(sheet, &sheet->side[i]);
        page.panels[i] = arrange(&page.plate[i]);
        if (i == 1)
            place_second(&page);
        double spec =
            sheet->nsides == 2 ? text_width((int)strlen(sheet->side[i].text), title_size) : 0;
        page.width = fmax(page.width, page.x[i] - EDGE + fmax(spec, page.panels[i].width));
        page.height = fmax(page.height, page.y[i] + page.panels[i].height);
    }
    page.width += 2 * EDGE;
    page.height += EDGE + (caption[0] != '\0' ? LINE : 0);
    return page;
}

/* Chooses the colours for all plates; the caller frees the list of blocks. */
static spmd_status colour_page(struct page *page)
{
    enum { MOST_BLOCKS = 2 * MOST_SLICES * MOST_TRACKS * MOST_TRACKS };
    TRY(spmd__alloc(MOST_BLOCKS, sizeof *page->colouring.block, &page->colouring.block));
    for (int i = 0; i < page->nplates; i++) {
        page->plate[i].colouring = &page->colouring;
        colour_plate(&page->plate[i], &page->panels[i]);
    }
    spmd__colouring_choose(&page->colouring);
    return SPMD_OK;
}

/* From the first plate to the second one. */
static void draw_arrow(FILE *stream, const struct page *page)
{
    const struct plate *plate = &page->plate[0];
    if (page->beside) {
        double x = page->x[1] - ARROW / 2.0 - 16;
        double y = page->y[0] + plate->top + size_of(&plate->row) / 2;
        fprintf(stream, "<path d=\"M%.1f %.1fh32m-7 -5l7 5l-7 5\" stroke-width=\"1.5\"/>\n", x, y);
    } else {
        double x = page->x[0] + plate->left + 16, y = page->y[1] - 2.5 * LINE + 8;
        fprintf(stream, "<path d=\"M%.1f %.1fv26m-5 -7l5 7l5 -7\" stroke-width=\"1.5\"/>\n", x, y);
    }
}

static void draw_page(FILE *stream, const struct sheet *sheet, const struct page *page)
{
    for (int i = 0; i < page->nplates; i++) {
        if (sheet->nsides == 2)
            draw_text(stream, page->x[i] + page->plate[i].left, page->y[i] - LINE / 2.0, title_size,
                      "start", sheet->side[i].text);
        draw_plate(stream, &page->plate[i], &page->panels[i], page->x[i], page->y[i]);
        if (i == 1)
            draw_arrow(stream, page);
    }
}

spmd_status spmd__sheet_print_svg(const struct sheet *sheet, FILE *stream)
{
    char title[4096], caption[1024];
    struct text title_text = spmd__text_begin(title, sizeof title);
    struct text caption_text = spmd__text_begin(caption, sizeof caption);
    spmd__sheet_print_title(&title_text, sheet);
    if (sheet->side[0].blocks.count == 0)
        spmd__text_add(&title_text, ": no elements");
    if (sheet->nsides == 2) {
        spmd__text_add(&caption_text, "reshard: ");
        spmd__move_print(&caption_text, sheet->axes, &sheet->move);
    }
    struct page page = make_page(sheet, title, caption);
    TRY(colour_page(&page));
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0fpx\" height=\"%.0fpx\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n<title>%s</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<style>path, .block { stroke: #333333; } path { fill: none; }</style>\n",
            ceil(page.width), ceil(page.height), ceil(page.width), ceil(page.height), title);
    draw_text(stream, EDGE, EDGE + title_size / 2, title_size, "start", title);
    draw_page(stream, sheet, &page);
    if (caption[0] != '\0')
        draw_text(stream, EDGE, page.height - EDGE, label_size, "start", caption);
    fputs("</svg>\n", stream);
    free(page.colouring.block);
    return SPMD_OK;
}
