/* core/spec_text.c - the text of partition specs: read, as a whole or an entry at a time, and
 * written. */
#include <string.h>

#include "core/cursor.h"
#include "core/error.h"
#include "core/spec.h"

/* A spec being read: from one text, or from one for each entry. */
struct reader {
    struct cursor cursor;
    const char *what; /* what the cursor's text is, and how it may look, for messages */
    const char *example;
    const char *whole; /* the spec that it is part of, for messages */
    const struct axes *axes;
    struct spec spec;
    int count; /* axes read so far */
};

static spmd_status fail_syntax(const struct reader *reader, const char *expected)
{
    return spmd_fail(SPMD_ERR_SYNTAX, "%s \"%s\": expected %s at column %d, as in %s", reader->what,
                     reader->cursor.start, expected, spmd__cursor_column(&reader->cursor),
                     reader->example);
}

/* Takes `close`, or if that is "" the end of the text. */
static bool take_end(struct cursor *cursor, const char *close)
{
    return *close ? spmd__cursor_take(cursor, close) : spmd__cursor_at_end(cursor);
}

/* Behind an item of a list up to `close`: takes a comma, or the end, or both; *last tells whether
 * it was the end. `expected` is what may stand here before a `close` that is not "". */
static spmd_status end_item(struct reader *reader, const char *close, const char *expected,
                            bool *last)
{
    bool comma = spmd__cursor_take(&reader->cursor, ",");
    *last = take_end(&reader->cursor, close);
    return comma || *last ? SPMD_OK : fail_syntax(reader, *close ? expected : "a comma");
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
        return spmd_fail(SPMD_ERR_SPEC, "%s on %s", reader->whole,
                         spmd__axes_lack(reader->axes, name, length).text);
    return SPMD_OK;
}

static spmd_status add_axis(struct reader *reader)
{
    int axis;
    TRY(read_axis(reader, &axis));
    int before = dimension_of(reader, axis), dim = reader->spec.ndim;
    if (before == dim)
        return spmd_fail(
            SPMD_ERR_SPEC, "%s on mesh %s: axis %s stands twice in dim %d; leave one out",
            reader->whole, spmd__axes_text(reader->axes).text, reader->axes->name[axis], dim);
    if (before >= 0)
        return spmd_fail(SPMD_ERR_SPEC,
                         "%s on mesh %s: axis %s lies along dims %d and %d; leave it out of one",
                         reader->whole, spmd__axes_text(reader->axes).text,
                         reader->axes->name[axis], before, dim);
    reader->spec.axis[reader->count++] = axis;
    return SPMD_OK;
}

