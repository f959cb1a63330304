/* array/layout_text.c - a layout as text: header, picture, table, summary. */
#include <string.h>

#include "array/layout.h"
#include "array/picture.h"
#include "core/stream.h"

static void print_line(FILE *stream, const char *line)
{
    spmd__stream_line(stream, PICTURE_WIDTH, line);
}

/* The title; of two specs which they are, and what unreduced axes mean. */
static void print_header(FILE *stream, const struct sheet *sheet)
{
    const struct side *from = &sheet->side[0], *to = &sheet->side[1];
    char line[4096];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__sheet_print_title(&text, sheet);
    if (sheet->nsides == 2)
        spmd__text_add(&text, ", from %s to %s", from->text, to->text);
    print_line(stream, line);
    if (from->spec->unreduced)
        print_line(stream, "Along the unreduced axes, blocks are contributions to their value.");
    if (sheet->permuted)
        print_line(stream, "The mesh has its ranks in another order: the numbers are positions.");
    fputc('\n', stream);
}

/* " along x", " along (y,z)" or ", not split": how a dimension lies. */
static void print_axes(struct text *text, const struct sheet *sheet, int dim)
{
    struct axis_list entry = spmd__spec_entry(sheet->side[0].spec, dim);
    spmd__text_add(text, entry.count == 0 ? ", not split" : " along ");
    if (entry.count > 0)
        spmd__axis_list_print(text, sheet->axes, &entry);
}

/* How to read the picture; of two, their titles tell how the dimensions lie. */
static void print_legend(FILE *stream, const struct sheet *sheet)
{
    int ndim = sheet->shape.ndim;
    char line[2048];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "Ranks that hold each block");
    for (int d = ndim > 1 ? ndim - 2 : 0; d < ndim; d++) {
        bool down = d < ndim - 1;
        spmd__text_add(&text, "%s: dim %d",
                       down       ? " (down"
                       : ndim > 1 ? "; across"
                                  : " (across",
                       d);
        if (sheet->nsides == 1)
            print_axes(&text, sheet, d);
    }
    spmd__text_add(&text, "%s:", ndim > 0 ? ")" : "");
    print_line(stream, line);
    fputc('\n', stream);
}

static spmd_status draw(FILE *stream, const struct sheet *sheet)
{
    const struct side *side = sheet->side;
    struct pen pen = spmd__pen_for(stream);
    print_legend(stream, sheet);
    if (sheet->nsides == 1)
        spmd__picture_draw(pen, &side[0].blocks);
    else
        TRY(spmd__picture_draw_two(pen, &side[0].blocks, side[0].text, &side[1].blocks,
                                   side[1].text));
    fputc('\n', stream);
    return SPMD_OK;
}

/* "4x2 = 8 elements", of vectors and scalars only their number. */
static void print_extents(struct text *text, spmd_shape shape)
{
    if (shape.ndim > 1)
        for (int d = 0; d < shape.ndim; d++)
            spmd__text_add(text, "%lld%s", (long long)shape.dim[d],
                           d < shape.ndim - 1 ? "x" : " = ");
    int64_t size = spmd_shape_size(shape);
    spmd__text_add(text, "%lld element%s", (long long)size, size == 1 ? "" : "s");
}

static void print_blocks(FILE *stream, const struct side *side)
{
    const struct blocks *blocks = &side->blocks;
    char line[1024];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "%lld block%s, %lld replica%s%s", (long long)blocks->count,
                   blocks->count == 1 ? "" : "s", (long long)side->replicas,
                   side->replicas == 1 ? "" : "s", blocks->count == 1 ? "" : " of each");
    if (side->contributions > 1)
        spmd__text_add(&text, ", %lld contributions to each", (long long)side->contributions);
    spmd__text_add(&text, "; ");
    if (side->idle == 0)
        spmd__text_add(&text, "every rank holds one");
    else
        spmd__text_add(&text, "%lld of %lld ranks hold%s nothing", (long long)side->idle,
                       (long long)blocks->ranks, side->idle == 1 ? "s" : "");
    print_line(stream, line);

    spmd_shape largest = spmd__blocks_largest(blocks), smallest = spmd__blocks_smallest(blocks);
    bool even = spmd_shape_equal(largest, smallest);
    text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, even ? "each block: " : "largest block: ");
    print_extents(&text, largest);
    if (!even) {
        spmd__text_add(&text, ", smallest: ");
        print_extents(&text, smallest);
    }
    print_line(stream, line);
}

