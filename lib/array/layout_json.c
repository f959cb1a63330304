/* array/layout_json.c - a layout as one JSON object. */
#include "array/json.h"
#include "array/layout.h"

/* [[lo, hi], ...] */
static void print_box(FILE *stream, const spmd_box *box)
{
    fputc('[', stream);
    for (int d = 0; d < box->ndim; d++)
        fprintf(stream, "%s[%lld, %lld]", d > 0 ? ", " : "", (long long)box->lo[d],
                (long long)box->hi[d]);
    fputc(']', stream);
}

static int64_t count_listed(const struct sheet *sheet)
{
    int64_t ranks = sheet->side[0].blocks.ranks;
    return ranks < sheet->most_ranks ? ranks : sheet->most_ranks;
}

/* What the rank holds on one side: "box", "elements", "replica". */
static void print_holding(FILE *stream, const struct sheet *sheet, const struct side *side,
                          int64_t rank)
{
    spmd_box box = spmd__layout_box(sheet->axes, side->spec, sheet->shape, rank);
    fputs("\"box\": ", stream);
    print_box(stream, &box);
    fprintf(stream, ", \"elements\": %lld, \"replica\": %lld", (long long)spmd_box_size(&box),
            (long long)spmd__layout_replica(sheet->axes, side->spec, rank));
}

static void print_ranks(FILE *stream, const struct sheet *sheet, const struct side *side,
                        const char *indent)
{
    int64_t coordinates[SPMD_MAX_AXES];
    fprintf(stream, "%s\"ranks\": [", indent);
    for (int64_t r = 0; r < count_listed(sheet); r++) {
        spmd__axes_coordinates(sheet->axes, r, coordinates);
        fprintf(stream, "%s\n%s  {\"%s\": %lld, \"coordinates\": ", r > 0 ? "," : "", indent,
                sheet->permuted ? "position" : "rank", (long long)r);
        spmd__json_shape(stream, spmd_shape_make(sheet->axes->count, coordinates));
        fputs(", ", stream);
        print_holding(stream, sheet, side, r);
        fputc('}', stream);
    }
    fprintf(stream, "\n%s],\n%s\"ranks_left_out\": %lld,\n", indent, indent,
            (long long)(side->blocks.ranks - count_listed(sheet)));
}

/* The amounts of a side or of a reshard are in this unit. */
static const char *unit_of(const struct sheet *sheet)
{
    return sheet->dtype == SPMD_DTYPE_NONE ? "elements" : "bytes";
}

static void print_summary(FILE *stream, const struct sheet *sheet, const struct side *side,
                          const char *indent)
{
    const struct blocks *blocks = &side->blocks;
    fprintf(stream, "%s\"summary\": {\n", indent);
    fprintf(stream, "%s  \"ranks\": %lld,\n", indent, (long long)blocks->ranks);
    fprintf(stream, "%s  \"ranks_with_nothing\": %lld,\n", indent, (long long)side->idle);
    fprintf(stream, "%s  \"blocks\": %lld,\n", indent, (long long)blocks->count);
    fprintf(stream, "%s  \"replication\": %lld,\n", indent, (long long)side->replicas);
    fprintf(stream, "%s  \"contributions\": %lld,\n", indent, (long long)side->contributions);
    fprintf(stream, "%s  \"largest_block\": ", indent);
    spmd__json_shape(stream, spmd__blocks_largest(blocks));
    fprintf(stream, ",\n%s  \"smallest_block\": ", indent);
    spmd__json_shape(stream, spmd__blocks_smallest(blocks));
    fprintf(stream, ",\n%s  \"%s\": {", indent, unit_of(sheet));
    spmd__json_amount(stream, "largest", side->largest);
    fputs(", ", stream);
    spmd__json_amount(stream, "smallest", side->smallest);
    fputs(", ", stream);
    spmd__json_amount(stream, "total", side->total);
    fputs("},\n", stream);
    fprintf(stream, "%s  \"balance\": ", indent);
    fprintf(stream, side->total > 0 ? "%.6g" : "null", side->balance);
    fprintf(stream, "\n%s}", indent);
}

static void print_side(FILE *stream, const struct sheet *sheet, const struct side *side,
                       const char *indent)
{
    char type[1024];
    struct text text = spmd__text_begin(type, sizeof type);
    spmd__sheet_print_type(&text, sheet, side);
    fprintf(stream, "%s\"spec\": \"%s\",\n%s\"type\": \"%s\",\n", indent, side->text, indent, type);
    print_ranks(stream, sheet, side, indent);
    print_summary(stream, sheet, side, indent);
}

static void print_traffic(FILE *stream, const struct sheet *sheet, const struct traffic *traffic)
{
    spmd__json_amount(stream, "kept", traffic->kept * sheet->unit);
    fputs(", ", stream);
    spmd__json_amount(stream, "received", traffic->received * sheet->unit);
    fputs(", ", stream);
    spmd__json_amount(stream, "sent", traffic->sent * sheet->unit);
}

static void print_move(FILE *stream, const struct sheet *sheet)
{
    const struct move *move = &sheet->move;
    fprintf(stream, "    \"kind\": \"%s\",\n    \"axes\": ", spmd__move_name(move->kind));
    spmd__json_axis_names(stream, sheet->axes, &move->axes);
    fputs(",\n", stream);
    if (move->kind == MOVE_ALL_TO_ALL)
        fprintf(stream, "    \"from_dim\": %d,\n    \"to_dim\": %d,\n", move->from_dim,
                move->to_dim);
}

static void print_reshard(FILE *stream, const struct sheet *sheet)
{
    fputs("  \"reshard\": {\n", stream);
    print_move(stream, sheet);
    fprintf(stream, "    \"unit\": \"%s\",\n    \"ranks\": [", unit_of(sheet));
    for (int64_t r = 0; r < count_listed(sheet); r++) {
        struct traffic traffic = spmd__traffic_of(&sheet->route, r);
        fprintf(stream, "%s\n      {\"%s\": %lld, ", r > 0 ? "," : "",
                sheet->permuted ? "position" : "rank", (long long)r);
        print_traffic(stream, sheet, &traffic);
        fputc('}', stream);
    }
    fputs("\n    ],\n    \"total\": ", stream);
    if (sheet->added_up) {
        fputc('{', stream);
        print_traffic(stream, sheet, &sheet->traffic);
        fputs("},\n    ", stream);
        spmd__json_amount(stream, "most_received", sheet->most_received * sheet->unit);
        fputc('\n', stream);
    } else {
        fputs("null,\n    \"most_received\": null\n", stream);
    }
    fputs("  }", stream);
}

spmd_status spmd__sheet_print_json(const struct sheet *sheet, FILE *stream)
{
    fputs("{\n", stream);
    spmd__json_mesh(stream, "", sheet->axes);
    fputs("  \"shape\": ", stream);
    spmd__json_shape(stream, sheet->shape);
    fprintf(stream, ",\n  \"dtype\": ");
    fprintf(stream, sheet->dtype == SPMD_DTYPE_NONE ? "null" : "\"%s\"",
            spmd_dtype_name(sheet->dtype));
    fputs(",\n", stream);
    print_side(stream, sheet, &sheet->side[0], "  ");
    if (sheet->nsides == 2) {
        fputs(",\n  \"to\": {\n", stream);
        print_side(stream, sheet, &sheet->side[1], "    ");
        fputs("\n  },\n", stream);
        print_reshard(stream, sheet);
    }
    fputs("\n}\n", stream);
    return SPMD_OK;
}
