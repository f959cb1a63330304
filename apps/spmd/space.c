/* space.c - grids, samples and tables of configurations. */
#include "space.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool space_number(const char *text, const char *end, double *number)
{
    if (end == NULL)
        end = text + strlen(text);
    char buffer[64];
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    char *stop;
    double value = strtod(buffer, &stop);
    while (isspace((unsigned char)*stop))
        stop++;
    if (stop == buffer || *stop != '\0')
        return false;
    *number = value + 0.0; /* -0 and 0 are one value */
    return true;
}

/* Ranges. */

static spmd_status read_number(const char *text, const char *end, const char *whole, double *number)
{
    if (!space_number(text, end, number))
        return spmd_fail(SPMD_ERR_SYNTAX, "%s: \"%.*s\" is no number", whole, (int)(end - text),
                         text);
    if (!isfinite(*number))
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: \"%.*s\" is not finite", whole, (int)(end - text),
                         text);
    return SPMD_OK;
}

static spmd_status read_list(const char *text, const char *whole, struct range *range)
{
    int64_t count = 1;
    for (const char *at = text; *at != '\0'; at++)
        count += *at == ',';
    range->kind = RANGE_LIST;
    range->values = malloc((size_t)count * sizeof(double));
    if (range->values == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "%.40s: out of memory", whole);
    for (int64_t i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        SPMD_TRY(read_number(text, text + length, whole, &range->values[i]));
        text += length + 1;
    }
    range->count = count;
    return SPMD_OK;
}

/* What follows a..b: "", ":8", ":log" or ":log:8". */
static spmd_status read_count(const char *text, const char *whole, struct range *range)
{
    range->kind = RANGE_LINEAR;
    if (strncmp(text, ":log", 4) == 0) {
        range->kind = RANGE_LOG;
        text += 4;
    }
    if (*text == '\0')
        return SPMD_OK;
    double count;
    if (*text != ':' || !space_number(text + 1, NULL, &count) || count != floor(count) || count < 1)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s: after a..b comes :N, :log or :log:N, not \"%s\"",
                         whole, text);
    if (count > SPACE_MAX_ROWS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: more than %d points", whole, SPACE_MAX_ROWS);
    range->count = (int64_t)count;
    return SPMD_OK;
}

static spmd_status read_range(const char *text, const char *dots, const char *whole,
                              struct range *range)
{
    const char *end = dots + 2 + strcspn(dots + 2, ":");
    SPMD_TRY(read_number(text, dots, whole, &range->lo));
    SPMD_TRY(read_number(dots + 2, end, whole, &range->hi));
    SPMD_TRY(read_count(end, whole, range));
    if (range->kind == RANGE_LOG && (range->lo <= 0 || range->hi <= 0))
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: a log range has positive ends", whole);
    return SPMD_OK;
}

spmd_status range_parse(const char *text, struct range *range)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return spmd_fail(SPMD_ERR_SYNTAX, "\"%s\" is not NAME=VALUES, as in lr=0.001..1:log:8",
                         text);
    struct range new = {.name = strndup(text, (size_t)(equals - text))};
    if (new.name == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "%.40s: out of memory", text);
    const char *dots = strstr(equals + 1, "..");
    spmd_status status =
        dots != NULL ? read_range(equals + 1, dots, text, &new) : read_list(equals + 1, text, &new);
    if (status != SPMD_OK) {
        range_free(&new);
        return status;
    }
    *range = new;
    return SPMD_OK;
}

void range_free(struct range *range)
{
    free(range->name);
    free(range->values);
    *range = (struct range){0};
}

/* The point at `part` of a range, 0 at its low and 1 at its high end. Ends are met exactly. */
static double range_at(const struct range *range, double part)
{
    double value;
    if (part <= 0)
        value = range->lo;
    else if (part >= 1)
        value = range->hi;
    else if (range->kind == RANGE_LOG)
        value = exp(log(range->lo) + part * (log(range->hi) - log(range->lo)));
    else
        value = range->lo * (1 - part) + range->hi * part;
    return range->whole ? round(value) : value;
}

static double range_point(const struct range *range, int64_t i)
{
    if (range->kind == RANGE_LIST)
        return range->values[i];
    return range_at(range, range->count > 1 ? (double)i / (double)(range->count - 1) : 0);
}

static double range_draw(const struct range *range, double part)
{
    if (range->count == 0)
        return range_at(range, part);
    int64_t i = (int64_t)(part * (double)range->count);
    return range_point(range, i < range->count ? i : range->count - 1);
}

/* Spaces. */

static spmd_status space_make(int64_t nrows, int ncolumns, struct space *space)
{
    if (nrows > SPACE_MAX_ROWS)
        return spmd_fail(SPMD_ERR_ARGUMENT,
                         "%lld configurations are more than %d: give fewer points, or --sample N",
                         (long long)nrows, SPACE_MAX_ROWS);
    struct space new = {.nrows = nrows, .ncolumns = ncolumns};
    new.names = calloc((size_t)ncolumns + 1, sizeof(char *));
    new.values = calloc((size_t)nrows * (size_t)ncolumns + 1, sizeof(double));
    if (new.names == NULL || new.values == NULL) {
        space_free(&new);
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)nrows);
    }
    *space = new;
    return SPMD_OK;
}