/* How much ranks hold, of one sharding. */
static void print_amounts(FILE *stream, const struct sheet *sheet)
{
    const struct side *side = &sheet->side[0];
    char line[512];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "largest rank ");
    spmd__sheet_print_amount(&text, sheet, side->largest);
    spmd__text_add(&text, ", smallest rank ");
    spmd__sheet_print_amount(&text, sheet, side->smallest);
    spmd__text_add(&text, ", all ranks ");
    spmd__sheet_print_amount(&text, sheet, side->total);
    print_line(stream, line);
    fprintf(stream, "replication %lld, balance %.2f\n", (long long)side->replicas, side->balance);
}

/* The same of two, below each other. */
static void compare_amounts(FILE *stream, const struct sheet *sheet)
{
    static const char *const labels[] = {"from", "to"};
    static const char format[] = "%-4s  %*s  %*s  %*s  %11s  %7s\n";
    char amount[2][3][32], replicas[32], balance[32];
    int width[] = {7, 8, 5};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            const struct side *side = &sheet->side[i];
            struct text text = spmd__text_begin(amount[i][j], sizeof amount[i][j]);
            spmd__sheet_print_amount(&text, sheet,
                                     j == 0   ? side->largest
                                     : j == 1 ? side->smallest
                                              : side->total);
            width[j] = (int)text.length > width[j] ? (int)text.length : width[j];
        }
    fprintf(stream, format, "", width[0], "largest", width[1], "smallest", width[2], "total",
            "replication", "balance");
    for (int i = 0; i < 2; i++) {
        const struct side *side = &sheet->side[i];
        snprintf(replicas, sizeof replicas, "%lld", (long long)side->replicas);
        snprintf(balance, sizeof balance, "%.2f", side->balance);
        fprintf(stream, format, labels[i], width[0], amount[i][0], width[1], amount[i][1], width[2],
                amount[i][2], replicas, balance);
    }
}

static void print_move(FILE *stream, const struct sheet *sheet)
{
    char line[1024];
    struct text text = spmd__text_begin(line, sizeof line);
    spmd__text_add(&text, "reshard: ");
    spmd__move_print(&text, sheet->axes, &sheet->move);
    print_line(stream, line);
    if (!sheet->added_up)
        return;
    text = spmd__text_begin(line, sizeof line);
    if (sheet->traffic.received > 0) {
        spmd__text_add(&text, "moved: ");
        spmd__sheet_print_amount(&text, sheet, sheet->traffic.received * sheet->unit);
        spmd__text_add(&text, ", at most ");
        spmd__sheet_print_amount(&text, sheet, sheet->most_received * sheet->unit);
        spmd__text_add(&text, " to a rank; ");
    }
    spmd__text_add(&text, "kept in place: ");
    spmd__sheet_print_amount(&text, sheet, sheet->traffic.kept * sheet->unit);
    print_line(stream, line);
}

static void print_summary(FILE *stream, const struct sheet *sheet)
{
    const struct side *side = sheet->side;
    if (side->blocks.count == 0) {
        fputs("no blocks: the array has no elements\n", stream);
    } else if (sheet->nsides == 1) {
        print_blocks(stream, side);
        print_amounts(stream, sheet);
    } else {
        print_move(stream, sheet);
        fputc('\n', stream);
        compare_amounts(stream, sheet);
    }
}

spmd_status spmd__sheet_print(const struct sheet *sheet, FILE *stream)
{
    print_header(stream, sheet);
    if (sheet->side[0].blocks.count > 0)
        TRY(draw(stream, sheet));
    TRY(spmd__sheet_print_table(sheet, stream));
    fputc('\n', stream);
    print_summary(stream, sheet);
    return SPMD_OK;
}