/* "y,z)" or "y,)": axes up to `close`, "" for the end of the text. */
static spmd_status read_axes(struct reader *reader, const char *close)
{
    bool last = take_end(&reader->cursor, close);
    while (!last) {
        if (spmd__cursor_take(&reader->cursor, "(") || spmd__cursor_take(&reader->cursor, "["))
            return spmd_fail(SPMD_ERR_SYNTAX,
                             "%s \"%s\": a tuple inside a tuple at column %d; list its axes, as in "
                             "(x,y,z)",
                             reader->what, reader->cursor.start,
                             spmd__cursor_column(&reader->cursor) - 1);
        TRY(add_axis(reader));
        TRY(end_item(reader, close, "a comma or the end of the tuple", &last));
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

/* What stands for no axes, or an open dimension, or a tuple; anything else is left for the caller:
 * *taken tells. */
static spmd_status read_special(struct reader *reader, bool *taken)
{
    struct cursor *cursor = &reader->cursor;
    *taken = true;
    if (spmd__cursor_take(cursor, "?")) {
        reader->spec.open |= UINT32_C(1) << reader->spec.ndim;
        return SPMD_OK;
    }
    if (spmd__cursor_take(cursor, "("))
        return read_axes(reader, ")");
    if (spmd__cursor_take(cursor, "["))
        return read_axes(reader, "]");
    *taken = spmd__cursor_take(cursor, "-") || take_word(cursor, "None");
    return SPMD_OK;
}

static void end_entry(struct reader *reader)
{
    reader->spec.first[++reader->spec.ndim] = reader->count;
}

static spmd_status read_entry(struct reader *reader)
{
    bool taken;
    if (reader->spec.ndim == SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_SPEC, "spec \"%s\" has more than %d entries", reader->whole,
                         SPMD_MAX_DIMS);
    TRY(read_special(reader, &taken));
    if (!taken)
        TRY(add_axis(reader));
    end_entry(reader);
    return SPMD_OK;
}

static spmd_status add_unreduced(struct reader *reader)
{
    struct spec *spec = &reader->spec;
    int axis;
    TRY(read_axis(reader, &axis));
    int dim = dimension_of(reader, axis);
    if (dim >= 0)
        return spmd_fail(
            SPMD_ERR_SPEC,
            "%s on mesh %s: axis %s is unreduced and lies along dim %d; leave it out of one",
            reader->whole, spmd__axes_text(reader->axes).text, reader->axes->name[axis], dim);
    if (spec->unreduced >> axis & 1)
        return spmd_fail(SPMD_ERR_SPEC, "%s on mesh %s: axis %s is unreduced twice; leave one out",
                         reader->whole, spmd__axes_text(reader->axes).text,
                         reader->axes->name[axis]);
    spec->unreduced |= UINT32_C(1) << axis;
    return SPMD_OK;
}

/* "y,z}": unreduced axes up to `close`, "" for the end of the text. */
static spmd_status read_unreduced_axes(struct reader *reader, const char *close)
{
    bool last = take_end(&reader->cursor, close);
    while (!last) {
        TRY(add_unreduced(reader));
        TRY(end_item(reader, close, "a comma or }", &last));
    }
    return SPMD_OK;
}

static const char *const kinds[] = {[SPMD_SUM] = "sum", [SPMD_MAX] = "max", [SPMD_MIN] = "min"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A kind says how values along unreduced axes add up: without any there is nothing to say. */
static spmd_status set_kind(struct reader *reader, spmd_reduction kind)
{
    if (kind != SPMD_SUM && reader->spec.unreduced == 0)
        return spmd_fail(SPMD_ERR_SPEC,
                         "%s on mesh %s: %s without unreduced axes: name them, as in "
                         "unreduced={%s}:%s",
                         reader->whole, spmd__axes_text(reader->axes).text, kinds[kind],
                         reader->axes->name[0], kinds[kind]);
    reader->spec.kind = kind;
    return SPMD_OK;
}

/* "{y}", "{'y','z'}:max" after "unreduced=". */
static spmd_status read_unreduced(struct reader *reader)
{
    reader->example = "P(x, unreduced={y})";
    if (!spmd__cursor_take(&reader->cursor, "{"))
        return fail_syntax(reader, "{");
    TRY(read_unreduced_axes(reader, "}"));
    if (!spmd__cursor_take(&reader->cursor, ":"))
        return SPMD_OK;
    for (int kind = 0; kind < KINDS; kind++)
        if (take_word(&reader->cursor, kinds[kind]))
            return set_kind(reader, (spmd_reduction)kind);
    return fail_syntax(reader, "sum, max or min");
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
    bool last = take_end(cursor, close);
    while (!last) {
        if (take_unreduced(cursor)) {
            TRY(read_unreduced(reader));
            spmd__cursor_take(cursor, ",");
            if (!take_end(cursor, close))
                return fail_syntax(reader, "the end of the spec behind unreduced={}");
            break;
        }
        TRY(read_entry(reader));
        TRY(end_item(reader, close, "a comma or )", &last));
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

/* Refuses a text that is one tuple or list: "(x,y)" could mean P(x,y) and P((x,y)). */
static spmd_status check_ambiguity(struct cursor cursor)
{
    if (!spmd__cursor_take(&cursor, "(") && !spmd__cursor_take(&cursor, "["))
        return SPMD_OK;
    const char *inner = cursor.at;
    int length = (int)strcspn(inner, "()[]");
    cursor.at += length;
    if ((!spmd__cursor_take(&cursor, ")") && !spmd__cursor_take(&cursor, "]")) ||
        !spmd__cursor_at_end(&cursor))
        return SPMD_OK;
    return spmd_fail(SPMD_ERR_SYNTAX,
                     "spec \"%s\" is ambiguous: write P(%.*s) for one axis a dimension, or "
                     "P((%.*s)) for all on dim 0",
                     cursor.start, length, inner, length, inner);
}

/* Begins to read; nothing is said yet of where from. */
static struct reader begin(const struct axes *axes, const char *whole)
{
    return (struct reader){.whole = whole, .axes = axes};
}

static void look_at(struct reader *reader, const char *text, const char *what, const char *example)
{
    reader->cursor = (struct cursor){text, text};
    reader->what = what;
    reader->example = example;
}

spmd_status spmd__spec_parse(const char *text, const struct axes *axes, struct spec *spec)
{
    if (!text)
        return spmd_fail(SPMD_ERR_ARGUMENT, "no text to read a spec from, it is NULL");
    struct reader reader = begin(axes, text);
    look_at(&reader, text, "spec", "P(x, -, (y,z))");
    TRY(check_ambiguity(reader.cursor));
    TRY(read_entries(&reader, take_head(&reader.cursor) ? ")" : ""));
    *spec = reader.spec;
    return SPMD_OK;
}

/* The spec that is to be made of entries, for messages: "P(x, (x,y), -, unreduced={z})". */
static void print_wanted(struct text *text, int ndim, const char *const entries[],
                         const char *unreduced)
{
    spmd__text_add(text, "P(");
    for (int d = 0; d < ndim; d++) {
        const char *entry = entries[d] && *entries[d] ? entries[d] : "-";
        bool bare = strchr(entry, ',') && !strpbrk(entry, "([");
        spmd__text_add(text, "%s%s%s%s", d ? ", " : "", bare ? "(" : "", entry, bare ? ")" : "");
    }
    if (unreduced && *unreduced)
        spmd__text_add(text, "%sunreduced={%s}", ndim ? ", " : "", unreduced);
    spmd__text_add(text, ")");
}

/* All of a text is one entry, so that its axes need no parentheses. */
static spmd_status read_lone_entry(struct reader *reader, const char *text)
{
    bool taken = false;
    look_at(reader, text ? text : "", "entry", "(x,y)");
    TRY(read_special(reader, &taken));
    if (!taken)
        TRY(read_axes(reader, ""));
    if (!spmd__cursor_at_end(&reader->cursor))
        return fail_syntax(reader, "the end of the entry");
    end_entry(reader);
    return SPMD_OK;
}

spmd_status spmd__spec_make(int ndim, const char *const entries[], const char *unreduced,
                            spmd_reduction kind, const struct axes *axes, struct spec *spec)
{
    if (ndim < 0 || ndim > SPMD_MAX_DIMS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "a spec has 0 to %d entries, not %d", SPMD_MAX_DIMS,
                         ndim);
    if (ndim > 0 && !entries)
        return spmd_fail(SPMD_ERR_ARGUMENT, "the list of a spec's %d entries is NULL", ndim);
    if ((int)kind < 0 || (int)kind >= KINDS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%d is no way to reduce: SPMD_SUM, SPMD_MAX, SPMD_MIN",
                         (int)kind);
    char wanted[512];
    struct text text = spmd__text_begin(wanted, sizeof wanted);
    print_wanted(&text, ndim, entries, unreduced);
    struct reader reader = begin(axes, wanted);
    for (int d = 0; d < ndim; d++)
        TRY(read_lone_entry(&reader, entries[d]));
    look_at(&reader, unreduced ? unreduced : "", "unreduced axes", "x,y");
    TRY(read_unreduced_axes(&reader, ""));
    TRY(set_kind(&reader, kind));
    *spec = reader.spec;
    return SPMD_OK;
}

void spmd__spec_print_unreduced(struct text *text, const struct axes *axes, const struct spec *spec,
                                const char *opening)
{
    struct axis_list list = spmd__axis_list_of_mask(spec->unreduced);
    spmd__text_add(text, "%s", opening);
    for (int i = 0; i < list.count; i++)
        spmd__text_add(text, "%s%s", i ? "," : "", axes->name[list.axis[i]]);
    spmd__text_add(text, "}");
    if (spec->kind != SPMD_SUM)
        spmd__text_add(text, ":%s", kinds[spec->kind]);
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
        spmd__spec_print_unreduced(text, axes, spec, spec->ndim ? ", unreduced={" : "unreduced={");
    spmd__text_add(text, ")");
}
