/* picture.c - grids of boxes, in proportion. */
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PICTURE_WIDTH = 80,
    MAX_ROWS = 16, /* shown of a grid; of more only a few */
    FEW_ROWS = 9,
    MAX_LINES = 20, /* of all rows together, without their borders */
    MAX_COLUMNS = PICTURE_WIDTH / 6,
    MAX_SLICES = 6,
    CELL_BYTES = 128,
};

/* A row or a column of a grid: a range of one dimension, or a gap where some are left out. */
struct track {
    bool gap;
    int64_t index;
    int64_t extent;
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
    struct track row[MAX_ROWS], column[MAX_COLUMNS];
    char cell[MAX_ROWS][MAX_COLUMNS][CELL_BYTES];
    int margin; /* characters of the row labels */
};

/* Finds the tracks along a dimension; at most `most` of them, by leaving out the middle. */
static int find_tracks(const struct blocks *blocks, int dim, int most, struct track track[])
{
    int64_t total = dim < 0 ? 1 : blocks->split[dim].ranges;
    int count = total < most ? (int)total : most;
    for (int i = 0; i < count; i++) {
        track[i] = (struct track){.index = i, .extent = 1};
        if (total > most && i >= most / 2) {
            track[i].gap = i == most / 2;
            track[i].index = total - (most - i);
        }
        if (dim < 0 || track[i].gap)
            continue;
        struct span span = blocks_range(blocks, dim, track[i].index);
        track[i].extent = span.hi - span.lo;
        snprintf(track[i].label, sizeof track[i].label, "%lld:%lld", (long long)span.lo,
                 (long long)span.hi);
    }
    return count;
}

/* Writes the cells; lists of ranks are elided to `width`. */
static void fill_cells(struct grid *grid, int width)
{
    for (int i = 0; i < grid->nrows; i++)
        for (int j = 0; j < grid->ncolumns; j++) {
            const struct track *row = &grid->row[i], *column = &grid->column[j];
            if (grid->row_dim >= 0)
                grid->index[grid->row_dim] = row->index;
            if (grid->column_dim >= 0)
                grid->index[grid->column_dim] = column->index;
            if (row->gap || column->gap)
                strcpy(grid->cell[i][j], "...");
            else
                blocks_holders(grid->blocks, grid->index, width, grid->cell[i][j], CELL_BYTES);
        }
}

/* Sets each column to the least width that holds its texts; returns the width of the grid. */
static int measure_columns(struct grid *grid)
{
    int total = grid->margin + 2;
    for (int j = 0; j < grid->ncolumns; j++) {
        struct track *column = &grid->column[j];
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
            grid->ncolumns = find_tracks(grid->blocks, grid->column_dim, most, grid->column);
            fill_cells(grid, lists[i]);
            if (measure_columns(grid) <= PICTURE_WIDTH)
                return;
        }
}

/* Tries sizes in proportion to the extents, where the smallest extent has `unit`. Refuses if they
 * are less than the present ones, more than `room` in all, or (if asked) hide that extents
 * differ. */
static bool try_unit(int count, struct track track[], int unit, int room, bool visibly)
{
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < count; i++)
        if (!track[i].gap) {
            least = track[i].extent < least ? track[i].extent : least;
            most = track[i].extent > most ? track[i].extent : most;
        }
    if (visibly && least < most && lround((double)most / (double)least * unit) == unit)
        return false;
    int size[MAX_ROWS > MAX_COLUMNS ? MAX_ROWS : MAX_COLUMNS];
    for (int i = 0; i < count; i++) {
        double exact = (double)track[i].extent / (double)least * unit;
        size[i] = track[i].gap ? track[i].size : (int)lround(exact);
        room -= size[i];
        if (size[i] < track[i].size || room < 0)
            return false;
    }
    for (int i = 0; i < count; i++)
        track[i].size = size[i];
    return true;
}

/* Stretches tracks to sizes in proportion, the smallest that will do. */
static void stretch(int count, struct track track[], int room)
{
    for (int visibly = 1; visibly >= 0; visibly--)
        for (int unit = 1; unit <= room; unit++)
            if (try_unit(count, track, unit, room, visibly))
                return;
}

static void lay_out(struct grid *grid)
{
    int dim = grid->row_dim;
    bool all = dim < 0 || grid->blocks->split[dim].ranges <= MAX_ROWS;
    grid->nrows = find_tracks(grid->blocks, dim, all ? MAX_ROWS : FEW_ROWS, grid->row);
    for (int i = 0; i < grid->nrows; i++) {
        int length = (int)strlen(grid->row[i].label);
        grid->margin = length > grid->margin ? length : grid->margin;
        grid->row[i].size = 1;
    }
    stretch(grid->nrows, grid->row, MAX_LINES);
    choose_columns(grid);
    stretch(grid->ncolumns, grid->column, PICTURE_WIDTH - grid->margin - 3 - grid->ncolumns);
}

