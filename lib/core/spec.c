/* core/spec.c - partition specs: their text, and which dimension lies along which axes. */
#include "core/spec.h"

#include <string.h>

#include "core/cursor.h"
#include "core/error.h"

/* A spec being read. */
struct reader {
    struct cursor cursor;
    const struct axes *axes;
    struct spec spec;
    int count; /* axes read so far */
    char mesh[256];
};

static spmd_status fail_syntax(const struct reader *reader, const char *expected)
{
    return spmd_fail(SPMD_ERR_SYNTAX, "spec \"%s\": expected %s at column %d, as in P(x, -, (y,z))",
                     reader->cursor.start, expected, spmd__cursor_column(&reader->cursor));
}

/* The dimension whose entry has `axis`; -1 if none has, the current one if it is being read. */
static int dimension_of(const struct reader *reader, int axis)
{
    for (int i = 0; i < reader->count; i++)
        if (reader->spec.axis[i] == axis) {
            int dim = 0;
            while (dim < reader->spec.ndim && reader->spec.first[dim + 1] <= i)
                dim++;
            return dim;
        }
    return -1;
}

/* A name as Python writes it ('x', "x") or bare; gives the quote that closes it. */
static spmd_status read_axis(struct reader *reader, int *axis)
{
    const char *quote = spmd__cursor_take(&reader->cursor, "'")    ? "'"
                        : spmd__cursor_take(&reader->cursor, "\"") ? "\""
                                                                   : "";
    const char *name;
    size_t length = spmd__cursor_name(&reader->cursor, &name);
    if (length == 0)
        return fail_syntax(reader, "an axis name");
    if (!spmd__cursor_take(&reader->cursor, quote))
        return fail_syntax(reader, "a closing quote");
    *axis = spmd__axes_find(reader->axes, name, length);
    if (*axis < 0)
        return spmd_fail(SPMD_ERR_SPEC, "%s on mesh %s: the mesh has no axis %.*s",
                         reader->cursor.start, reader->mesh, (int)length, name);
    return SPMD_OK;
}

static spmd_status add_axis(struct reader *reader)
{
    int axis;
    TRY(read_axis(reader, &axis));
    int before = dimension_of(reader, axis), dim = reader->spec.ndim;
    if (before == dim)
        return spmd_fail(SPMD_ERR_SPEC, "%s on mesh %s: axis %s stands twice in dim %d",
                         reader->cursor.start, reader->mesh, reader->axes->name[axis], dim);
    if (before >= 0)
        return spmd_fail(SPMD_ERR_SPEC, "%s on mesh %s: axis %s lies along dims %d and %d",
                         reader->cursor.start, reader->mesh, reader->axes->name[axis], before, dim);
    reader->spec.axis[reader->count++] = axis;
    return SPMD_OK;
}

/* "(y,z)" or "(y,)" after its opening parenthesis. */
static spmd_status read_tuple(struct reader *reader, const char *close)
{
    while (!spmd__cursor_take(&reader->cursor, close)) {
        if (spmd__cursor_take(&reader->cursor, "(") || spmd__cursor_take(&reader->cursor, "["))
            return spmd_fail(SPMD_ERR_SYNTAX, "spec \"%s\": a tuple inside a tuple at column %d",
                             reader->cursor.start, spmd__cursor_column(&reader->cursor) - 1);
        TRY(add_axis(reader));
        if (!spmd__cursor_take(&reader->cursor, ",")) {
            if (!spmd__cursor_take(&reader->cursor, close))
                return fail_syntax(reader, "a comma or the end of the tuple");
            break;
        }
    }
    return SPMD_OK;
}

/* Takes a word of the grammar, unless it only begins an axis name. */
static bool take_word(struct cursor *cursor, const char *word)
{
    struct cursor ahead = *cursor;
    const char *name;
    size_t length = spmd__cursor_name(&ahead, &name);
    if (length != strlen(word) || strncmp(name, word, length) != 0)
        return false;
    *cursor = ahead;
    return true;
}

static spmd_status read_entry(struct reader *reader)
{
    struct spec *spec = &reader->spec;
    if (spec->ndim == SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SPEC, "spec \"%s\" has more than %d entries",
                         reader->cursor.start, SPMD_MAX_DIMS);
    if (spmd__cursor_take(&reader->cursor, "?"))
        spec->open |= UINT32_C(1) << spec->ndim;
    else if (spmd__cursor_take(&reader->cursor, "("))
        TRY(read_tuple(reader, ")"));
    else if (spmd__cursor_take(&reader->cursor, "["))
        TRY(read_tuple(reader, "]"));
    else if (!spmd__cursor_take(&reader->cursor, "-") && !take_word(&reader->cursor, "None"))
        TRY(add_axis(reader));
    spec->first[++spec->ndim] = reader->count;
    return SPMD_OK;
}

