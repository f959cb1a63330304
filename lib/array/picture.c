/* array/picture.c - grids of boxes, in proportion. */
#include "array/picture.h"

#include <math.h>
#include <string.h>

enum {
    MAX_ROWS = 16, /* shown of a grid; of more only a few */
    FEW_ROWS = 9,
    MAX_LINES = 20, /* of all rows together, without their borders */
    MAX_COLUMNS = PICTURE_WIDTH / 6,
    MAX_SLICES = 6,
    CELL_BYTES = 128,
    SLICE_BYTES = 1024,
};

/* A row or a column of a grid. */
struct lane {
    struct track track;
    char label[48];
    int size; /* lines or characters inside of its cells */
};

/* A picture of two dimensions; `index` fixes the leading ones. Dimensions -1 are not there: the
 * rows of a vector. */
struct grid {
    const struct blocks *blocks;
    int64_t index[SPMD_MAX_DIMS];
    int row_dim, column_dim;
    int nrows, ncolumns;
    struct lane row[MAX_ROWS], column[MAX_COLUMNS];
    char cell[MAX_ROWS][MAX_COLUMNS][CELL_BYTES];
    int margin; /* characters of the row labels */
};

/* Finds the lanes along a dimension; at most `most` of them, by leaving out the middle. */
static int find_lanes(const struct blocks *blocks, int dim, int most, struct lane lane[])
{
    struct track track[MAX_ROWS > MAX_COLUMNS ? MAX_ROWS : MAX_COLUMNS];
    int count = spmd__blocks_tracks(blocks, dim, most, track);
    for (int i = 0; i < count; i++) {
        lane[i] = (struct lane){.track = track[i]};
        if (dim >= 0 && !track[i].gap)
            snprintf(lane[i].label, sizeof lane[i].label, "%lld:%lld", (long long)track[i].lo,
                     (long long)track[i].hi);
    }
    return count;
}

/* Writes the cells; lists of ranks are elided to `width`. */
static void fill_cells(struct grid *grid, int width)
{
    for (int i = 0; i < grid->nrows; i++)
        for (int j = 0; j < grid->ncolumns; j++) {
            const struct track *row = &grid->row[i].track, *column = &grid->column[j].track;
            if (grid->row_dim >= 0)
                grid->index[grid->row_dim] = row->index;
            if (grid->column_dim >= 0)
                grid->index[grid->column_dim] = column->index;
            if (row->gap || column->gap)
                strcpy(grid->cell[i][j], "...");
            else
                spmd__blocks_holders(grid->blocks, grid->index, width, grid->cell[i][j],
                                     CELL_BYTES);
        }
}

/* Sets each column to the least width that holds its texts; returns the width of the grid. */
static int measure_columns(struct grid *grid)
{
    int total = grid->margin + 2;
    for (int j = 0; j < grid->ncolumns; j++) {
        struct lane *column = &grid->column[j];
        size_t longest = strlen(column->label) > 3 ? strlen(column->label) : 3;
        for (int i = 0; i < grid->nrows; i++)
            if (strlen(grid->cell[i][j]) > longest)
                longest = strlen(grid->cell[i][j]);
        column->size = (int)longest + 2;
        total += column->size + 1;
    }
    return total;
}

/* Chooses columns and texts that fit: whole lists of ranks if possible, then shorter ones, then
 * fewer columns. */
static void choose_columns(struct grid *grid)
{
    static const int lists[] = {72, 36, 18, 13};
    for (int most = MAX_COLUMNS; most >= 3; most--)
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
            grid->ncolumns = find_lanes(grid->blocks, grid->column_dim, most, grid->column);
            fill_cells(grid, lists[i]);
            if (measure_columns(grid) <= PICTURE_WIDTH)
                return;
        }
}

static int64_t extent_of(const struct lane *lane)
{
    return lane->track.hi - lane->track.lo;
}

/* Tries sizes in proportion to the extents, where the smallest extent has `unit`. Refuses if they
 * are less than the present ones, more than `room` in all, or (if asked) hide that extents
 * differ. */
static bool try_unit(int count, struct lane lane[], int unit, int room, bool visibly)
{
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < count; i++)
        if (!lane[i].track.gap) {
            int64_t extent = extent_of(&lane[i]);
            least = extent < least ? extent : least;
            most = extent > most ? extent : most;
        }
    if (visibly && least < most && lround((double)most / (double)least * unit) == unit)
        return false;
    int size[MAX_ROWS > MAX_COLUMNS ? MAX_ROWS : MAX_COLUMNS];
    for (int i = 0; i < count; i++) {
        double exact = (double)extent_of(&lane[i]) / (double)least * unit;
        size[i] = lane[i].track.gap ? lane[i].size : (int)lround(exact);
        room -= size[i];
        if (size[i] < lane[i].size || room < 0)
            return false;
    }
    for (int i = 0; i < count; i++)
        lane[i].size = size[i];
    return true;
}

/* Stretches lanes to sizes in proportion, the smallest that will do. */
static void stretch(int count, struct lane lane[], int room)
{
    for (int visibly = 1; visibly >= 0; visibly--)
        for (int unit = 1; unit <= room; unit++)
            if (try_unit(count, lane, unit, room, visibly))
                return;
}