static void repeat(const char *text, int count)
{
    for (int i = 0; i < count; i++)
        fputs(text, stdout);
}

/* A horizontal line: 0 above, 1 between, 2 below the rows. */
static void draw_line(const struct grid *grid, bool unicode, int which)
{
    static const char *const left[] = {"┌", "├", "└"};
    static const char *const middle[] = {"┬", "┼", "┴"};
    static const char *const right[] = {"┐", "┤", "┘"};
    printf("%*s", grid->margin + 1, "");
    for (int j = 0; j < grid->ncolumns; j++) {
        fputs(!unicode ? "+" : j == 0 ? left[which] : middle[which], stdout);
        repeat(unicode ? "─" : "-", grid->column[j].size);
    }
    printf("%s\n", unicode ? right[which] : "+");
}

static void draw_labels(const struct grid *grid)
{
    int column = 0;            /* where the output stands */
    int at = grid->margin + 1; /* where the border before the next track stands */
    for (int j = 0; j < grid->ncolumns; j++) {
        const struct track *track = &grid->column[j];
        int length = (int)strlen(track->label), start = at + 1 + (track->size - length) / 2;
        if (length > 0)
            column += printf("%*s%s", start - column, "", track->label);
        at += track->size + 1;
    }
    if (column > 0)
        putchar('\n');
}

/* Neighbours differ. */
static void begin_colour(const struct grid *grid, int i, int j)
{
    static const int palette[] = {153, 223, 157, 219, 229, 189};
    int64_t hue = 2 * grid->row[i].index + grid->column[j].index;
    for (int d = 0; d < grid->row_dim; d++)
        hue += 3 * grid->index[d];
    printf("\033[30;48;5;%dm", palette[hue % 6]);
}

static void draw_cell(const struct grid *grid, struct pen pen, int i, int j, const char *text)
{
    bool coloured = pen.colour && !grid->row[i].gap && !grid->column[j].gap;
    int size = grid->column[j].size, length = (int)strlen(text), before = (size - length) / 2;
    if (coloured)
        begin_colour(grid, i, j);
    printf("%*s%s%*s", before, "", text, size - length - before, "");
    if (coloured)
        fputs("\033[0m", stdout);
}

static void draw_row(const struct grid *grid, struct pen pen, int i)
{
    const struct track *row = &grid->row[i];
    for (int line = 0; line < row->size; line++) {
        bool written = line == (row->size - 1) / 2;
        printf("%*s ", grid->margin, written ? row->label : "");
        for (int j = 0; j < grid->ncolumns; j++) {
            fputs(pen.unicode ? "│" : "|", stdout);
            draw_cell(grid, pen, i, j, written ? grid->cell[i][j] : "");
        }
        puts(pen.unicode ? "│" : "|");
    }
}

static void draw_grid(const struct grid *grid, struct pen pen)
{
    draw_labels(grid);
    for (int i = 0; i < grid->nrows; i++) {
        draw_line(grid, pen.unicode, i == 0 ? 0 : 1);
        draw_row(grid, pen, i);
    }
    draw_line(grid, pen.unicode, 2);
}

/* "[0:2, :, :]" */
static void print_slice(const struct grid *grid)
{
    putchar('[');
    for (int d = 0; d < grid->row_dim; d++) {
        struct span span = blocks_range(grid->blocks, d, grid->index[d]);
        printf("%lld:%lld, ", (long long)span.lo, (long long)span.hi);
    }
    puts(":, :]");
}

/* Picture number `slice` of the leading dimensions, row-major over their ranges. */
static void print_picture(const struct blocks *blocks, struct pen pen, int64_t slice)
{
    int ndim = blocks->shape.ndim;
    struct grid grid = {.blocks = blocks,
                        .row_dim = ndim > 1 ? ndim - 2 : -1,
                        .column_dim = ndim > 0 ? ndim - 1 : -1};
    for (int d = grid.row_dim - 1; d >= 0; d--) {
        grid.index[d] = slice % blocks->split[d].ranges;
        slice /= blocks->split[d].ranges;
    }
    lay_out(&grid);
    if (grid.row_dim > 0)
        print_slice(&grid);
    draw_grid(&grid, pen);
}

void picture_print(const struct blocks *blocks, struct pen pen)
{
    int64_t slices = 1;
    for (int d = 0; d < blocks->shape.ndim - 2; d++)
        slices *= blocks->split[d].ranges;
    for (int64_t i = 0; i < slices; i++) {
        if (i > 0)
            putchar('\n');
        if (slices > MAX_SLICES && i == MAX_SLICES / 2) {
            i = slices - MAX_SLICES / 2;
            printf("... %lld slices ...\n\n", (long long)(slices - MAX_SLICES));
        }
        print_picture(blocks, pen, i);
    }
}