static spmd_status space_name(struct space *space, int column, const char *name, size_t length)
{
    while (length > 0 && isspace((unsigned char)*name)) {
        name++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)name[length - 1]))
        length--;
    space->names[column] = strndup(name, length);
    if (space->names[column] == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "out of memory for a name");
    for (int c = 0; c < column; c++)
        if (strcmp(space->names[c], space->names[column]) == 0)
            return spmd_fail(SPMD_ERR_ARGUMENT, "hyperparameter %s stands twice",
                             space->names[column]);
    return SPMD_OK;
}

static spmd_status count_grid(const struct space *base, int nranges, const struct range ranges[],
                              int64_t *nrows)
{
    int64_t count = base != NULL ? base->nrows : 1;
    for (int r = 0; r < nranges; r++) {
        if (ranges[r].count == 0)
            return spmd_fail(SPMD_ERR_ARGUMENT,
                             "%s: a range in a grid has a count, as in %g..%g:8 (or give "
                             "--sample N)",
                             ranges[r].name, ranges[r].lo, ranges[r].hi);
        if (__builtin_mul_overflow(count, ranges[r].count, &count))
            return spmd_fail(SPMD_ERR_ARGUMENT, "a grid of more than 2^63 configurations");
    }
    *nrows = count;
    return SPMD_OK;
}

static spmd_status name_columns(struct space *space, const struct space *base, int nranges,
                                const struct range ranges[])
{
    int first = space->ncolumns - nranges;
    for (int c = 0; c < first; c++)
        SPMD_TRY(space_name(space, c, base->names[c], strlen(base->names[c])));
    for (int r = 0; r < nranges; r++)
        SPMD_TRY(space_name(space, first + r, ranges[r].name, strlen(ranges[r].name)));
    return SPMD_OK;
}

spmd_status space_grid(const struct space *base, int nranges, const struct range ranges[],
                       struct space *space)
{
    int first = base != NULL ? base->ncolumns : 0;
    int64_t nrows = 0;
    SPMD_TRY(count_grid(base, nranges, ranges, &nrows));
    struct space new;
    SPMD_TRY(space_make(nrows, first + nranges, &new));
    spmd_status status = name_columns(&new, base, nranges, ranges);
    if (status != SPMD_OK) {
        space_free(&new);
        return status;
    }
    for (int64_t row = 0; row < nrows; row++) {
        double *values = &new.values[row * new.ncolumns];
        int64_t rest = row;
        for (int r = nranges - 1; r >= 0; r--) {
            values[first + r] = range_point(&ranges[r], rest % ranges[r].count);
            rest /= ranges[r].count;
        }
        if (first > 0)
            memcpy(values, space_row(base, rest), (size_t)first * sizeof(double));
    }
    *space = new;
    return SPMD_OK;
}

spmd_status space_sample(int64_t count, spmd_key key, int nranges, const struct range ranges[],
                         struct space *space)
{
    struct space new;
    SPMD_TRY(space_make(count, nranges, &new));
    spmd_status status = name_columns(&new, NULL, nranges, ranges);
    if (status == SPMD_OK && count > 0)
        status =
            spmd_random_uniform(key, SPMD_F64, SPMD_SHAPE(count, nranges), NULL, 0, 1, new.values);
    if (status != SPMD_OK) {
        space_free(&new);
        return status;
    }
    for (int64_t i = 0; i < count * nranges; i++)
        new.values[i] = range_draw(&ranges[i % nranges], new.values[i]);
    *space = new;
    return SPMD_OK;
}

static int count_fields(const char *text, size_t length)
{
    int count = 1;
    for (size_t i = 0; i < length; i++)
        count += text[i] == ',';
    return count;
}

static spmd_status read_names(struct space *space, const char *text, size_t length)
{
    const char *end = text + length;
    for (int c = 0; c < space->ncolumns; c++) {
        size_t width = strcspn(text, ",\r\n");
        if (text + width > end)
            width = (size_t)(end - text);
        SPMD_TRY(space_name(space, c, text, width));
        text += width + 1;
    }
    return SPMD_OK;
}

static spmd_status read_row(struct space *space, int64_t row, const char *text, size_t length,
                            const char *name, int64_t line)
{
    if (count_fields(text, length) != space->ncolumns)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: %d numbers under %d names", name,
                         (long long)line, count_fields(text, length), space->ncolumns);
    for (int c = 0; c < space->ncolumns; c++) {
        size_t width = strcspn(text, ",\r\n");
        double *value = &space->values[row * space->ncolumns + c];
        if (!space_number(text, text + width, value) || !isfinite(*value))
            return spmd_fail(SPMD_ERR_SYNTAX, "%s line %lld: \"%.*s\" is no finite number", name,
                             (long long)line, (int)width, text);
        text += width + 1;
    }
    return SPMD_OK;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)line[i]))
            return false;
    return true;
}