static void lay_out(struct grid *grid)
{
    int dim = grid->row_dim;
    bool all = dim < 0 || grid->blocks->split[dim].ranges <= MAX_ROWS;
    grid->nrows = find_lanes(grid->blocks, dim, all ? MAX_ROWS : FEW_ROWS, grid->row);
    for (int i = 0; i < grid->nrows; i++) {
        int length = (int)strlen(grid->row[i].label);
        grid->margin = length > grid->margin ? length : grid->margin;
        grid->row[i].size = 1;
    }
    stretch(grid->nrows, grid->row, MAX_LINES);
    choose_columns(grid);
    stretch(grid->ncolumns, grid->column, PICTURE_WIDTH - grid->margin - 3 - grid->ncolumns);
}

static void repeat(FILE *stream, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        fputs(text, stream);
}

/* A horizontal line: 0 above, 1 between, 2 below the rows. */
static void draw_line(struct pen pen, const struct grid *grid, int which)
{
    static const char *const left[] = {"┌", "├", "└"};
    static const char *const middle[] = {"┬", "┼", "┴"};
    static const char *const right[] = {"┐", "┤", "┘"};
    fprintf(pen.stream, "%*s", grid->margin + 1, "");
    for (int j = 0; j < grid->ncolumns; j++) {
        fputs(!pen.unicode ? "+" : j == 0 ? left[which] : middle[which], pen.stream);
        repeat(pen.stream, pen.unicode ? "─" : "-", grid->column[j].size);
    }
    fprintf(pen.stream, "%s\n", pen.unicode ? right[which] : "+");
}

static void draw_labels(struct pen pen, const struct grid *grid)
{
    int column = 0;            /* where the output stands */
    int at = grid->margin + 1; /* where the border before the next lane stands */
    for (int j = 0; j < grid->ncolumns; j++) {
        const struct lane *lane = &grid->column[j];
        int length = (int)strlen(lane->label), start = at + 1 + (lane->size - length) / 2;
        if (length > 0)
            column += fprintf(pen.stream, "%*s%s", start - column, "", lane->label);
        at += lane->size + 1;
    }
    if (column > 0)
        fputc('\n', pen.stream);
}

/* Neighbours differ. */
static void begin_colour(struct pen pen, const struct grid *grid, int i, int j)
{
    static const int palette[] = {153, 223, 151, 224, 187, 189};
    int64_t hue = 2 * grid->row[i].track.index + grid->column[j].track.index;
    for (int d = 0; d < grid->row_dim; d++)
        hue += 3 * grid->index[d];
    fprintf(pen.stream, "\033[30;48;5;%dm", palette[hue % 6]);
}

static void draw_cell(struct pen pen, const struct grid *grid, int i, int j, const char *text)
{
    bool coloured = pen.colour && !grid->row[i].track.gap && !grid->column[j].track.gap;
    int size = grid->column[j].size, length = (int)strlen(text), before = (size - length) / 2;
    if (coloured)
        begin_colour(pen, grid, i, j);
    fprintf(pen.stream, "%*s%s%*s", before, "", text, size - length - before, "");
    if (coloured)
        fputs("\033[0m", pen.stream);
}

static void draw_row(struct pen pen, const struct grid *grid, int i)
{
    const struct lane *row = &grid->row[i];
    for (int line = 0; line < row->size; line++) {
        bool written = line == (row->size - 1) / 2;
        fprintf(pen.stream, "%*s ", grid->margin, written ? row->label : "");
        for (int j = 0; j < grid->ncolumns; j++) {
            fputs(pen.unicode ? "│" : "|", pen.stream);
            draw_cell(pen, grid, i, j, written ? grid->cell[i][j] : "");
        }
        fprintf(pen.stream, "%s\n", pen.unicode ? "│" : "|");
    }
}

static void draw_grid(struct pen pen, const struct grid *grid)
{
    draw_labels(pen, grid);
    for (int i = 0; i < grid->nrows; i++) {
        draw_line(pen, grid, i == 0 ? 0 : 1);
        draw_row(pen, grid, i);
    }
    draw_line(pen, grid, 2);
}

/* The grid of the last two dimensions in one of the leading ones' slices. */
static void draw_slice(struct pen pen, const struct blocks *blocks, int64_t slice)
{
    int ndim = blocks->shape.ndim;
    struct grid grid = {.blocks = blocks,
                        .row_dim = ndim > 1 ? ndim - 2 : -1,
                        .column_dim = ndim > 0 ? ndim - 1 : -1};
    spmd__blocks_slice(blocks, slice, grid.index);
    if (ndim > 2) {
        char place[SLICE_BYTES];
        struct text text = spmd__text_begin(place, sizeof place);
        spmd__blocks_print_slice(&text, blocks, grid.index);
        fprintf(pen.stream, "%s\n", place);
    }
    lay_out(&grid);
    draw_grid(pen, &grid);
}

void spmd__picture_draw(struct pen pen, const struct blocks *blocks)
{
    int64_t slices = spmd__blocks_slices(blocks);
    for (int64_t i = 0, next; i < slices; i = next) {
        draw_slice(pen, blocks, i);
        next = spmd__blocks_next_slice(blocks, i, MAX_SLICES);
        if (next > i + 1)
            fprintf(pen.stream, "\n... %lld slices ...\n", (long long)(next - i - 1));
        if (next < slices)
            fputc('\n', pen.stream);
    }
}
