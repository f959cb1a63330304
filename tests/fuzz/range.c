/* range.c - fuzzes the values of a hyperparameter as the command line gives them. */
#include <math.h>

#include "fuzz.h"
#include "range.h"

static void check_range(const struct range *range)
{
    HOLDS(range->name[0] != '\0' && !strchr(range->name, '='));
    HOLDS(range->count >= 0 && range->count <= RANGE_MAX_POINTS);
    if (range->kind == RANGE_LIST) {
        HOLDS(range->count > 0);
        for (int64_t i = 0; i < range->count; i++)
            HOLDS(isfinite(range->values[i]));
        return;
    }
    HOLDS(isfinite(range->lo) && isfinite(range->hi));
    HOLDS(range->kind == RANGE_LINEAR || (range->lo > 0 && range->hi > 0));
}

static bool is_between(const struct range *range, double value)
{
    return value >= fmin(range->lo, range->hi) && value <= fmax(range->lo, range->hi);
}

/* Points are finite; the first and the last one of a range are its ends. */
static void check_points(const struct range *range)
{
    int64_t step = range->count / 100 + 1;
    for (int64_t i = 0; i < range->count; i += step)
        HOLDS(range->kind == RANGE_LIST || is_between(range, range_point(range, i)));
    for (int i = 0; i < 8; i++)
        HOLDS(range->kind == RANGE_LIST || is_between(range, range_draw(range, i / 8.0)));
    if (range->kind != RANGE_LIST && range->count > 1) {
        HOLDS(range_point(range, 0) == range->lo);
        HOLDS(range_point(range, range->count - 1) == range->hi);
    }
}

/* The range in the form that it is read from; free() it. */
static char *print(const struct range *range)
{
    size_t size = strlen(range->name) + 100;
    if (range->kind == RANGE_LIST)
        size += (size_t)range->count * 30;
    char *text = malloc(size);
    HOLDS(text);
    int length = sprintf(text, "%s=", range->name);
    if (range->kind == RANGE_LIST) {
        for (int64_t i = 0; i < range->count; i++)
            length += sprintf(text + length, "%s%.17g", i ? "," : "", range->values[i]);
        return text;
    }
    length += sprintf(text + length, "%.17g..%.17g%s", range->lo, range->hi,
                      range->kind == RANGE_LOG ? ":log" : "");
    if (range->count > 0)
        sprintf(text + length, ":%lld", (long long)range->count);
    return text;
}

static bool is_equal(const struct range *a, const struct range *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == RANGE_LIST)
        return memcmp(a->values, b->values, (size_t)a->count * sizeof *a->values) == 0;
    return a->lo == b->lo && a->hi == b->hi;
}

static void check_print(const struct range *range)
{
    char *text = print(range);
    struct range again;
    HOLDS(FUZZ_PARSE(&again, range_parse(text, &again)) == SPMD_OK);
    HOLDS(is_equal(range, &again));
    range_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct range range;
    spmd_status status = FUZZ_PARSE(&range, range_parse(text, &range));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_ARGUMENT);
    if (status == SPMD_OK) {
        check_range(&range);
        check_points(&range);
        check_print(&range);
        range_free(&range);
    }
    free(text);
    return 0;
}
