/* array/layout_table.c - the table of the ranks of a layout, or of a reshard. */
#include <stdlib.h>
#include <string.h>

#include "array/layout.h"
#include "core/mem.h"

/* Rows are ranks; of more than the layout lists, the first and the last few. Two more rows have
 * the headings, and of a reshard the sums. */
enum { HEADING = -1, SUMS = -2, CELL_BYTES = 64, LONG_AMOUNT = 1000000000 };

struct table {
    const struct sheet *sheet;
    int64_t few; /* ranks at either end, where some are left out; else all */
    int64_t nrows;
    struct traffic *traffic; /* [nrows] of a reshard */
    int ncolumns;
    int width[SPMD_MAX_AXES + SPMD_MAX_DIMS + 3];
};

static int64_t rank_of(const struct table *table, int64_t row)
{
    return row < table->few ? row : table->sheet->side[0].blocks.ranks - (table->nrows - row);
}

/* Column 0 is the rank; then come its coordinates. */
static void print_rank(struct text *text, const struct table *table, int64_t row, int column)
{
    const struct axes *axes = table->sheet->axes;
    int64_t coordinates[SPMD_MAX_AXES];
    if (row == HEADING) {
        spmd__text_add(text, "%s",
                       column > 0               ? axes->name[column - 1]
                       : table->sheet->permuted ? "position"
                                                : "rank");
    } else if (row == SUMS) {
        spmd__text_add(text, "%s", column == 0 ? "all" : "");
    } else {
        spmd__axes_coordinates(axes, rank_of(table, row), coordinates);
        int64_t number = column == 0 ? rank_of(table, row) : coordinates[column - 1];
        spmd__text_add(text, "%lld", (long long)number);
    }
}

/* What a rank holds: the range of each dimension, the number of elements, and the replica. */
static void print_holding(struct text *text, const struct table *table, int64_t row, int column)
{
    const struct sheet *sheet = table->sheet;
    const struct spec *spec = sheet->side[0].spec;
    int ndim = sheet->shape.ndim;
    if (row == HEADING && column < ndim) {
        spmd__text_add(text, "dim %d", column);
    } else if (row == HEADING) {
        spmd__text_add(text, "%s", column == ndim ? "elements" : "replica");
    } else if (column > ndim) {
        int64_t replica = spmd__layout_replica(sheet->axes, spec, rank_of(table, row));
        spmd__text_add(text, "%lld", (long long)replica);
    } else {
        spmd_box box = spmd__layout_box(sheet->axes, spec, sheet->shape, rank_of(table, row));
        if (column < ndim)
            spmd__text_add(text, "%lld:%lld", (long long)box.lo[column], (long long)box.hi[column]);
        else
            spmd__text_add(text, "%lld", (long long)spmd_box_size(&box));
    }
}

/* What a reshard keeps, receives and sends there: numbers, or with units where they are long. */
static void print_traffic(struct text *text, const struct table *table, int64_t row, int column)
{
    static const char *const headings[] = {"kept", "received", "sent"};
    const struct sheet *sheet = table->sheet;
    const struct traffic *traffic = row == SUMS ? &sheet->traffic : &table->traffic[row];
    if (row == HEADING) {
        spmd__text_add(text, "%s", headings[column]);
        return;
    }
    double amount = column == 0 ? traffic->kept : column == 1 ? traffic->received : traffic->sent;
    if (row == SUMS && !sheet->added_up)
        spmd__text_add(text, "?");
    else if (sheet->side[1].total < LONG_AMOUNT || sheet->dtype == SPMD_DTYPE_NONE)
        spmd__text_add(text, "%.0f", amount * sheet->unit);
    else
        spmd__sheet_print_amount(text, sheet, amount * sheet->unit);
}

static void print_cell(char cell[CELL_BYTES], const struct table *table, int64_t row, int column)
{
    struct text text = spmd__text_begin(cell, CELL_BYTES);
    int naxes = table->sheet->axes->count;
    if (column <= naxes)
        print_rank(&text, table, row, column);
    else if (table->traffic)
        print_traffic(&text, table, row, column - 1 - naxes);
    else
        print_holding(&text, table, row, column - 1 - naxes);
}

static void measure(struct table *table)
{
    for (int c = 0; c < table->ncolumns; c++)
        for (int64_t row = table->traffic ? SUMS : HEADING; row < table->nrows; row++) {
            char cell[CELL_BYTES];
            print_cell(cell, table, row, c);
            int length = (int)strlen(cell);
            table->width[c] = length > table->width[c] ? length : table->width[c];
        }
}

static void print_row(FILE *stream, const struct table *table, int64_t row)
{
    for (int c = 0; c < table->ncolumns; c++) {
        char cell[CELL_BYTES];
        print_cell(cell, table, row, c);
        fprintf(stream, "%s%*s", c > 0 ? "  " : "", table->width[c], cell);
    }
    fputc('\n', stream);
}

static spmd_status find_traffic(struct table *table)
{
    TRY(spmd__alloc((size_t)table->nrows, sizeof *table->traffic, &table->traffic));
    for (int64_t row = 0; row < table->nrows; row++)
        table->traffic[row] = spmd__traffic_of(&table->sheet->route, rank_of(table, row));
    return SPMD_OK;
}

spmd_status spmd__sheet_print_table(const struct sheet *sheet, FILE *stream)
{
    int64_t ranks = sheet->side[0].blocks.ranks, most = sheet->most_ranks;
    struct table table = {.sheet = sheet, .few = ranks, .nrows = ranks};
    if (ranks > most) {
        table.few = most >= 8 ? most / 8 : 1;
        table.nrows = 2 * table.few;
    }
    table.ncolumns = 1 + sheet->axes->count + (sheet->nsides == 2 ? 3 : sheet->shape.ndim + 2);
    if (sheet->nsides == 2)
        TRY(find_traffic(&table));
    measure(&table);
    if (sheet->nsides == 2)
        fprintf(stream, "%s that each rank keeps, receives and sends:\n\n",
                sheet->dtype == SPMD_DTYPE_NONE ? "Elements" : "Bytes");
    print_row(stream, &table, HEADING);
    for (int64_t row = 0; row < table.nrows; row++) {
        if (ranks > most && row == table.few)
            fprintf(stream, "%*s\n", table.width[0], "...");
        print_row(stream, &table, row);
    }
    if (sheet->nsides == 2)
        print_row(stream, &table, SUMS);
    free(table.traffic);
    return SPMD_OK;
}
