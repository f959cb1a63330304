/* table.c - fuzzes tables of configurations in CSV. */
#include <math.h>

#include "fuzz.h"
#include "space.h"

static bool is_left_out(const char *name, size_t length, const void *user)
{
    (void)user;
    return length > 0 && name[0] == '!';
}

static spmd_status read_table(const char *text, struct space *space)
{
    int nleft_out;
    return space_from_csv(text, "table.csv", is_left_out, NULL, &nleft_out, space);
}

/* Names that differ, over rows of finite numbers. */
static void check_space(const struct space *space)
{
    HOLDS(space->ncolumns >= 1 && space->nrows >= 1 && space->nrows <= SPACE_MAX_ROWS);
    for (int c = 0; c < space->ncolumns; c++) {
        HOLDS(space->names[c][0] != '\0');
        for (int other = 0; other < c; other++)
            HOLDS(strcmp(space->names[c], space->names[other]) != 0);
    }
    for (int64_t i = 0; i < space->nrows * space->ncolumns; i++)
        HOLDS(isfinite(space->values[i]) && (space->values[i] != 0 || !signbit(space->values[i])));
}

/* The table as CSV, with exact numbers; free() it. */
static char *print(const struct space *space)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    HOLDS(stream);
    for (int c = 0; c < space->ncolumns; c++)
        fprintf(stream, "%s%s", c ? "," : "", space->names[c]);
    for (int64_t i = 0; i < space->nrows * space->ncolumns; i++)
        fprintf(stream, "%c%.17g", i % space->ncolumns ? ',' : '\n', space->values[i]);
    fclose(stream);
    return text;
}

/* Whether a name would not be read as it stands: with a comma or quotes in it, empty (it may be
 * alone in its line), or behind a byte order mark. */
static bool has_special_name(const struct space *space)
{
    if (strncmp(space->names[0], "\xEF\xBB\xBF", 3) == 0)
        return true;
    for (int c = 0; c < space->ncolumns; c++)
        if (space->names[c][0] == '\0' || strpbrk(space->names[c], ",\""))
            return true;
    return false;
}

static void check_print(const struct space *space)
{
    char *text = print(space);
    struct space again;
    HOLDS(FUZZ_PARSE(&again, read_table(text, &again)) == SPMD_OK);
    HOLDS(again.ncolumns == space->ncolumns && again.nrows == space->nrows);
    for (int c = 0; c < space->ncolumns; c++)
        HOLDS(strcmp(again.names[c], space->names[c]) == 0);
    HOLDS(memcmp(again.values, space->values,
                 sizeof(double) * (size_t)(space->nrows * space->ncolumns)) == 0);
    space_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct space space;
    spmd_status status = FUZZ_PARSE(&space, read_table(text, &space));
    HOLDS(status == SPMD_OK || status == SPMD_ERR_SYNTAX || status == SPMD_ERR_ARGUMENT);
    if (status == SPMD_OK) {
        check_space(&space);
        if (!has_special_name(&space))
            check_print(&space);
        space_free(&space);
    }
    free(text);
    return 0;
}
