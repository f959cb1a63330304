/* range.c - reading ranges, and their points. */
#include "range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

static spmd_status read_number(const char *text, const char *end, const char *whole, double *number)
{
    if (!number_parse(text, (size_t)(end - text), number))
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
    if (!range->values)
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
    if (*text != ':' || !number_parse(text + 1, strlen(text + 1), &count) ||
        count != floor(count) || count < 1)
        return spmd_fail(SPMD_ERR_SYNTAX, "%s: after a..b comes :N, :log or :log:N, not \"%s\"",
                         whole, text);
    if (count > RANGE_MAX_POINTS)
        return spmd_fail(SPMD_ERR_ARGUMENT, "%s: more than %d points", whole, RANGE_MAX_POINTS);
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
    if (!equals || equals == text || equals[1] == '\0')
        return spmd_fail(SPMD_ERR_SYNTAX, "\"%s\" is not NAME=VALUES, as in lr=0.001..1:log:8",
                         text);
    struct range new = {.name = strndup(text, (size_t)(equals - text))};
    if (!new.name)
        return spmd_fail(SPMD_ERR_MEMORY, "%.40s: out of memory", text);
    const char *dots = strstr(equals + 1, "..");
    spmd_status status =
        dots ? read_range(equals + 1, dots, text, &new) : read_list(equals + 1, text, &new);
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

/* The point at `part` of a range, 0 at its low and 1 at its high end. Ends are met exactly, and no
 * rounding leads past them. */
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
    value = fmax(value, fmin(range->lo, range->hi));
    value = fmin(value, fmax(range->lo, range->hi));
    return range->whole ? round(value) : value;
}

double range_point(const struct range *range, int64_t i)
{
    if (range->kind == RANGE_LIST)
        return range->values[i];
    return range_at(range, range->count > 1 ? (double)i / (double)(range->count - 1) : 0);
}

double range_draw(const struct range *range, double part)
{
    if (range->count == 0)
        return range_at(range, part);
    int64_t i = (int64_t)(part * (double)range->count);
    return range_point(range, i < range->count ? i : range->count - 1);
}