/* "{y}", "{'y','z'}:max" after "unreduced=". */
static spmd_status read_unreduced(struct reader *reader)
{
    struct spec *spec = &reader->spec;
    if (!spmd__cursor_take(&reader->cursor, "{"))
        return fail_syntax(reader, "{");
    while (!spmd__cursor_take(&reader->cursor, "}")) {
        int axis;
        TRY(read_axis(reader, &axis));
        int dim = dimension_of(reader, axis);
        if (dim >= 0)
            return spmd_fail(SPMD_ERR_SPEC,
                             "%s on mesh %s: axis %s is unreduced and lies along dim %d",
                             reader->cursor.start, reader->mesh, reader->axes->name[axis], dim);
        if (spec->unreduced >> axis & 1)
            return spmd_fail(SPMD_ERR_SPEC, "%s on mesh %s: axis %s is unreduced twice",
                             reader->cursor.start, reader->mesh, reader->axes->name[axis]);
        spec->unreduced |= UINT32_C(1) << axis;
        if (!spmd__cursor_take(&reader->cursor, ",")) {
            if (!spmd__cursor_take(&reader->cursor, "}"))
                return fail_syntax(reader, "a comma or }");
            break;
        }
    }
    if (!spmd__cursor_take(&reader->cursor, ":") || take_word(&reader->cursor, "sum"))
        return SPMD_OK;
    if (take_word(&reader->cursor, "max"))
        spec->kind = REDUCE_MAX;
    else if (take_word(&reader->cursor, "min"))
        spec->kind = REDUCE_MIN;
    else
        return fail_syntax(reader, "sum, max or min");
    if (!spec->unreduced)
        spec->kind = REDUCE_SUM; /* of no axes, there is one kind */
    return SPMD_OK;
}

/* Whether "unreduced=" stands here, and not an axis of that name. */
static bool take_unreduced(struct cursor *cursor)
{
    struct cursor ahead = *cursor;
    if (!take_word(&ahead, "unreduced") || !spmd__cursor_take(&ahead, "="))
        return false;
    *cursor = ahead;
    return true;
}

/* The entries up to `close` ("" for the end of the text). */
static spmd_status read_entries(struct reader *reader, const char *close)
{
    struct cursor *cursor = &reader->cursor;
    bool closed = *close != '\0';
    while (closed ? !spmd__cursor_take(cursor, close) : !spmd__cursor_at_end(cursor)) {
        if (take_unreduced(cursor)) {
            TRY(read_unreduced(reader));
            spmd__cursor_take(cursor, ",");
            if (closed ? !spmd__cursor_take(cursor, close) : !spmd__cursor_at_end(cursor))
                return fail_syntax(reader, "the end of the spec after unreduced");
            break;
        }
        TRY(read_entry(reader));
        if (!spmd__cursor_take(cursor, ",")) {
            if (closed ? !spmd__cursor_take(cursor, close) : !spmd__cursor_at_end(cursor))
                return fail_syntax(reader, closed ? "a comma or )" : "a comma");
            break;
        }
    }
    return spmd__cursor_at_end(cursor) ? SPMD_OK : fail_syntax(reader, "the end of the spec");
}

/* Takes "P(" or "PartitionSpec(". */
static bool take_head(struct cursor *cursor)
{
    struct cursor ahead = *cursor;
    if ((!take_word(&ahead, "PartitionSpec") && !take_word(&ahead, "P")) ||
        !spmd__cursor_take(&ahead, "("))
        return false;
    *cursor = ahead;
    return true;
}

/* Whether all of the text is one tuple: "(x,y)" could mean P(x,y) and P((x,y)). */
static bool is_ambiguous(struct cursor cursor)
{
    if (!spmd__cursor_take(&cursor, "("))
        return false;
    cursor.at += strcspn(cursor.at, "()");
    return spmd__cursor_take(&cursor, ")") && spmd__cursor_at_end(&cursor);
}

spmd_status spmd__spec_parse(const char *text, const struct axes *axes, struct spec *spec)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read a spec from");
    struct reader reader = {.cursor = {text, text}, .axes = axes};
    struct text mesh = spmd__text_begin(reader.mesh, sizeof reader.mesh);
    spmd__axes_print(&mesh, axes);
    if (is_ambiguous(reader.cursor))
        return spmd_fail(SPMD_ERR_SYNTAX,
                         "spec \"%s\" is ambiguous: write P%s for one axis a dimension, or P(%s) "
                         "for all on dim 0",
                         text, text, text);
    TRY(read_entries(&reader, take_head(&reader.cursor) ? ")" : ""));
    *spec = reader.spec;
    return SPMD_OK;
}

struct axis_list spmd__spec_entry(const struct spec *spec, int dim)
{
    struct axis_list list = {.count = 0};
    if (dim < spec->ndim)
        for (int i = spec->first[dim]; i < spec->first[dim + 1]; i++)
            list.axis[list.count++] = spec->axis[i];
    return list;
}

uint32_t spmd__spec_used(const struct spec *spec)
{
    uint32_t used = 0;
    for (int i = 0; i < spec->first[spec->ndim]; i++)
        used |= UINT32_C(1) << spec->axis[i];
    return used;
}

static void print_unreduced(struct text *text, const struct axes *axes, const struct spec *spec)
{
    static const char *const kinds[] = {"", ":max", ":min"};
    struct axis_list list = spmd__axis_list_of_mask(spec->unreduced);
    spmd__text_add(text, "%sunreduced={", spec->ndim ? ", " : "");
    for (int i = 0; i < list.count; i++)
        spmd__text_add(text, "%s%s", i ? "," : "", axes->name[list.axis[i]]);
    spmd__text_add(text, "}%s", kinds[spec->kind]);
}

void spmd__spec_print(struct text *text, const struct axes *axes, const struct spec *spec)
{
    spmd__text_add(text, "P(");
    for (int d = 0; d < spec->ndim; d++) {
        struct axis_list entry = spmd__spec_entry(spec, d);
        spmd__text_add(text, "%s", d ? ", " : "");
        if (spec->open >> d & 1)
            spmd__text_add(text, "?");
        else if (entry.count == 0)
            spmd__text_add(text, "-");
        else
            spmd__axis_list_print(text, axes, &entry);
    }
    if (spec->unreduced)
        print_unreduced(text, axes, spec);
    spmd__text_add(text, ")");
}