static spmd_status read_lines(const char *text, const char *name, struct space *space)
{
    int64_t line = 0, row = -1; /* the header is row -1 */
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        line++;
        if (!is_blank(text, length)) {
            SPMD_TRY(row < 0 ? read_names(space, text, length)
                             : read_row(space, row, text, length, name, line));
            row++;
        }
        text += length + (text[length] == '\n');
    }
    space->nrows = row;
    return SPMD_OK;
}

spmd_status space_from_csv(const char *text, const char *name, struct space *space)
{
    if (is_blank(text, strlen(text)))
        return spmd_fail(SPMD_ERR_SYNTAX, "%s is empty: a table has a line of names first", name);
    const char *header = text + strspn(text, " \t\r\n");
    int64_t nlines = 0;
    for (const char *at = text; at != NULL; at = strchr(at + 1, '\n'))
        nlines++;
    struct space new;
    SPMD_TRY(space_make(nlines, count_fields(header, strcspn(header, "\n")), &new));
    spmd_status status = read_lines(text, name, &new);
    if (status == SPMD_OK && new.nrows == 0)
        status = spmd_fail(SPMD_ERR_ARGUMENT, "%s has names but no row", name);
    if (status != SPMD_OK) {
        space_free(&new);
        return status;
    }
    *space = new;
    return SPMD_OK;
}

static spmd_status check_values(const struct space *space, const char *name)
{
    for (int64_t row = 0; row < space->nrows; row++)
        for (int c = 0; c < space->ncolumns; c++)
            if (!isfinite(space_row(space, row)[c]))
                return spmd_fail(SPMD_ERR_ARGUMENT, "%s: row %lld, %s is not finite", name,
                                 (long long)row, space->names[c]);
    return SPMD_OK;
}

spmd_status space_from_values(const char *names, int64_t nrows, int64_t ncolumns,
                              const double *values, const char *name, struct space *space)
{
    if (nrows == 0)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s has no row", name);
    if (count_fields(names, strlen(names)) != ncolumns)
        return spmd_fail(SPMD_ERR_SHAPE, "%s has %lld columns, but its names are \"%s\"", name,
                         (long long)ncolumns, names);
    struct space new;
    SPMD_TRY(space_make(nrows, (int)ncolumns, &new));
    for (int64_t i = 0; i < nrows * ncolumns; i++)
        new.values[i] = values[i] + 0.0;
    spmd_status status = read_names(&new, names, strlen(names));
    if (status == SPMD_OK)
        status = check_values(&new, name);
    if (status != SPMD_OK) {
        space_free(&new);
        return status;
    }
    *space = new;
    return SPMD_OK;
}

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

spmd_status places_create(int64_t nrows, const uint64_t ids[], struct place **places)
{
    struct place *new = malloc(((size_t)nrows + 1) * sizeof *new);
    if (new == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations", (long long)nrows);
    for (int64_t i = 0; i < nrows; i++)
        new[i] = (struct place){ids[i], i};
    qsort(new, (size_t)nrows, sizeof *new, compare_places);
    *places = new;
    return SPMD_OK;
}

static int compare_id(const void *key, const void *place)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct place *)place)->id;
    return a < b ? -1 : a > b;
}

int64_t places_find(int64_t nrows, const struct place places[], uint64_t id)
{
    const struct place *place = bsearch(&id, places, (size_t)nrows, sizeof *places, compare_id);
    return place != NULL ? place->row : -1;
}

/* Marks the rows whose id an earlier one has. */
static spmd_status find_repeats(int64_t nrows, const uint64_t ids[], bool repeats[])
{
    struct place *places;
    SPMD_TRY(places_create(nrows, ids, &places));
    for (int64_t i = 1; i < nrows; i++)
        repeats[places[i].row] = places[i].id == places[i - 1].id;
    free(places);
    return SPMD_OK;
}

spmd_status space_unique(struct space *space, uint64_t ids[])
{
    size_t width = (size_t)space->ncolumns;
    bool *repeats = calloc((size_t)space->nrows + 1, sizeof *repeats);
    if (repeats == NULL)
        return spmd_fail(SPMD_ERR_MEMORY, "no memory for %lld configurations",
                         (long long)space->nrows);
    spmd_status status = find_repeats(space->nrows, ids, repeats);
    int64_t kept = 0;
    for (int64_t i = 0; i < space->nrows && status == SPMD_OK; i++) {
        if (repeats[i])
            continue;
        memmove(&space->values[kept * space->ncolumns], space_row(space, i),
                width * sizeof(double));
        ids[kept++] = ids[i];
    }
    if (status == SPMD_OK)
        space->nrows = kept;
    free(repeats);
    return status;
}

const double *space_row(const struct space *space, int64_t row)
{
    return &space->values[row * space->ncolumns];
}

bool space_is_fixed(const struct space *space, int column)
{
    for (int64_t row = 1; row < space->nrows; row++)
        if (space_row(space, row)[column] != space->values[column])
            return false;
    return true;
}

void space_free(struct space *space)
{
    for (int c = 0; space->names != NULL && c < space->ncolumns; c++)
        free(space->names[c]);
    free(space->names);
    free(space->values);
    *space = (struct space){0};
}
