/* grid.c - fuzzes grids and samples: each line of the input is one range. */
#include "fuzz.h"
#include "space.h"

enum { MAX_RANGES = 8, MAX_ROWS = 2000, SAMPLES = 5 };

/* Reads the lines that are ranges, until there are enough of them. */
static int read_ranges(char *text, struct range ranges[MAX_RANGES])
{
    int nranges = 0;
    while (*text != '\0' && nranges < MAX_RANGES) {
        char *rest = fuzz_cut_line(text);
        nranges += range_parse(text, &ranges[nranges]) == SPMD_OK;
        text = rest;
    }
    return nranges;
}

/* Rows of the grid; -1 for a range without a count, or for more than a fuzzer has time for. */
static int64_t count_rows(int nranges, const struct range ranges[])
{
    int64_t rows = 1;
    for (int r = 0; r < nranges && rows > 0 && rows <= MAX_ROWS; r++)
        rows *= ranges[r].count;
    return rows > 0 && rows <= MAX_ROWS ? rows : -1;
}

/* As many columns as ranges, of their names, which differ. */
static void check_columns(const struct space *space, int nranges, const struct range ranges[])
{
    HOLDS(space->ncolumns == nranges);
    for (int r = 0; r < nranges; r++) {
        HOLDS(strcmp(space->names[r], ranges[r].name) == 0);
        for (int s = 0; s < r; s++)
            HOLDS(strcmp(space->names[r], space->names[s]) != 0);
    }
}

/* Each combination of points stands in its place. */
static void check_grid(int nranges, const struct range ranges[])
{
    int64_t nrows = count_rows(nranges, ranges), point[MAX_RANGES] = {0};
    if (nrows < 0)
        return;
    struct space space;
    if (FUZZ_PARSE(&space, space_grid(NULL, nranges, ranges, &space)) != SPMD_OK)
        return;
    check_columns(&space, nranges, ranges);
    HOLDS(space.nrows == nrows);
    for (int64_t row = 0; row < nrows; row++) {
        for (int r = 0; r < nranges; r++)
            HOLDS(space_row(&space, row)[r] == range_point(&ranges[r], point[r]));
        for (int r = nranges - 1; r >= 0 && ++point[r] == ranges[r].count; r--)
            point[r] = 0;
    }
    space_free(&space);
}

/* More rows leave the first ones as they are. */
static void check_sample(int nranges, const struct range ranges[])
{
    struct space few, more;
    spmd_key key = spmd_key_create(7);
    if (FUZZ_PARSE(&few, space_sample(SAMPLES, key, nranges, ranges, &few)) != SPMD_OK)
        return;
    HOLDS(FUZZ_PARSE(&more, space_sample(2 * SAMPLES, key, nranges, ranges, &more)) == SPMD_OK);
    check_columns(&few, nranges, ranges);
    HOLDS(few.nrows == SAMPLES && more.nrows == 2 * SAMPLES);
    HOLDS(memcmp(few.values, more.values, sizeof(double) * SAMPLES * (size_t)nranges) == 0);
    space_free(&few);
    space_free(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct range ranges[MAX_RANGES];
    int nranges = read_ranges(text, ranges);
    check_grid(nranges, ranges);
    check_sample(nranges, ranges);
    while (nranges > 0)
        range_free(&ranges[--nranges]);
    free(text);
    return 0;
}
